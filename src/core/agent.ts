/**
 * What an agent is and what it is handed. Types only; `context.ts` implements them.
 * `AgentContext` is not named `Context` because Hono and `@ag-ui/core` have one.
 */
import type { Event, Interrupt, JsonPatchOperation, Message, RunAgentInput, TokenUsage } from "@ag-ui/core";
import type { JsonSchema, JsonValue, StandardSchemaV1 } from "./answer-schema.ts";
import type { ReplayedRun } from "./replay.ts";

type Spelled<E> = E extends { type: infer T extends string } ? Omit<E, "type"> & { type: T | `${T}` } : never;

/**
 * Any AG-UI event but the run's own (`RUN_*`: those the server writes), with `type` as the
 * protocol's enum or its spelling: `{ type: "CUSTOM", name: "acme:progress", value: 3 }`.
 */
export type AgentEvent = Spelled<Exclude<Event, { type: `RUN_${string}` }>>;

/**
 * An agent: an async function, or an async generator whose yielded events go out as with `emit`.
 * It is entered once a turn, however many runs the turn takes. What it returns, if neither
 * `undefined` nor `null`, becomes `RUN_FINISHED.result`; what it throws ends the run as RUN_ERROR.
 */
export interface Agent {
  // biome-ignore lint/suspicious/noConfusingVoidType: an agent that returns nothing is the common one
  (context: AgentContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown> | void;
  /**
   * `true` for an agent that keeps its questions itself, outside this process: it ends its runs with
   * `context.interrupted`, and resume entries for a thread on which nothing is held start a turn, in which it finds
   * them as `context.run.resume`. Nothing of them has been checked. Default `false`: such a run is refused.
   */
  readonly keepsInterrupts?: boolean;
}

/** What every question takes. */
export interface AskOptions {
  /**
   * Milliseconds, counted from the ask, after which it rejects with `InputTimeoutError`; finite and above 0,
   * else a `RangeError`. Absent: the retention's `ttlMs`, counted from the interrupt. The earlier of both counts.
   */
  timeoutMs?: number;
  /** Put into `interrupt.metadata` beside our own key. A `holdline` key is a `TypeError`: that one is the library's. */
  metadata?: Record<string, JsonValue>;
}

/** What the answer must be. Without either, a string. */
export interface AnswerSchemas {
  /** Any Standard Schema (zod, valibot, arktype, …): validates the answer and gives its type. */
  schema?: StandardSchemaV1;
  /** Shown to the client as `responseSchema`; alone, it also validates (draft 2020-12, without eval). */
  jsonSchema?: JsonSchema;
}

/** The parts of a question asked with `ask`. */
export interface AskRequest extends AskOptions {
  /** `interrupt.reason`, for a client that renders by reason. */
  reason: string;
  /** The question as the human reads it. */
  message: string;
  /**
   * The tool call the question belongs to. Absent: the tool whose context asks, or none. A call that has its result
   * when the question goes out is not named.
   */
  toolCallId?: string;
}

/** How one approval is asked; what is absent comes from the handler's `approvals`. */
export interface ApproveOptions {
  /** The question, or a function that words it. Default: the tool's name and its arguments. */
  message?: string | ((call: { toolCallId: string; toolName: string; args: unknown }) => string);
  /** The tool result of a denied call. */
  deniedMessage?: string;
  /** Milliseconds, see `AskOptions.timeoutMs`. */
  timeoutMs?: number;
  /** Whether "always" approves later calls of the same tool in this turn too. */
  allowAlways?: boolean;
  /** Whether the human may send other arguments (`editedArgs`). */
  allowEdits?: boolean;
}

/** One call to be approved. */
export interface ApprovalCall<A> {
  /** The call's id. */
  toolCallId: string;
  /** The tool that is to be called. */
  toolName: string;
  /** What it is to be called with: what the human consents to. Leave it unchanged: other arguments than those shown are not approved, and `approve` rejects. */
  args: A;
  /** Checks edited arguments before anything runs, and describes them to the client. */
  argsSchema?: ArgsSchema<A>;
}

/** A tool's own schema for its arguments: a Standard Schema or a JSON Schema. */
export type ArgsSchema<A> = StandardSchemaV1<unknown, A> | JsonSchema;

/** The decision. `args` are the edited ones where the human edited them. */
export type Approval<A> = { readonly approved: true; readonly args: A } | { readonly approved: false };

/** What `inputRequired` gives back: also the run's result, so it may simply be returned. */
export interface InputRequired {
  /** Says that the turn waits for the user's next message. */
  readonly status: "input-required";
  /** The prompt, trimmed. */
  readonly message: string;
}

/** Options of `toolCall`. */
export interface ToolCallOptions<A> {
  /** The call waits for a human's approval before `run` is entered; `true` takes the handler's `approvals`. */
  approval?: true | ApproveOptions;
  /** Checks edited arguments, and is shown to the client. */
  argsSchema?: ArgsSchema<A>;
  /** The call's id, for one that a model chose. Default: a fresh one. */
  toolCallId?: string;
  /**
   * `true` when the call was shown already, event by event as a model streamed it: then only its result is emitted.
   * With a `toolCallId`. Default `false`.
   */
  shown?: boolean;
}

/** What a subagent is announced as. */
export interface SubagentRequest {
  /** Its name, as shown. */
  name: string;
  /** What it is for. Default: none. */
  description?: string;
  /** The tool call that spawned it. Default: the tool whose context calls `subagent`. */
  parentToolCallId?: string;
  /** The message that spawned it. Default: none. */
  parentMessageId?: string;
}

/**
 * What an agent is handed. Promises it gives count as handled: `void context.toolCall(…)` is safe.
 * A promise that the agent derives from one (`.then`, an async function of its own) is the agent's.
 *
 * After a resume `runId`, `run`, `request`, `identity` and `locals` are those of the exchange that
 * brought the answer; while the turn is held `request` is `undefined`.
 */
export interface AgentContext {
  /** The conversation. */
  readonly threadId: string;
  /** The run that is open now, or was last. */
  readonly runId: string;
  /** The input of the exchange that carries the turn now, stripped and validated. What is changed in it changes nothing here. */
  readonly run: RunAgentInput;
  /** The request of that exchange; its body has been read. `undefined` while the turn is held. */
  readonly request: Request | undefined;
  /** Who is calling, as `identify` said; `null` without it. */
  readonly identity: string | null;
  /** What was given to `handle` as `locals`, `undefined` without. */
  readonly locals: unknown;
  /** The last user message as text, `""` without one: of the run that began the turn, whatever messages come with answers. */
  readonly userText: string;
  /** Aborts when the turn is stopped: client gone, abandoned, released, stopped, closed. `reason` is the error asks reject with. */
  readonly signal: AbortSignal;
  /**
   * A copy of the agent's state: the input's (or `{}`) until it is set here. A resume's `state` does not change it, nor
   * does what is done to the copy: use `setState` and `patchState`, which tell the client.
   */
  readonly state: unknown;
  /**
   * Whether anybody may still hear this turn: `false` once it was stopped, its result decided, or its last question
   * died unanswered (then `signal` has not aborted). What to look at before work that costs, like calling a model.
   */
  readonly heard: boolean;

