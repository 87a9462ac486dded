/**
 * The options of a handler, and what its hooks are told. How they are read is in `settings.ts`.
 */
import type { AgentCapabilities } from "@ag-ui/core";
import type { Agent, AgentContext } from "./agent.ts";
import type { JsonSchema } from "./answer-schema.ts";
import type { Clock } from "./clock.ts";

/** A question handed to the `humanInput` hook. */
export type HumanInputRequest =
  | { kind: "input"; message: string; responseSchema: JsonSchema }
  | { kind: "approval"; message: string; toolCallId: string; toolName: string; args: unknown };

/** What `onWarning` is told. */
export interface Warning {
  /** Stable, upper snake case. */
  code: string;
  /** What happened and what to do. Never a proof, an answer or a message's text. */
  message: string;
  /** The thread it is about, where it is about one. */
  threadId?: string;
  /** The run it is about, where it is about one. */
  runId?: string;
  /** Where in the input, for a warning about one. */
  path?: string;
}

/** What `onTrace` is told: an agent ended its turn with a question. */
export interface TraceEvent {
  /** What happened: the only thing there is, so far. */
  type: "input-required";
  /** The question, trimmed. */
  prompt: string;
  /** Why it was asked, as the agent said; never sent to the client. */
  reason?: string;
  /** The thread it happened on. */
  threadId: string;
  /** The run that asked. */
  runId: string;
}

/** Options of `createHandler`; all but `agent` may be left out. */
export interface HandlerOptions {
  /** The agent that is served. */
  agent: Agent;
  /** How long and how many turns are held. */
  retention?: {
    /** Milliseconds a held turn waits for its answers, counted from the interrupt. Default 900 000 (15 minutes). Not a finite positive number: `RangeError`. */
    ttlMs?: number;
    /** How many turns are held at most; past it the one held longest is released. Default 128. Not a positive integer: `RangeError`. */
    maxHeld?: number;
    /** How many of one identity (callers without one count together); past it the longest held of the same identity is released. Default: `maxHeld`. */
    maxHeldPerIdentity?: number;
  };
  /**
   * Whether turns can be held at all. Default `true`, but `false` where `navigator.userAgent` is
   * `"Cloudflare-Workers"`: a stateless Worker cannot keep a turn. With `false` every question rejects at once
   * with `HoldUnavailableError`, capabilities say `interrupts: false`, and on Workers each request is served by itself:
   * runs that meet on one thread do not queue, `stop` finds none. `true` is a mistake on a plain Worker: only a Durable
   * Object keeps what is held. Anything but a boolean: `TypeError`.
   */
  hold?: boolean;
  /**
   * Answers questions in this process: no interrupt is emitted and the run finishes in one exchange. Its answer is
   * validated as one from the wire is; `timeoutMs` holds; what it throws rejects the ask. Absent: the client is asked.
   */
  humanInput?: (request: HumanInputRequest, context: AgentContext) => unknown;
  /**
   * `"required"` (default): every resume entry must carry the proof issued with its interrupt. `"when-present"`: for
   * clients that cannot echo interrupt metadata; a proof that is present must still be the one issued.
   */
  proof?: "required" | "when-present";
  /**
   * Says who is calling: a name, `null` for nobody, or a `Response` that refuses the request. Runs for POST and GET
   * before the body is read. All state of a thread is kept under (identity, threadId). When it throws, the request
   * gets 500 `IDENTIFY_FAILED`. Absent: everybody is `null`. No function: `TypeError`.
   */
  identify?: (request: Request) => string | null | Response | Promise<string | null | Response>;
  /**
   * What a plain run by the identified owner of a held turn does: `"ask-again"` (default) gets the same interrupts
   * with the same proofs once more; `"abandon"` gives the question up and starts a new turn. Without an identity such
   * a run is refused.
   */
  whenAsked?: "ask-again" | "abandon";
  /**
   * What happens to a turn whose client leaves mid-run: `"abort"` (default) releases it; `"finish"` lets it run on, its
   * question is held for its identified owner.
   */
  onDisconnect?: "abort" | "finish";
  /** Merged over the capabilities that are derived, group by group; served on GET. */
  capabilities?: AgentCapabilities;
  /**
   * The names in `interrupt.reason`. Default `{ input: "human_input", approval: "tool_approval" }`; `"core"` selects
   * AG-UI's core values `input_required` and `tool_call`.
   */
  reasons?: "core" | { input?: string; approval?: string };
  /** How approvals are asked where a call does not say. */
  approvals?: {
    /** The tool result of a denied call. Default `"User denied the tool call request"`. */
    deniedMessage?: string;
    /** Whether "always" is honoured. Default `true`. */
    allowAlways?: boolean;
    /** Whether arguments may be edited. Default `false`. */
    allowEdits?: boolean;
  };
  /**
   * `protobuf: true` also serves the protocol's protobuf binding, to clients whose `Accept` admits it (wildcards do); it
   * needs the package `@ag-ui/encoder`, which loads at the first run. Default: SSE for everybody.
   */
  transports?: { protobuf?: boolean };
  /** Which origins a browser may call from: `"*"`, a list, or a function. Absent: no CORS headers at all. Anything else: `TypeError`. */
  cors?: "*" | readonly string[] | ((origin: string) => boolean);
  /** Milliseconds: the longest silence on an open stream, broken by an SSE comment. Default 5 000; 0 turns it off. */
  keepAliveMs?: number;
  /** What one request, thread or turn may take. */
  limits?: {
    /** Bytes of a request body, counted while reading. Default 4 MiB. */
    bodyBytes?: number;
    /** Plain runs that may wait while a run is active on their thread; past it `THREAD_BUSY`. Default 8. */
    queuedRuns?: number;
    /** Events a paused turn keeps (and 1 MiB of them) before `emit` waits. Default 1 000. */
    keptEvents?: number;
  };
  /** Milliseconds an agent may go on after it was stopped before it is given up on. Default 10 000. */
  closeTimeoutMs?: number;
  /** Whether every event is checked against the protocol's schemas (they load at the first exchange). Default `false`. */
  validate?: boolean;
  /** The time that deadlines live by, for tests. Default: the system's. */
  clock?: Clock;
  /** Told what is odd but served. Default `console.warn`. What it throws is ignored. */
  onWarning?: (warning: Warning) => void;
  /** Told what an agent or hook threw. Default `console.error`. What it throws is ignored. */
  onError?: (error: unknown, where: { threadId?: string; runId?: string }) => void;
  /** Told of every `inputRequired`, its `reason` included. Default: none. What it throws is ignored. */
  onTrace?: (event: TraceEvent) => void;
  /**
   * Told how many turns are held, each time that has changed: for a runtime that must be kept awake meanwhile. It is
   * called amid the change, so it must not call the handler. Default: none. What it throws is ignored.
   */
  onHold?: (held: number) => void;
}
