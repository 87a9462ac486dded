/**
 * What the demo's server prints: the commands that start a run, what happens on every thread and,
 * whenever a run asks, the command that answers it. It sees what a client sees, and sees it by
 * standing between the handler and the outlets it writes to. A proof belongs to whoever was asked, and
 * to no log: it is printed here because whoever reads this is about to play the client.
 */

/** @import { ExchangeRequest, Handler, Outlet } from "holdline" */
/** @typedef {{ threadId: string, runId: string, messages: object[] }} Exchange */
/** @typedef {{ id: string, message?: string, responseSchema?: any, expiresAt?: string, metadata?: object }} Interrupt */

/** What a newcomer may type, and what it shows. */
const STARTS = [
  ["book", "Book me a flight to Frankfurt", "asks once, in the middle of a tool"],
  ["refund", "Refund my booking", "runs a tool only if you approve"],
  ["trip", "Plan my trip", "asks two things at once"],
  ["choose", "Help me choose a flight", "ends with a question: nothing is held, the reply is a new turn"],
  ["report", "Report", "says what it has done so far"],
];

export function createNarrator() {
  let url = "";

  /** @param {string} threadId @param {string} line */
  function tell(threadId, line) {
    console.log(`${new Date().toTimeString().slice(0, 8)}  ${threadId.padEnd(7)} ${line}`);
  }

  /** @param {Exchange} exchange @param {Interrupt[]} interrupts */
  function asked({ threadId, runId }, interrupts) {
    for (const { message } of interrupts) tell(threadId, `${runId} asks: ${message}`);
    const until = new Date(interrupts[0]?.expiresAt ?? "").toTimeString().slice(0, 8);
    const many = interrupts.length > 1;
    tell(threadId, `answer by ${until}, in another terminal (change the payload${many ? "s" : ""} as you like):`);
    const resume = interrupts.map(({ id, responseSchema, metadata }) => ({
      interruptId: id,
      status: "resolved",
      payload: exampleOf(responseSchema),
      metadata,
    }));
    console.log(`\n${curl(url, { threadId, runId: following(runId), messages: [], resume })}\n`);
  }

  /** @param {Exchange} exchange @param {string} question */
  function endedWith({ threadId, runId, messages }, question) {
    tell(threadId, "reply in another terminal:");
    const count = messages.length;
    const history = [
      ...messages,
      { id: `m${count + 1}`, role: "assistant", content: question },
      { id: `m${count + 2}`, role: "user", content: "In the evening" },
    ];
    console.log(`\n${curl(url, { threadId, runId: following(runId), messages: history })}\n`);
  }

  /** @param {Exchange} exchange @param {{ type: string, [member: string]: any }} event */
  function seen(exchange, { type, outcome, result, code, message }) {
    const { threadId, runId } = exchange;
    if (type === "RUN_STARTED") tell(threadId, `${runId} starts`);
    if (type === "RUN_ERROR") tell(threadId, `${runId} is refused or has failed, ${code}: ${message}`);
    if (type !== "RUN_FINISHED") return;
    if (outcome.type === "interrupt") return asked(exchange, outcome.interrupts);
    tell(threadId, `${runId} ends (${outcome.type})`);
    if (result?.status === "input-required") endedWith(exchange, result.message);
  }

  /** The same request; what it asks for is known once the handler has read it. @param {ExchangeRequest} request @param {Exchange} exchange @returns {ExchangeRequest} */
  const watchRequest = (request, exchange) => ({
    ...request,
    async text(limit) {
      const text = await request.text(limit);
      try {
        Object.assign(exchange, JSON.parse(text));
      } catch {
        // The handler will say so.
      }
      return text;
    },
  });

  /** @param {Outlet} outlet @param {Exchange} exchange @returns {Outlet} */
  const watchOutlet = (outlet, exchange) => ({
    write(frames) {
      outlet.write(frames);
      for (const block of frames.split("\n\n")) {
        if (block.startsWith("data: ")) seen(exchange, JSON.parse(block.slice("data: ".length)));
      }
    },
    get full() {
      return outlet.full;
    },
    room: () => outlet.room(),
    end: () => outlet.end(),
    left(callback) {
      outlet.left(() => {
        tell(exchange.threadId, "the client has left");
        callback();
      });
    },
  });

  return {
    tell,
    /** The same handler, its answers watched. @param {Handler} handler @returns {Handler} */
    watch(handler) {
      return Object.create(handler, {
        exchange: {
          /** @type {Handler["exchange"]} */
          value(request, outlet, options) {
            /** @type {Exchange} */
            const exchange = { threadId: "?", runId: "?", messages: [] };
            return handler.exchange(watchRequest(request, exchange), watchOutlet(outlet, exchange), options);
          },
        },
      });
    },
    /** Says where the agent is and what to type. @param {string} servedAt */
    begin(servedAt) {
      url = servedAt;
      console.log(
        `A travel desk is served at ${url}\n\nOpen it in a browser and write "book", "refund" or "trip", or copy a line into another terminal:`,
      );
      for (const [threadId, content, shows] of STARTS) {
        const input = { threadId, runId: "run-1", messages: [{ id: "m1", role: "user", content }] };
        console.log(`\n# ${shows}\n${curl(url, input)}`);
      }
      console.log("\nWhat happens is told here. Ctrl-C stops it.\n");
    },
  };
}

/** One line that any POSIX shell takes as it is. @param {string} url @param {object} input */
function curl(url, input) {
  const body = JSON.stringify(input).replaceAll("'", "'\\''");
  return `curl -N ${url} -H 'content-type: application/json' -d '${body}'`;
}

/** The id of the next run: `run-2` after `run-1`. @param {string} runId */
function following(runId) {
  const [, name, count] = /^(.*?)(\d*)$/s.exec(runId) ?? [];
  return count ? `${name}${Number(count) + 1}` : `${name}-2`;
}

/** An answer that the schema takes: its own example, consent to an approval, "yes" to a plain question. @param {any} schema */
function exampleOf(schema) {
  if (schema?.examples?.length > 0) return schema.examples[0];
  return schema?.title === "Approval" ? true : "yes";
}
