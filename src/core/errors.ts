/**
 * Every error and every stable code in one place. Three families, by who is told:
 * a request that is wrong (HTTP status and JSON, no run exists), a run that is
 * refused (a stream of one RUN_ERROR), and what the agent's own code may catch.
 */

/** Codes of a request that is answered with an HTTP error and no stream. */
export const RequestErrorCode = {
  /** 405: only GET, HEAD, POST and OPTIONS are served. */
  METHOD_NOT_ALLOWED: "METHOD_NOT_ALLOWED",
  /** 415: a POST must be `application/json` or `…+json`. */
  UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  /** 413: the body is larger than `limits.bodyBytes`. */
  BODY_TOO_LARGE: "BODY_TOO_LARGE",
  /** 400: the body is not JSON in UTF-8, or could not be read. */
  INVALID_JSON: "INVALID_JSON",
  /** 400: the body is JSON, but not a RunAgentInput; `issues` says where. */
  INVALID_INPUT: "INVALID_INPUT",
  /** 500: `identify` threw, or gave neither a string, `null` nor a Response. */
  IDENTIFY_FAILED: "IDENTIFY_FAILED",
  /** 503: `close()` was called; `Retry-After` says when to try elsewhere or again. */
  SERVER_CLOSING: "SERVER_CLOSING",
} as const;
export type RequestErrorCode = (typeof RequestErrorCode)[keyof typeof RequestErrorCode];

/** Codes of a run that is not started: the stream holds one RUN_ERROR with this `code`. */
export const RefusalCode = {
  /** The input declares another major version of the protocol. */
  UNSUPPORTED_PROTOCOL_VERSION: "UNSUPPORTED_PROTOCOL_VERSION",
  /** There are resume entries and nothing is held for this thread. */
  INTERRUPT_NOT_HELD: "INTERRUPT_NOT_HELD",
  /** An entry names an interrupt that is not open while an open one has none, or one id has two differing entries. */
  INTERRUPT_NOT_OUTSTANDING: "INTERRUPT_NOT_OUTSTANDING",
  /** An open interrupt has no entry. */
  INTERRUPT_NOT_COVERED: "INTERRUPT_NOT_COVERED",
  /** A proof is missing, malformed, or not the one issued. */
  INTERRUPT_NOT_PROVEN: "INTERRUPT_NOT_PROVEN",
  /** A payload is not what its interrupt asked for. */
  INTERRUPT_PAYLOAD_REFUSED: "INTERRUPT_PAYLOAD_REFUSED",
  /** A run is active on the thread and as many as `limits.queuedRuns` wait already. */
  THREAD_BUSY: "THREAD_BUSY",
} as const;
export type RefusalCode = (typeof RefusalCode)[keyof typeof RefusalCode];

/** `code` of the RUN_ERROR that ends the run of a turn that threw. */
export const AGENT_FAILED = "AGENT_FAILED";

/** Why an interrupt is not answerable any more, in `metadata.holdline.cause` of a refusal. */
export type InterruptCause =
  | "answered"
  | "expired"
  | "abandoned"
  | "evicted"
  | "closed"
  | "stopped"
  | "ended"
  | "other-instance"
  | "unknown";

/** Base of every error this library throws to an agent's or application's code. Branch on `code`. */
export class HoldlineError extends Error {
  override readonly name: string = "HoldlineError";
  /** Stable, upper snake case. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** One place where an input is wrong. */
export interface InputIssue {
  /** Where, as member names and indexes: `["messages", 0, "id"]`. */
  readonly path: ReadonlyArray<string | number>;
  /** What was expected and what was found. */
  readonly message: string;
}

const statusOf: Record<RequestErrorCode, number> = {
  METHOD_NOT_ALLOWED: 405,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  INVALID_JSON: 400,
  INVALID_INPUT: 400,
  IDENTIFY_FAILED: 500,
  SERVER_CLOSING: 503,
};

/** A request that gets an HTTP error; no run exists. Adapters throw it from `ExchangeRequest.text`. */
export class RequestError extends HoldlineError {
  override readonly name = "RequestError";
  declare readonly code: RequestErrorCode;
  /** The HTTP status that belongs to the code. */
  readonly status: number;
  /** For `INVALID_INPUT`: the first places that are wrong. */
  readonly issues: readonly InputIssue[] | undefined;

