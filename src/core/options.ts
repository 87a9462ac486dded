/**
 * The options of a handler: their meaning, and their defaults filled in once at creation.
 */
import type { AgentCapabilities } from "@ag-ui/core";
import type { Agent, AgentContext } from "./agent.ts";
import type { JsonSchema } from "./answer-schema.ts";
import { type Clock, systemClock } from "./clock.ts";
import { mustBeKnown } from "./known.ts";

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

/** The options with every default in its place. */
export interface Settings {
  readonly agent: Agent;
  readonly ttlMs: number;
  readonly maxHeld: number;
  readonly maxHeldPerIdentity: number;
  readonly hold: boolean;
  /** Each request is served by itself: nothing of one may be written, waited for or timed in another's (Workers). */
  readonly alone: boolean;
  readonly humanInput: HandlerOptions["humanInput"];
  readonly proofRequired: boolean;
  readonly identify: HandlerOptions["identify"];
  readonly whenAsked: "ask-again" | "abandon";
  readonly finishAlone: boolean;
  readonly capabilities: AgentCapabilities;
  readonly reasons: { readonly input: string; readonly approval: string };
  readonly approvals: { readonly deniedMessage: string; readonly allowAlways: boolean; readonly allowEdits: boolean };
  readonly protobuf: boolean;
  readonly cors: HandlerOptions["cors"];
  readonly keepAliveMs: number;
  readonly bodyBytes: number;
  readonly queuedRuns: number;
  readonly keptEvents: number;
  readonly closeTimeoutMs: number;
  readonly validate: boolean;
  readonly clock: Clock;
  readonly warn: (warning: Warning) => void;
  readonly report: (error: unknown, where: { threadId?: string; runId?: string }) => void;
  readonly trace: (event: TraceEvent) => void;
  readonly holding: (held: number) => void;
}

/** The last instant a `Date` holds, in milliseconds. */
export const LAST_INSTANT = 8_640_000_000_000_000;

const isStatelessWorker = () => typeof navigator !== "undefined" && navigator.userAgent === "Cloudflare-Workers";

/** A hook that can fail without taking anything down with it. */
const guarded =
  <A extends unknown[]>(hook: (...args: A) => unknown) =>
  (...args: A): void => {
    try {
      const given = hook(...args);
      // An async hook's rejection is as ignorable as a throw.
      if (given instanceof Promise) given.catch(() => {});
    } catch {}
  };

/** Every option there is. */
const OPTIONS: Record<keyof HandlerOptions, true> = {
  agent: true,
  retention: true,
  hold: true,
  humanInput: true,
  proof: true,
  identify: true,
  whenAsked: true,
  onDisconnect: true,
  capabilities: true,
  reasons: true,
  approvals: true,
  transports: true,
  cors: true,
  keepAliveMs: true,
  limits: true,
  closeTimeoutMs: true,
  validate: true,
  clock: true,
  onWarning: true,
  onError: true,
  onTrace: true,
  onHold: true,
};

/** @throws TypeError for an option there is none of. */
function mustBeOptions(options: HandlerOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("createHandler needs options: `{ agent }`.");
  const { retention = {}, approvals = {}, transports = {}, limits = {} } = options;
  mustBeKnown("createHandler", options, Object.keys(OPTIONS));
  mustBeKnown("`retention`", retention, ["ttlMs", "maxHeld", "maxHeldPerIdentity"]);
  mustBeKnown("`approvals`", approvals, ["deniedMessage", "allowAlways", "allowEdits"]);
  mustBeKnown("`transports`", transports, ["protobuf"]);
  mustBeKnown("`limits`", limits, ["bodyBytes", "queuedRuns", "keptEvents"]);
}

