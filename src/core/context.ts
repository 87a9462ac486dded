/**
 * What an agent is handed. Each context (the turn's, a tool's, a subagent's) has an open message
 * and an open reasoning of its own; everything else is the turn's.
 */
import {
  contentToText,
  type Interrupt,
  type JsonPatchOperation,
  type Message,
  type RunAgentInput,
  type TokenUsage,
} from "@ag-ui/core";
import type {
  AgentContext,
  AgentEvent,
  AnswerSchemas,
  Approval,
  ApprovalCall,
  ApproveOptions,
  AskOptions,
  AskRequest,
  InputRequired,
  SubagentRequest,
  ToolCallOptions,
  ToolContext,
} from "./agent.ts";
import { type Asker, askApproval, askInput } from "./asking.ts";
import { EventRefusedError, PublicError } from "./errors.ts";
import { type Item, PARTS, type WireEvent } from "./items.ts";
import { stopped } from "./stops.ts";
import { type Caller, runToolCall } from "./tool-call.ts";
import type { Turn } from "./turn.ts";

const ignore = () => {};

/** The context's promises count as handled: an agent may drop one without ending the process. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

const done = Promise.resolve();

/** Runs what may throw, as a promise that counts as handled. */
function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return handled(work());
  } catch (error) {
    return handled(Promise.reject(error));
  }
}

/** Events that leave this context's open message open. */
const BESIDES = /^(STATE_|CUSTOM$|RAW$|ACTIVITY_|MESSAGES_|TEXT_)/;

/** Events that are never tagged with the context's subagent: those that continue something, and the one that has no owner. */
const continues = (type: string): boolean => {
  const [kind, phase] = PARTS[type] ?? [];
  return kind === undefined ? UNTAGGED.test(type) : phase !== "start" && kind !== "step";
};
const UNTAGGED = /^(MESSAGES_SNAPSHOT|ACTIVITY_DELTA|REASONING_ENCRYPTED_VALUE)$/;

interface ToolOf<A> {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: A;
  readonly argsSchema: ApprovalCall<A>["argsSchema"];
}

class TurnContext<A = unknown> {
  readonly #turn: Turn;
  readonly #owner: string | undefined;
  #tool: ToolOf<A> | undefined;
  #message: Item | undefined;
  /** What `text` resolves to while there is room: one promise for a whole message. */
  #messageId: Promise<string> = Promise.resolve("");
  #reasoning: { readonly span: Item; readonly message: Item } | undefined;

  constructor(turn: Turn, owner: string | undefined, tool: ToolOf<A> | undefined) {
    this.#turn = turn;
    this.#owner = owner;
    this.#tool = tool;
  }

  get threadId(): string {
    return this.#turn.thread.threadId;
  }
  get runId(): string {
    return this.run.runId;
  }
  get run(): RunAgentInput {
    return this.#turn.latest.input;
  }
  get request(): Request | undefined {
    return this.#turn.latest.request;
  }
  get identity(): string | null {
    return this.#turn.latest.identity;
  }
  get locals(): unknown {
    return this.#turn.latest.locals;
  }
  get userText(): string {
    const { messages } = this.run;
    for (let i = messages.length - 1; i >= 0; i--) {
      const message = messages[i];
      if (message?.role === "user") return contentToText(message.content);
    }
    return "";
  }
  get signal(): AbortSignal {
    return this.#turn.signal;
  }
  get state(): unknown {
    return this.#turn.output.state.value;
  }
  get heard(): boolean {
    return this.#turn.heard;
  }
  get toolCallId(): string | undefined {
    return this.#tool?.toolCallId;
  }
  get toolName(): string | undefined {
    return this.#tool?.toolName;
  }
  get args(): A | undefined {
    return this.#tool?.args;
  }

  // ── asking ──

  get #asker(): Asker {
    return { context: this as unknown as AgentContext, owner: this.#owner, toolCallId: this.#tool?.toolCallId };
  }

