/** What one connection does over and over. Each resolves to how many runs and events it took, all of them checked. */
import { runInput } from "../source.mjs";
import { BOOKED, QUESTION } from "../variants/ours.mjs";
import { checkSaid, checkStream, eventsOf, readQuestion } from "./answers.mjs";

let last = 0;
const nextId = () => `${process.pid}-${++last}`;

const saying = (id, content) => ({ messages: [{ id: `user-${id}`, role: "user", content }] });

/** @type {Record<string, (connection: import("./connection.mjs").Connection, load: any) => Promise<any>>} */
export const scenarios = {
  /** One message of `n` deltas. */
  async stream(connection, { n }) {
    const body = await connection.post(runInput(nextId()));
    return { runs: 1, events: checkStream(body, { n }) };
  },

  /** Two runs that say what an asking one says in two exchanges. */
  async plain(connection) {
    let events = 0;
    for (let i = 0; i < 2; i++) {
      const id = nextId();
      events += checkSaid(await connection.post(runInput(id, saying(id, "plain"))), BOOKED);
    }
    return { runs: 2, events };
  },

  /** A question and its answer. */
  async ask(connection) {
    const id = nextId();
    const asking = runInput(id, saying(id, "ask"));
    const { interrupt, events } = readQuestion(await connection.post(asking), QUESTION);
    const entry = { interruptId: interrupt.id, status: "resolved", payload: "yes", metadata: interrupt.metadata };
    const answering = { ...asking, runId: `run-${nextId()}`, resume: [entry] };
    return { runs: 2, events: events + checkSaid(await connection.post(answering), BOOKED) };
  },

  /** A question that nobody answers. */
  async hold(connection) {
    const id = nextId();
    const { events } = readQuestion(await connection.post(runInput(id, saying(id, "ask"))), QUESTION);
    return { runs: 1, events };
  },

  /** Deltas that are the instants they were handed over at, against those at which they were read. */
  async latency(connection, { n }) {
    connection.marking = true;
    const body = await connection.post(runInput(nextId()));
    const { marks } = connection;
    const delays = [];
    let mark = 0;
    for (const { event, end } of eventsOf(body)) {
      if (event.type !== "TEXT_MESSAGE_CONTENT") continue;
      // All is ASCII here, so characters are bytes.
      while (marks[mark] < end) mark += 2;
      delays.push(marks[mark + 1] - Number(event.delta));
    }
    if (delays.length !== n) throw new Error(`${delays.length} of ${n} deltas`);
    return { runs: 1, events: delays.length, delays };
  },
};
