/**
 * What an agent is handed: a thin front, whose parts say (`voice.ts`), ask (`asking.ts`), call tools
 * (`tool-call.ts`) and nest (`nesting.ts`). Everything else is the turn's.
 */
import type { Interrupt, JsonPatchOperation, Message, RunAgentInput, TokenUsage } from "@ag-ui/core";
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
import { type Asker, askApproval, askInput, asking } from "./asking.ts";
import { attempt, handled } from "./handled.ts";
import { runStep, runSubagent } from "./nesting.ts";
import { stopped } from "./stops.ts";
import { type Call, callTool } from "./tool-call.ts";
import type { Turn } from "./turn.ts";
import { freshId, Voice } from "./voice.ts";

class TurnContext<A = unknown> {
  readonly #turn: Turn;
  readonly #voice: Voice;
  /** The call whose tool this context is handed to. */
  readonly #tool: Call<A> | undefined;

  constructor(voice: Voice, tool: Call<A> | undefined) {
    this.#turn = voice.turn;
    this.#voice = voice;
    this.#tool = tool;
  }

  get threadId(): string {
    return this.#turn.thread.threadId;
  }
  get runId(): string {
    return this.#turn.carriage.latest.input.runId;
  }
  get run(): RunAgentInput {
    return this.#turn.carriage.latest.shown;
  }
  get request(): Request | undefined {
    return this.#turn.carriage.latest.request;
  }
  get identity(): string | null {
    return this.#turn.carriage.latest.identity;
  }
  get locals(): unknown {
    return this.#turn.carriage.latest.locals;
  }
  get userText(): string {
    return this.#turn.userText;
  }
  get signal(): AbortSignal {
    return this.#turn.standing.signal;
  }
  get state(): unknown {
    return this.#turn.output.state.shown;
  }
  get heard(): boolean {
    return this.#turn.standing.heard;
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
    return { context: this as unknown as AgentContext, owner: this.#voice.owner, toolCallId: this.#tool?.toolCallId };
  }

  input(message: string, options: AskOptions & AnswerSchemas = {}): Promise<unknown> {
    return this.ask({ ...options, message, reason: this.#turn.host.settings.reasons.input });
  }

  ask(request: AskRequest & AnswerSchemas): Promise<unknown> {
    return attempt(() => asking(this.#turn, () => askInput(this.#turn, this.#asker, request)));
  }

  approve<B>(call: (ApprovalCall<B> & ApproveOptions) | ApproveOptions = {}): Promise<Approval<B>> {
    const own =
      this.#tool === undefined
        ? undefined
        : { toolCallId: this.#tool.toolCallId, toolName: this.#tool.toolName, args: this.#tool.args };
    const schema = this.#tool?.argsSchema === undefined ? {} : { argsSchema: this.#tool.argsSchema };
    const ask = () =>
      askApproval(this.#turn, this.#asker, { ...own, ...schema, ...call } as ApprovalCall<B> & ApproveOptions);
    return attempt(() => asking(this.#turn, ask));
  }

  inputRequired(prompt: string, options: { reason?: string } = {}): InputRequired {
    return this.#turn.decide(prompt, options.reason, (message) => this.#voice.message(message));
  }

  // ── emitting ──

  emit(event: AgentEvent): Promise<void> {
    return this.#voice.emit(event);
  }

  text(delta: string | AsyncIterable<string>, options: { newMessage?: boolean } = {}): Promise<string> {
    return this.#voice.text(delta, options);
  }

  reasoning(delta: string | AsyncIterable<string>): Promise<string> {
    return this.#voice.reasoning(delta);
  }

  setState(next: unknown): Promise<void> {
    return this.#voice.emitting(() => this.#voice.send({ type: "STATE_SNAPSHOT", snapshot: next }));
  }

  patchState(operations: JsonPatchOperation[]): Promise<void> {
    return this.#voice.emitting(() => this.#voice.send({ type: "STATE_DELTA", delta: operations }, true));
  }

  activity(activity: Parameters<AgentContext["activity"]>[0]): Promise<string> {
    const { patch, content, messageId = freshId("activity"), activityType, replace } = activity;
    const body =
      patch === undefined
        ? { type: "ACTIVITY_SNAPSHOT", content: content ?? {}, replace }
        : { type: "ACTIVITY_DELTA", patch };
    return handled(
      this.#voice.emitting(() => this.#voice.send({ ...body, messageId, activityType })).then(() => messageId),
    );
  }

  custom(name: string, value: unknown): Promise<void> {
    return this.#voice.emitting(() =>
      this.#voice.send({ type: "CUSTOM", name, value: value === undefined ? null : value }),
    );
  }

  usage(entry: TokenUsage): void {
    this.#turn.carriage.addUsage(entry);
  }

  warn(code: string, message: string): void {
    this.#turn.carriage.warn(code, message);
  }

  report(error: unknown): void {
    this.#turn.carriage.report(error);
  }

  stop(): void {
    this.#turn.stop(stopped());
  }

  replay(runs: Parameters<AgentContext["replay"]>[0]): Promise<void> {
    return attempt(() => this.#turn.replay(runs));
  }

  waitUntil(work: PromiseLike<unknown>): void {
    this.#turn.carriage.waitUntil(work);
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
    const call: Call<B> = {
      toolCallId: options.toolCallId ?? freshId("call"),
      toolName: name,
      args,
      argsSchema: options.argsSchema,
    };
    const voice = new Voice(this.#turn, this.#voice.owner);
    const context = new TurnContext<B>(voice, call) as unknown as ToolContext<B>;
    return callTool({ call, context, voice, from: this.#voice }, run, options);
  }

  step<R>(name: string, run: () => R | PromiseLike<R>): Promise<R> {
    return runStep(this.#voice, name, run);
  }

  subagent<R>(request: SubagentRequest, run: (context: AgentContext) => R | PromiseLike<R>): Promise<R> {
    const voice = new Voice(this.#turn, freshId("sub"));
    const context = new TurnContext(voice, undefined) as unknown as AgentContext;
    const parentToolCallId = request.parentToolCallId ?? this.#tool?.toolCallId;
    const announced = {
      ...request,
      parentSubagentRunId: this.#voice.owner,
      ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
    };
    return runSubagent(this.#voice, voice, announced, () => run(context));
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

/** The turn's own context. */
export const createContext = (turn: Turn): AgentContext =>
  new TurnContext(new Voice(turn, undefined), undefined) as unknown as AgentContext;