  input(message: string, options: AskOptions & AnswerSchemas = {}): Promise<unknown> {
    return this.ask({ ...options, message, reason: this.#turn.host.settings.reasons.input });
  }

  ask(request: AskRequest & AnswerSchemas): Promise<unknown> {
    return attempt(() => askInput(this.#turn, this.#asker, request));
  }

  approve<B>(call: (ApprovalCall<B> & ApproveOptions) | ApproveOptions = {}): Promise<Approval<B>> {
    const own =
      this.#tool === undefined
        ? undefined
        : { toolCallId: this.#tool.toolCallId, toolName: this.#tool.toolName, args: this.#tool.args };
    const schema = this.#tool?.argsSchema === undefined ? {} : { argsSchema: this.#tool.argsSchema };
    return attempt(() =>
      askApproval(this.#turn, this.#asker, { ...own, ...schema, ...call } as ApprovalCall<B> & ApproveOptions),
    );
  }

  inputRequired(prompt: string, options: { reason?: string } = {}): InputRequired {
    return this.#turn.decide(prompt, options.reason, (message) => {
      this.#close();
      const messageId = freshId("msg");
      this.#send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
      this.#send({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: message });
      this.#send({ type: "TEXT_MESSAGE_END", messageId });
    });
  }

  // ── emitting ──

  emit(event: AgentEvent): Promise<void> {
    return this.#emitting(() => {
      const type = String((event as WireEvent | undefined)?.type);
      if (!BESIDES.test(type)) this.#close();
      else if (type.startsWith("TEXT_")) this.#closeReasoning();
      this.#send(event as WireEvent);
    });
  }

  text(delta: string | AsyncIterable<string>, options: { newMessage?: boolean } = {}): Promise<string> {
    if (typeof delta !== "string")
      return handled(this.#each(delta, (one, first) => this.text(one, first ? options : {})));
    const { output, emitRefusal } = this.#turn;
    if (emitRefusal !== undefined) return handled(Promise.reject(emitRefusal));
    try {
      if (this.#message === undefined || this.#message.state === "closed" || options.newMessage) this.#openMessage();
      output.append(this.#message as Item, delta);
    } catch (error) {
      return handled(Promise.reject(error));
    }
    return output.full ? handled(this.#roomThen(this.#messageId)) : this.#messageId;
  }

  reasoning(delta: string | AsyncIterable<string>): Promise<string> {
    if (typeof delta !== "string") return handled(this.#each(delta, (one) => this.reasoning(one)));
    return attempt(() => {
      const opened = this.#emittable(() => {
        const { message } = this.#openReasoning();
        this.#turn.output.append(message, delta);
        return message;
      });
      return this.#turn.output.full ? this.#roomThen(Promise.resolve(opened.id)) : Promise.resolve(opened.id);
    });
  }

  setState(next: unknown): Promise<void> {
    return this.#emitting(() => this.#send({ type: "STATE_SNAPSHOT", snapshot: next }));
  }

  patchState(operations: JsonPatchOperation[]): Promise<void> {
    return this.#emitting(() => this.#send({ type: "STATE_DELTA", delta: operations }, true));
  }

  activity(activity: Parameters<AgentContext["activity"]>[0]): Promise<string> {
    const { patch, content, messageId = freshId("activity"), activityType, replace } = activity;
    const body =
      patch === undefined
        ? { type: "ACTIVITY_SNAPSHOT", content: content ?? {}, replace }
        : { type: "ACTIVITY_DELTA", patch };
    return handled(this.#emitting(() => this.#send({ ...body, messageId, activityType })).then(() => messageId));
  }

  custom(name: string, value: unknown): Promise<void> {
    return this.#emitting(() => this.#send({ type: "CUSTOM", name, value: value === undefined ? null : value }));
  }

  usage(entry: TokenUsage): void {
    this.#turn.addUsage(entry);
  }

  warn(code: string, message: string): void {
    this.#turn.warn(code, message);
  }

  report(error: unknown): void {
    this.#turn.report(error);
  }

  stop(): void {
    this.#turn.stop(stopped());
  }

  replay(runs: Parameters<AgentContext["replay"]>[0]): Promise<void> {
    return attempt(() => this.#turn.replay(runs));
  }

  waitUntil(work: PromiseLike<unknown>): void {
    this.#turn.waitUntil(work);
  }

  keepMessages(give: () => readonly Message[]): void {
    this.#turn.output.keepMessages(give);
  }

  interrupted(interrupts: readonly Interrupt[]): void {
    this.#turn.interrupted(interrupts);
  }

  // ── nesting ──

  toolCall<B extends object, R>(
    name: string,
    args: B,
    run: (args: B, context: ToolContext<B>) => R | PromiseLike<R>,
    options: ToolCallOptions<B> = {},
  ): Promise<R | string> {
    const turn = this.#turn;
    let settle = ignore;
    const running = new Promise<void>((resolve) => {
      settle = resolve;
    });
    // Counted before it is entered: a call that decides the run in this very step is answered before the prompt is shown.
    turn.calls.add(running);
    const called = attempt(() => {
      const toolCallId = options.toolCallId ?? freshId("call");
      const context = new TurnContext<B>(turn, this.#owner, {
        toolCallId,
        toolName: name,
        args,
        argsSchema: options.argsSchema,
      });
      this.#emittable(() => {
        if (turn.output.ledger.isClientTool(name))
          throw new EventRefusedError(
            `${JSON.stringify(name)} is a tool of the client's, which answers its calls: emit the call, without a result.`,
          );
        if (options.shown) return;
        this.#close();
        const delta = JSON.stringify(args);
        this.#send({ type: "TOOL_CALL_START", toolCallId, toolCallName: name });
        this.#send({ type: "TOOL_CALL_ARGS", toolCallId, delta });
        this.#send({ type: "TOOL_CALL_END", toolCallId });
      });
      const caller: Caller<B> = {
        turn,
        owner: this.#owner,
        context: context as unknown as ToolContext<B>,
        close: () => context.#close(),
        edit: (approved) => {
          context.#tool = { toolCallId, toolName: name, args: approved, argsSchema: options.argsSchema };
        },
      };
      return runToolCall(caller, args, run, options);
    });
    const over = () => {
      turn.calls.delete(running);
      settle();
    };
    called.then(over, over);
    return called;
  }

  step<R>(name: string, run: () => R | PromiseLike<R>): Promise<R> {
    return attempt(async () => {
      this.#emittable(() => {
        this.#close();
        this.#send({ type: "STEP_STARTED", stepName: name });
      });
      try {
        return await run();
      } finally {
        // The turn may have been stopped or ended meanwhile: then whoever ended it closed the step.
        if (this.#turn.emitRefusal === undefined) {
          this.#close();
          this.#send({ type: "STEP_FINISHED", stepName: name });
        }
      }
    });
  }

  subagent<R>(request: SubagentRequest, run: (context: AgentContext) => R | PromiseLike<R>): Promise<R> {
    return attempt(async () => {
      const subagentRunId = freshId("sub");
      const parents = {
        parentSubagentRunId: this.#owner,
        parentToolCallId: request.parentToolCallId ?? this.#tool?.toolCallId,
      };
      this.#emittable(() => {
        this.#close();
        this.#turn.output.send({ type: "SUBAGENT_STARTED", ...parents, ...request, subagentRunId });
      });
      const context = new TurnContext(this.#turn, subagentRunId, undefined);
      const finish = (end: WireEvent) => {
        if (this.#turn.emitRefusal !== undefined) return;
        context.#close();
        this.#turn.output.send(end);
      };
      try {
        const result = await run(context as unknown as AgentContext);
        finish({ type: "SUBAGENT_FINISHED", subagentRunId });
        return result;
      } catch (error) {
        const message = error instanceof PublicError ? error.message : "The subagent failed.";
        finish({ type: "SUBAGENT_ERROR", subagentRunId, message });
        throw error;
      }
    });
  }

  // ── inside ──

  /** Does what emits, unless nothing may be emitted. */
  #emittable<T>(work: () => T): T {
    const refusal = this.#turn.emitRefusal;
    if (refusal !== undefined) throw refusal;
    return work();
  }

  #emitting(work: () => void): Promise<void> {
    return attempt(() => {
      this.#emittable(work);
      return this.#turn.output.full ? this.#roomThen(done) : done;
    });
  }

