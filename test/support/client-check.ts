/**
 * The reference client as an oracle: a recorded body is replayed through `@ag-ui/client`, which
 * has to take it without an error and without a word. A warning means that it stripped or repaired something.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type AGUIEvent, HttpAgent, type Interrupt, type Message, type RunAgentInput } from "@ag-ui/client";

/** What the client made of the body. */
export interface ClientReading {
  /** The events it handed to its subscribers, chunks expanded. */
  events: AGUIEvent[];
  /** The conversation as it stands for the client afterwards. */
  messages: Message[];
  /** The state as it stands for the client afterwards. */
  state: unknown;
  /** The questions it would have to answer in its next run. */
  pendingInterrupts: Interrupt[];
  /** `RUN_FINISHED.result` of a run that succeeded. */
  result: unknown;
}

type Input = Pick<RunAgentInput, "threadId" | "runId" | "messages"> & Partial<RunAgentInput>;

/** Rejects when the client rejects, warns, or sees no terminating event. */
export async function checkWithClient(body: string | Uint8Array, input: Input): Promise<ClientReading> {
  const events: AGUIEvent[] = [];
  // A new instance has no pending interrupts, so it sends any resume as it is.
  const agent = new HttpAgent({
    url: "http://agent.test/",
    threadId: input.threadId,
    initialMessages: input.messages,
    initialState: input.state ?? {},
    fetch: async () => new Response(body as BodyInit, { headers: { "content-type": "text/event-stream" } }),
  });
  const { threadId: _, messages: __, state: ___, ...parameters } = input;
  const result = await withoutAWord(() =>
    agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as AGUIEvent) }),
  );
  const last = events.at(-1)?.type;
  if (last !== "RUN_FINISHED" && last !== "RUN_ERROR")
    throw new Error(`The client's last event was ${last ?? "none"}.`);
  return {
    events,
    messages: agent.messages,
    state: agent.state,
    pendingInterrupts: agent.pendingInterrupts,
    result: result.result,
  };
}

/** Of what is said while the client runs, only what its own calls say counts: other tests may warn at the same time. */
const listening = new AsyncLocalStorage<string[]>();
/** One tap for all checks that run at once. A new one each time: a spy left over an old tap would call itself through a reused one. */
let tap: { users: number; warn: Console["warn"]; remove(): void } | undefined;

/** Runs the client. Rejects when it warns meanwhile. */
export async function withoutAWord<T>(run: () => Promise<T>): Promise<T> {
  if (process.env.SUPPRESS_TRANSFORMATION_WARNINGS)
    throw new Error("SUPPRESS_TRANSFORMATION_WARNINGS makes the client keep silent.");
  const said: string[] = [];
  const mine = tap ?? tapConsole();
  tap = mine;
  mine.users += 1;
  try {
    const result = await listening.run(said, run);
    // A spy put in or taken out meanwhile would have taken the client's words with it: then nothing was checked.
    if (console.warn !== mine.warn) throw new Error("console.warn was replaced while the client ran.");
    if (said.length > 0) throw new Error(`The client warned: ${said.join("\n")}`);
    return result;
  } finally {
    mine.users -= 1;
    if (mine.users === 0) {
      tap = undefined;
      mine.remove();
    }
  }
}

function tapConsole(): NonNullable<typeof tap> {
  const before = { warn: console.warn, error: console.error };
  const overhear =
    (level: "warn" | "error") =>
    (...words: unknown[]) => {
      const said = listening.getStore();
      if (said === undefined) before[level](...words);
      // What the client takes off the request on its way out is not the body's fault.
      else if (!String(words[0]).includes("from the outgoing input")) said.push(words.map(String).join(" "));
    };
  const tapped = { warn: overhear("warn"), error: overhear("error") };
  Object.assign(console, tapped);
  return {
    users: 0,
    warn: tapped.warn,
    remove() {
      if (console.warn === tapped.warn) Object.assign(console, before);
    },
  };
}
