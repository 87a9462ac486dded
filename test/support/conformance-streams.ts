/**
 * The protocol's conformance streams (`test/conformance-streams`): raw event streams that were written for clients, each
 * with what a client makes of it. Here they are read as scripts of agents. Their fields: `stream`, what is sent; `expect`,
 * what a client does with it; `corpus`, whose it is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { AbstractAgent, type BaseEvent } from "@ag-ui/client";
import { from } from "rxjs";
import { agUiAgent } from "../../src/agents/ag-ui.ts";
import { type Agent, type AgentContext, type AgentEvent, PublicError, type ReplayedRun } from "../../src/index.ts";
import type { WireEvent } from "../../src/testing/index.ts";

export interface ConformanceStream {
  readonly name: string;
  readonly corpus: string;
  readonly stream: WireEvent[];
  readonly expect: {
    readonly outcome: "completed" | "failed";
    readonly errorContains?: string;
    readonly warnings?: string[];
    readonly noWarnings?: boolean;
    readonly eventTypes?: string[];
    readonly messageCount?: number;
    readonly messages?: object[];
    readonly state?: unknown;
    readonly runError?: string;
  };
  readonly expectOverrides?: { readonly typescript?: { readonly eventTypes?: string[] } };
}

const folder = new URL("../conformance-streams/", import.meta.url);

export const conformanceStreams: readonly ConformanceStream[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));

/** Whether a producer may send it: a client takes it without a word, and it is no gap that the corpus admits. */
export const isSound = ({ corpus, expect }: ConformanceStream): boolean =>
  expect.outcome === "completed" && expect.warnings === undefined && !corpus.includes("gap");

/** One run of a stream: its own ids, what it shows, and how it ends. */
interface ScriptedRun {
  readonly started: WireEvent;
  readonly events: WireEvent[];
  finished?: WireEvent;
  error?: WireEvent;
}

export function runsOf({ stream }: ConformanceStream): ScriptedRun[] {
  const runs: ScriptedRun[] = [];
  for (const event of stream) {
    const run = runs.at(-1);
    if (event.type === "RUN_STARTED") runs.push({ started: event, events: [] });
    else if (event.type === "RUN_FINISHED" && run !== undefined) run.finished = event;
    else if (event.type === "RUN_ERROR" && run !== undefined) run.error = event;
    else run?.events.push(event);
  }
  return runs;
}

/** The input it answers: the run asked for is the stream's last, its thread that of the first. */
export function inputOfStream(stream: ConformanceStream): { threadId: string; runId: string } {
  const runs = runsOf(stream);
  return { threadId: runs[0]?.started.threadId, runId: runs.at(-1)?.started.runId };
}

/** What an agent was told of what it tried. */
type Refused = (message: string) => void;

/** An agent that does what the stream shows by the means an agent has: earlier runs are replayed, the end is brought about. */
export const playing = (stream: ConformanceStream, refused: Refused): Agent =>
  Object.assign(
    async (context: AgentContext) => {
      const note = (error: Error) => refused(error.message);
      const runs = runsOf(stream);
      const live = runs.at(-1) as ScriptedRun;
      if (runs.length > 1) await context.replay(runs.slice(0, -1).map(restated)).catch(note);
      for (const event of live.events) await context.emit(event as unknown as AgentEvent).catch(note);
      const { outcome, result } = live.finished ?? ({} as Partial<WireEvent>);
      if (live.error !== undefined) {
        const error = new PublicError(live.error.message, { code: live.error.code });
        if (live.finished === undefined) throw error;
        context.waitUntil(Promise.reject(error));
      }
      try {
        if (outcome?.type === "interrupt") context.interrupted(outcome.interrupts);
      } catch (error) {
        note(error as Error);
        throw error;
      }
      if (outcome?.type === "cancelled") context.stop();
      return result;
    },
    { keepsInterrupts: true },
  );

/** An earlier run as it stands in the stream, its own thread included, for which a replay has no word. */
const restated = ({ started, events, finished, error }: ScriptedRun): ReplayedRun =>
  ({ ...started, events, ...finished, ...(error === undefined ? {} : { error }) }) as never;

/** An agent that emits every event of the stream as it stands, its runs' ends included. */
export const emittingAll =
  ({ stream }: ConformanceStream, refused: Refused): Agent =>
  async (context) => {
    for (const event of stream) await context.emit(event as never).catch((error: Error) => refused(error.message));
  };

/** An agent of `@ag-ui/client` whose run is the stream. */
export const foreign = ({ stream }: ConformanceStream): Agent => agUiAgent(() => new Foreign(stream));

class Foreign extends AbstractAgent {
  readonly #stream: readonly WireEvent[];

  constructor(stream: readonly WireEvent[]) {
    super();
    this.#stream = stream;
  }

  override run() {
    return from(this.#stream as unknown as BaseEvent[]);
  }
}