  /** Waits for room. Meanwhile the run may end (that is room) or the turn may be released (that is an error). */
  async #roomThen<T>(result: Promise<T>): Promise<T> {
    await this.#turn.output.room();
    const released = this.#turn.released;
    if (released !== undefined) throw released;
    return result;
  }

  async #each(
    deltas: AsyncIterable<string>,
    send: (delta: string, first: boolean) => Promise<string>,
  ): Promise<string> {
    let id: string | undefined;
    for await (const delta of deltas) id = await send(delta, id === undefined);
    return id ?? send("", true);
  }

  #send(event: WireEvent, strict = false): void {
    // What goes on with something names its owner by leaving it out: it may be the parent's (AG-UI subagents).
    const tagged = this.#owner !== undefined && event.subagentRunId === undefined && !continues(event.type);
    this.#turn.output.send(tagged ? { ...event, subagentRunId: this.#owner } : event, strict);
  }

  #openMessage(): void {
    this.#close();
    const messageId = freshId("msg");
    this.#send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    this.#message = this.#turn.output.ledger.find("text", messageId);
    this.#messageId = Promise.resolve(messageId);
  }

  #openReasoning(): { readonly span: Item; readonly message: Item } {
    if (this.#reasoning !== undefined && this.#reasoning.message.state !== "closed") return this.#reasoning;
    this.#close();
    const messageId = freshId("reasoning");
    this.#send({ type: "REASONING_START", messageId });
    this.#send({ type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
    const { ledger } = this.#turn.output;
    this.#reasoning = {
      span: ledger.find("span", messageId) as Item,
      message: ledger.find("reasoning", messageId) as Item,
    };
    return this.#reasoning;
  }

  /** Ends this context's open message and reasoning. */
  #close(): void {
    this.#closeReasoning();
    if (this.#message !== undefined) this.#turn.output.end(this.#message);
    this.#message = undefined;
  }

  #closeReasoning(): void {
    if (this.#reasoning === undefined) return;
    this.#turn.output.end(this.#reasoning.message);
    this.#turn.output.end(this.#reasoning.span);
    this.#reasoning = undefined;
  }
}

/** Methods that also work taken off their context: `async ({ input, text }) => …`. */
const METHODS = [
  "input",
  "ask",
  "approve",
  "inputRequired",
  "emit",
  "text",
  "reasoning",
  "setState",
  "patchState",
  "activity",
  "custom",
  "usage",
  "warn",
  "report",
  "stop",
  "keepMessages",
  "replay",
  "waitUntil",
  "interrupted",
  "toolCall",
  "step",
  "subagent",
] as const;

for (const name of METHODS) {
  const method = TurnContext.prototype[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(TurnContext.prototype, name, {
    configurable: true,
    // Bound when first asked for and kept: a context costs only the methods its agent uses.
    get(this: TurnContext) {
      const bound = method.bind(this);
      Object.defineProperty(this, name, { value: bound, configurable: true, writable: true });
      return bound;
    },
  });
}

const freshId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;

/** The turn's own context. */
export const createContext = (turn: Turn): AgentContext =>
  new TurnContext(turn, undefined, undefined) as unknown as AgentContext;