  constructor(
    code: RequestErrorCode,
    message: string,
    options: { issues?: readonly InputIssue[]; cause?: unknown } = {},
  ) {
    super(code, message, "cause" in options ? { cause: options.cause } : undefined);
    this.status = statusOf[code];
    this.issues = options.issues;
  }
}

/** The question's deadline passed: its own `timeoutMs`, or the retention of the turn. Code `INPUT_TIMEOUT`. */
export class InputTimeoutError extends HoldlineError {
  override readonly name = "InputTimeoutError";
  constructor(message = "Nobody answered the question before its deadline.") {
    super("INPUT_TIMEOUT", message);
  }
}

/** The client gave the question up (`status: "cancelled"`). Code `INTERRUPT_CANCELLED`. */
export class InterruptCancelledError extends HoldlineError {
  override readonly name = "InterruptCancelledError";
  constructor(message = "The client abandoned the question.") {
    super("INTERRUPT_CANCELLED", message);
  }
}

/** The turn was ended by the server or by the client's leaving. Code `TURN_RELEASED`. */
export class TurnReleasedError extends HoldlineError {
  override readonly name = "TurnReleasedError";
  constructor(message = "The turn was released: nobody can answer it any more.") {
    super("TURN_RELEASED", message);
  }
}

/** This deployment cannot keep a turn suspended (`hold: false`). Code `HOLD_UNAVAILABLE`. */
export class HoldUnavailableError extends HoldlineError {
  override readonly name = "HoldUnavailableError";
  constructor(
    message = "This deployment cannot hold a turn while a human thinks (hold: false). Use the Durable Object adapter " +
      "(holdline/durable-object), which gives each thread one instance, or end the turn with context.inputRequired(prompt), " +
      "which needs nothing to be kept.",
  ) {
    super("HOLD_UNAVAILABLE", message);
  }
}

/** A prompt for `inputRequired` is empty or longer than 2000 UTF-16 units once trimmed. Code `PROMPT_INVALID`. */
export class PromptInvalidError extends HoldlineError {
  override readonly name = "PromptInvalidError";
  constructor(message = "A prompt must have 1 to 2000 characters once trimmed.") {
    super("PROMPT_INVALID", message);
  }
}

/** The event is not the protocol's, or would break the stream; nothing was sent. Code `EVENT_REFUSED`. */
export class EventRefusedError extends HoldlineError {
  override readonly name = "EventRefusedError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("EVENT_REFUSED", message, options);
  }
}

/** Refuses an event, as an expression. @throws EventRefusedError */
export function refuse(message: string): never {
  throw new EventRefusedError(message);
}

/** The turn has ended: nothing more can be emitted or asked. Code `TURN_ENDED`. */
export class TurnEndedError extends HoldlineError {
  override readonly name = "TurnEndedError";
  constructor(message = "The turn has ended: nothing more can be emitted or asked.") {
    super("TURN_ENDED", message);
  }
}

/**
 * An error meant for the client: its message, and its code where given, reach the wire.
 * Thrown from the agent it ends the run as RUN_ERROR with them; thrown from a tool its message
 * becomes the tool's result. Without a `code` the RUN_ERROR says `AGENT_FAILED`.
 */
export class PublicError extends HoldlineError {
  override readonly name = "PublicError";
  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    // An HTTP status, say, where there are no types: the wire has a string (AG-UI: RUN_ERROR).
    super(String(options.code ?? AGENT_FAILED), message, "cause" in options ? { cause: options.cause } : undefined);
  }
}