  /**
   * Asks the human and waits, with this function's locals alive. The run ends as an interrupt; a later run
   * on the thread brings the answer.
   * @throws InputTimeoutError `INPUT_TIMEOUT`; InterruptCancelledError `INTERRUPT_CANCELLED`; TurnReleasedError
   * `TURN_RELEASED`; HoldUnavailableError `HOLD_UNAVAILABLE`; TurnEndedError `TURN_ENDED`; `TypeError` or
   * `RangeError` for wrong options. Only an accepted answer resolves it.
   */
  input(message: string, options?: AskOptions): Promise<string>;
  /** With a `schema` the answer is what the schema makes of it. */
  input<S extends StandardSchemaV1>(
    message: string,
    options: AskOptions & { schema: S; jsonSchema?: JsonSchema },
  ): Promise<StandardSchemaV1.InferOutput<S>>;
  /** With a `jsonSchema` alone the answer is JSON that fits it; its type is yours to say. */
  input<T = JsonValue>(message: string, options: AskOptions & { jsonSchema: JsonSchema }): Promise<T>;

  /** As `input`, with the interrupt's `reason` and `toolCallId` given. */
  ask(request: AskRequest): Promise<string>;
  /** With a `schema` the answer is what the schema makes of it. */
  ask<S extends StandardSchemaV1>(
    request: AskRequest & { schema: S; jsonSchema?: JsonSchema },
  ): Promise<StandardSchemaV1.InferOutput<S>>;
  /** With a `jsonSchema` alone the answer is JSON that fits it; its type is yours to say. */
  ask<T = JsonValue>(request: AskRequest & { jsonSchema: JsonSchema }): Promise<T>;

