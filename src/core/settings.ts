/**
 * The options of a handler read once, at its creation: checked, with every default in its place.
 */
import type { AgentCapabilities } from "@ag-ui/core";
import type { Agent } from "./agent.ts";
import { type Clock, LAST_INSTANT, systemClock } from "./clock.ts";
import { mustBeKnown } from "./known.ts";
import type { HandlerOptions, TraceEvent, Warning } from "./options.ts";

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
  const odd = cors.find((origin) => !isOrigin(origin));
  if (odd === undefined) return cors;
  throw new TypeError(`cors: ${JSON.stringify(odd)} is no origin: write it as browsers do, "https://app.example".`);
}

/** As browsers send it (Fetch, `Origin`): no path, no slash, no default port, in lower case. `null` is a sandboxed page's. */
function isOrigin(origin: unknown): boolean {
  if (origin === "null") return true;
  if (typeof origin !== "string" || !/^[a-z][a-z\d+.-]*:\/\/[^/]+$/.test(origin) || !URL.canParse(origin)) return false;
  // Of a scheme of its own, an application's say, no origin can be read.
  return !/^https?:/.test(origin) || new URL(origin).origin === origin;
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