/** Fills the defaults in. @throws RangeError for a number outside its range, TypeError for what is of another kind or no known choice. */
export function settle(options: HandlerOptions): Settings {
  mustBeOptions(options);
  const { retention = {}, limits = {}, approvals = {}, clock = systemClock } = options;
  if (typeof options.agent !== "function") throw new TypeError("createHandler needs an `agent` function.");
  const ttlMs = retention.ttlMs ?? 900_000;
  if (!(Number.isFinite(ttlMs) && ttlMs > 0))
    throw new RangeError("retention.ttlMs must be a finite number of milliseconds above 0.");
  if (clock.now() + ttlMs > LAST_INSTANT) throw new RangeError("retention.ttlMs reaches past the last date there is.");
  const maxHeld = whole(retention.maxHeld ?? 128, "retention.maxHeld", 1);
  return {
    agent: options.agent,
    ttlMs,
    maxHeld,
    maxHeldPerIdentity: whole(retention.maxHeldPerIdentity ?? maxHeld, "retention.maxHeldPerIdentity", 1),
    hold: yesOrNo(options.hold, "hold") ?? !isStatelessWorker(),
    alone: isStatelessWorker() && options.hold !== true,
    humanInput: options.humanInput,
    proofRequired: choice(options.proof ?? "required", "proof", ["required", "when-present"]) === "required",
    identify: callable(options.identify, "identify"),
    whenAsked: choice(options.whenAsked ?? "ask-again", "whenAsked", ["ask-again", "abandon"]),
    finishAlone: choice(options.onDisconnect ?? "abort", "onDisconnect", ["abort", "finish"]) === "finish",
    capabilities: options.capabilities ?? {},
    reasons:
      options.reasons === "core"
        ? { input: "input_required", approval: "tool_call" }
        : { input: options.reasons?.input ?? "human_input", approval: options.reasons?.approval ?? "tool_approval" },
    approvals: {
      deniedMessage: approvals.deniedMessage ?? "User denied the tool call request",
      allowAlways: approvals.allowAlways ?? true,
      allowEdits: approvals.allowEdits ?? false,
    },
    protobuf: options.transports?.protobuf ?? false,
    cors: origins(options.cors),
    keepAliveMs: duration(options.keepAliveMs ?? 5_000, "keepAliveMs"),
    bodyBytes: whole(limits.bodyBytes ?? 4 * 1024 * 1024, "limits.bodyBytes", 1),
    queuedRuns: whole(limits.queuedRuns ?? 8, "limits.queuedRuns", 0),
    keptEvents: whole(limits.keptEvents ?? 1_000, "limits.keptEvents", 1),
    closeTimeoutMs: duration(options.closeTimeoutMs ?? 10_000, "closeTimeoutMs"),
    validate: options.validate ?? false,
    clock,
    warn: guarded(options.onWarning ?? ((warning) => console.warn(`[holdline] ${warning.code}: ${warning.message}`))),
    report: guarded(options.onError ?? ((error) => console.error("[holdline] failed:", error))),
    trace: guarded(options.onTrace ?? (() => {})),
    holding: guarded(options.onHold ?? (() => {})),
  };
}

function yesOrNo(value: boolean | undefined, name: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new TypeError(`${name} must be true or false.`);
}

function callable<F extends (...given: never[]) => unknown>(value: F | undefined, name: string): F | undefined {
  if (value === undefined || typeof value === "function") return value;
  throw new TypeError(`${name} must be a function.`);
}

/** A list given as one string would let in every origin that is part of it; what is no origin would let in none. */
function origins(cors: HandlerOptions["cors"]): HandlerOptions["cors"] {
  if (cors === undefined || cors === "*" || typeof cors === "function") return cors;
  if (!Array.isArray(cors)) throw new TypeError('cors must be "*", a list of origins or a function.');
  for (const origin of cors) {
    // As browsers send it (Fetch, `Origin`): no path, no slash, no default port. `null` is a sandboxed page's.
    if (origin !== "null" && !/^[a-z][a-z\d+.-]*:\/\/[^/]+$/.test(origin))
      throw new TypeError(
        `cors: ${JSON.stringify(origin)} is no origin: write it as browsers do, "https://app.example".`,
      );
  }
  return cors;
}

function whole(value: number, name: string, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be a whole number of at least ${least}.`);
}

function duration(value: number, name: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new RangeError(`${name} must be a finite number of milliseconds, 0 or more.`);
}

function choice<T extends string>(value: T, name: string, choices: readonly T[]): T {
  if (choices.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${choices.map((one) => JSON.stringify(one)).join(", ")}.`);
}