  /** Asks for consent to one tool call. A denial resolves to `{ approved: false }`; see `input` for what rejects. */
  approve<A>(call: ApprovalCall<A> & ApproveOptions): Promise<Approval<A>>;

  /**
   * Sends one event. Resolves when the stream has room for more, which is how a slow reader slows the agent.
   * @throws EventRefusedError `EVENT_REFUSED` when it is not the protocol's or would break the stream;
   * TurnEndedError `TURN_ENDED`; TurnReleasedError `TURN_RELEASED`.
   */
  emit(event: AgentEvent): Promise<void>;

  /**
   * Appends to this context's open assistant message, opening one when needed; resolves to its messageId.
   * The message is closed by a tool call, reasoning, step or subagent event of this context, or at the end.
   */
  text(delta: string | AsyncIterable<string>, options?: { newMessage?: boolean }): Promise<string>;

  /** Appends to this context's open reasoning message, opening one when needed; resolves to its messageId. */
  reasoning(delta: string | AsyncIterable<string>): Promise<string>;

  /**
   * Shows a tool call, runs it, and always shows its result: a string or content parts as they are, nothing
   * as `""`, anything else as JSON. When `run` throws, the result says in generic words that it failed (a
   * `PublicError`'s own words) and the promise rejects with the same error.
   */
  toolCall<A extends object, R>(
    name: string,
    args: A,
    run: (args: A, context: ToolContext<A>) => R | PromiseLike<R>,
  ): Promise<R>;
  /** With options, and no approval among them. */
  toolCall<A extends object, R>(
    name: string,
    args: A,
    run: (args: A, context: ToolContext<A>) => R | PromiseLike<R>,
    options: ToolCallOptions<A> & { approval?: undefined },
  ): Promise<R>;
  /** With an approval, a denied call runs nothing and resolves to the configured words. */
  toolCall<A extends object, R>(
    name: string,
    args: A,
    run: (args: A, context: ToolContext<A>) => R | PromiseLike<R>,
    options: ToolCallOptions<A>,
  ): Promise<R | string>;

  /** Runs `run` inside a named step, finished however `run` ends. */
  step<R>(name: string, run: () => R | PromiseLike<R>): Promise<R>;

  /**
   * Runs `run` as an announced subagent: what its context emits carries its `subagentRunId`. When `run`
   * throws, SUBAGENT_ERROR says so in generic words and the promise rejects with the same error.
   */
  subagent<R>(request: SubagentRequest, run: (context: AgentContext) => R | PromiseLike<R>): Promise<R>;

  /** Replaces the state and shows it as STATE_SNAPSHOT. */
  setState(next: unknown): Promise<void>;
  /**
   * Applies an RFC 6902 patch to the state and shows it. @throws EventRefusedError when it does not apply; as an event
   * (`emit`) it would be sent as the state as it stands, with a warning.
   */
  patchState(operations: JsonPatchOperation[]): Promise<void>;
  /** Shows an activity, or with `patch` changes one shown before. Resolves to its messageId. */
  activity(activity: {
    activityType: string;
    messageId?: string;
    content?: Record<string, unknown>;
    patch?: JsonPatchOperation[];
    replace?: boolean;
  }): Promise<string>;
  /** Sends a CUSTOM event; prefix the name with your own: `acme:progress`. */
  custom(name: string, value: unknown): Promise<void>;
  /** Adds to the token usage of the run that is open now; entries of one provider and model are summed. */
  usage(entry: TokenUsage): void;
  /** Tells `onWarning` of what was odd but dealt with. Never put a proof, an answer or a message's text into it. */
  warn(code: string, message: string): void;
  /** Tells `onError` of an error that does not end the turn, so that it is not lost. */
  report(error: unknown): void;
  /** Ends the turn as cancelled: open questions reject, `signal` aborts, the run finishes once this function has. */
  stop(): void;

  /**
   * Turn control: shows `prompt` as an assistant message and decides the run's result, here or anywhere; the
   * user's next message is an ordinary new turn. It is no consent: it authenticates nothing and grants nothing.
   * Whatever is emitted or asked afterwards rejects with `TurnEndedError`.
   * @throws PromptInvalidError `PROMPT_INVALID` unless 1 to 2000 UTF-16 units remain once trimmed.
   */
  inputRequired(prompt: string, options?: { reason?: string }): InputRequired;

  /**
   * Says that the agent keeps the conversation: `give` is asked for all of it before every interrupt its runs end
   * with, and it goes out as MESSAGES_SNAPSHOT. It has to be the whole, under the ids that were shown: a client
   * drops what a snapshot leaves out. What cannot go out is left to `onWarning`, and the question goes out without it.
   */
  keepMessages(give: () => readonly Message[]): void;

  /**
   * Restates earlier runs of the thread, before the run that is open: for a client that came back without them.
   * It comes first, before anything else is awaited or emitted; runs that have to be loaded are given as a
   * promise, and this run begins on the stream when it has resolved. All of them or none: an event that may not go
   * out, a message that the client's input holds already included, refuses the whole, and this run just begins.
   * @throws EventRefusedError `EVENT_REFUSED`; TurnEndedError `TURN_ENDED`; TurnReleasedError `TURN_RELEASED`;
   * what the promise rejects with.
   */
  replay(runs: readonly ReplayedRun[] | PromiseLike<readonly ReplayedRun[]>): Promise<void>;

  /**
   * Keeps the stream open, after the run has finished as soon as the function has, until `work` has settled, at
   * the latest for `closeTimeoutMs`. When it rejects, the run failed after all: RUN_ERROR follows RUN_FINISHED, worded
   * as for a function that throws. Meanwhile the thread is free. A run that failed, or was stopped, waits for nothing.
   */
  waitUntil(work: PromiseLike<unknown>): void;

  /**
   * Decides that the run ends as an interrupt with these questions, which the agent keeps itself; see
   * `Agent.keepsInterrupts`. They go out as they are, once its function has ended.
   * @throws TypeError for an agent that does not say so; EventRefusedError `EVENT_REFUSED` for what is no interrupt, for none at all,
   * and for two with one id.
   */
  interrupted(interrupts: readonly Interrupt[]): void;
}

/** The context inside a tool: the same members, its questions carry the `toolCallId`. */
export interface ToolContext<A = unknown> extends Omit<AgentContext, "approve"> {
  /** The call's id, which its questions carry. */
  readonly toolCallId: string;
  /** The tool that was called. */
  readonly toolName: string;
  /** What it was called with; edited ones where the human edited them. */
  readonly args: A;
  /** Asks for consent to this very call. */
  approve(options?: ApproveOptions): Promise<Approval<A>>;
  /** Asks for consent to another call. */
  approve<B>(call: ApprovalCall<B> & ApproveOptions): Promise<Approval<B>>;
}
