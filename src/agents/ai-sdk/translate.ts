/**
 * The AI SDK's stream as the protocol's events. Text and reasoning as they come, each call from its
 * first letter, and a result for every call that no tool of this server answers itself.
 */
import type { TextStreamPart, ToolSet } from "ai";
import { type AgentContext, EventRefusedError } from "../../index.ts";
import type { Call, Calls } from "./batch.ts";
import { media, outputOf, toWire } from "./content.ts";
import { wrapValues } from "./provider-values.ts";
import type { Offer } from "./tools.ts";
import { ARGUMENTS_WRONG, shownArgs } from "./turn-control.ts";

type Part = TextStreamPart<ToolSet>;
type Metadata = Extract<Part, { type: "reasoning-end" }>["providerMetadata"];

/** A call on its way to the wire. */
interface Showing {
  /** Whether any argument went out. */
  args: boolean;
  ended: boolean;
  /** Whether what the model streams is not shown, but only what it came to. */
  readonly withheld: boolean;
}

/** A stretch of reasoning that is still going on. */
interface Thought {
  readonly messageId: string;
  open: boolean;
  metadata: Metadata;
}

/** How a model's answer ended. */
export interface StepEnd {
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
}

const freshId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;

export class Translator {
  readonly #context: AgentContext;
  readonly #calls: Calls;
  readonly #offer: Offer;
  readonly #provider: string;
  readonly #showing = new Map<string, Showing>();
  readonly #thoughts = new Map<string, Thought>();
  /** The message that this answer's calls belong to, so that a client keeps them together. */
  #parent: string | undefined;
  #wroteText = false;
  /** How the last answer ended; `undefined` while one is under way. */
  end: StepEnd | undefined;
  /** Whether the application's own signal ended the stream. */
  aborted = false;
  /** What the provider itself wants to be approved before it runs it. */
  approvals: {
    readonly approvalId: string;
    readonly toolCall: { toolCallId: string; toolName: string; input: unknown };
  }[] = [];

  constructor(context: AgentContext, calls: Calls, offer: Offer, provider: string) {
    this.#context = context;
    this.#calls = calls;
    this.#offer = offer;
    this.#provider = provider;
  }

  /** Sends what a part says. Waits while the client reads no faster. @throws what went wrong with the model. */
  async take(part: Part): Promise<void> {
    switch (part.type) {
      case "start-step":
        this.#parent = undefined;
        this.#wroteText = false;
        this.end = undefined;
        return;
      case "text-delta":
        return this.#text(part.text);
      case "reasoning-start":
        this.#thoughts.set(part.id, { messageId: freshId("reasoning"), open: false, metadata: part.providerMetadata });
        return;
      case "reasoning-delta":
        return this.#reasoning(part.id, part.text, part.providerMetadata);
      case "reasoning-end":
        return this.#endReasoning(part.id, part.providerMetadata);
      case "tool-input-start":
        // Deltas in another encoding are not the JSON that arguments are.
        await this.#start(part.id, part.toolName, (part as { inputEncoding?: string }).inputEncoding === "text");
        return;
      case "tool-input-delta":
        return this.#args(part.id, part.delta);
      case "tool-call":
        return this.#call(part);
      case "tool-result":
        return part.preliminary ? undefined : this.#result(part.toolCallId, part.output);
      case "tool-error":
        return this.#result(part.toolCallId, this.#wordsFor(part));
      case "tool-output-denied":
        return this.#result(part.toolCallId, "The call was denied.");
      case "tool-approval-request":
        this.approvals.push(part);
        return;
      case "source":
        return void (await this.#context.activity({ activityType: "source", content: sourceOf(part) }));
      case "file":
        return this.#file(part.file);
      case "finish-step":
        this.end = { finishReason: part.finishReason, rawFinishReason: part.rawFinishReason };
        return;
      case "abort":
        this.aborted = true;
        return;
      case "error":
        throw part.error;
    }
  }

  /** Calls of this server that nothing has answered. */
  get unanswered(): Call[] {
    return this.#calls
      .all()
      .filter((call) => !call.answered && !this.#offer.isFrontend(call.name) && this.#showing.has(call.id));
  }

  /** Answers what nothing has answered and nothing will. */
  async answerRest(why: string): Promise<void> {
    for (const call of this.unanswered) await this.#result(call.id, why);
  }

  /** Calls of the last answer that are the client's to answer. */
  get pending(): Call[] {
    return this.#calls.batch.calls.filter(({ name }) => this.#offer.isFrontend(name));
  }

  // ── text and reasoning ──

  async #text(text: string): Promise<void> {
    if (text === "") return;
    // A context that took all of it out of the text has opened no message.
    this.#parent = (await this.#context.text(text, { newMessage: !this.#wroteText })) || this.#parent;
    this.#wroteText = true;
  }

  async #reasoning(id: string, delta: string, metadata: Metadata): Promise<void> {
    const thought = this.#thoughts.get(id);
    if (thought === undefined) return;
    thought.metadata = metadata ?? thought.metadata;
    if (delta === "") return;
    await this.#openThought(thought);
    await this.#context.emit({ type: "REASONING_MESSAGE_CONTENT", messageId: thought.messageId, delta });
  }

  async #endReasoning(id: string, metadata: Metadata): Promise<void> {
    const thought = this.#thoughts.get(id);
    if (thought === undefined) return;
    this.#thoughts.delete(id);
    const { messageId } = thought;
    const encryptedValue = wrapValues(this.#provider, metadata ?? thought.metadata);
    // Without a word and without anything to keep, there was nothing.
    if (encryptedValue !== undefined) await this.#openThought(thought);
    if (!thought.open) return;
    await this.#context.emit({ type: "REASONING_MESSAGE_END", messageId });
    await this.#context.emit({ type: "REASONING_END", messageId });
    await this.#keep("message", messageId, encryptedValue);
  }

  async #openThought(thought: Thought): Promise<void> {
    if (thought.open) return;
    thought.open = true;
    const { messageId } = thought;
    await this.#context.emit({ type: "REASONING_START", messageId });
    await this.#context.emit({ type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
  }

  async #keep(subtype: "message" | "tool-call", entityId: string, encryptedValue: string | undefined): Promise<void> {
    if (encryptedValue === undefined) return;
    await this.#context.emit({ type: "REASONING_ENCRYPTED_VALUE", subtype, entityId, encryptedValue });
  }

  // ── calls ──

  async #start(id: string, toolName: string, withheld: boolean): Promise<Showing> {
    const known = this.#showing.get(id);
    if (known !== undefined) return known;
    const showing = {
      args: false,
      ended: false,
      withheld: withheld || this.#offer.isTurnControl(toolName),
    };
    this.#showing.set(id, showing);
    this.#parent ??= freshId("msg");
    const parentMessageId = this.#parent;
    await this.#context.emit({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: toolName, parentMessageId });
    return showing;
  }

  async #args(id: string, delta: string): Promise<void> {
    const showing = this.#showing.get(id);
    if (showing === undefined || showing.withheld || delta === "") return;
    showing.args = true;
    await this.#context.emit({ type: "TOOL_CALL_ARGS", toolCallId: id, delta });
  }

  async #call(part: Extract<Part, { type: "tool-call" }>): Promise<void> {
    const { toolCallId, toolName, providerMetadata } = part;
    const showing = await this.#start(toolCallId, toolName, false);
    const call = this.#calls.get(toolCallId);
    await this.#endCall(toolCallId, showing, call?.args ?? JSON.stringify(part.input));
    await this.#keep("tool-call", toolCallId, wrapValues(this.#provider, providerMetadata));
    call?.batch.markShown(call);
  }

  /** Ends a call's arguments; those that were not streamed go out whole. A call without any has none, in JSON. */
  async #endCall(toolCallId: string, showing: Showing, args: string): Promise<void> {
    if (showing.ended) return;
    showing.ended = true;
    if (!showing.args) {
      const call = this.#calls.get(toolCallId);
      const shown = call !== undefined && this.#offer.isTurnControl(call.name) ? shownArgs(args) : args;
      await this.#context.emit({ type: "TOOL_CALL_ARGS", toolCallId, delta: shown.trim() === "" ? "{}" : shown });
    }
    await this.#context.emit({ type: "TOOL_CALL_END", toolCallId });
  }

  /** Answers a call that no tool here answers: the provider ran it, or it never could be run. */
  async #result(toolCallId: string, result: unknown): Promise<void> {
    const call = this.#calls.get(toolCallId);
    if (call?.answered) return;
    if (call !== undefined) call.answered = true;
    const showing = this.#showing.get(toolCallId);
    if (showing !== undefined) await this.#endCall(toolCallId, showing, "{}");
    const content = toWire(outputOf(result));
    await this.#context.emit({
      type: "TOOL_CALL_RESULT",
      messageId: freshId("msg"),
      toolCallId,
      content,
      role: "tool",
    });
  }

  /** Of a call that was not run. What the AI SDK says quotes turn control's arguments, and names all tools there are. */
  #wordsFor({ toolName, error }: Extract<Part, { type: "tool-error" }>): string {
    if (this.#offer.isTurnControl(toolName)) return ARGUMENTS_WRONG;
    if (!Object.hasOwn(this.#offer.tools, toolName)) return `There is no tool ${toolName}.`;
    return typeof error === "string" ? error : "The tool failed.";
  }

  // ── what else an answer holds ──

  async #file({ base64, mediaType }: { base64: string; mediaType: string }): Promise<void> {
    const content = { ...media(mediaType, { type: "data", value: base64, mimeType: mediaType }) };
    try {
      await this.#context.activity({ activityType: "file", content });
    } catch (error) {
      // More than a client can read: the rest of the answer is worth having without it.
      if (!(error instanceof EventRefusedError)) throw error;
      this.#context.warn("FILE_NOT_SHOWN", `A file of type ${mediaType} was not shown: ${error.message}`);
    }
  }
}

/** A source without what only its provider knows of it. */
function sourceOf(part: Extract<Part, { type: "source" }>): Record<string, unknown> {
  const { type: _type, providerMetadata: _metadata, ...source } = part;
  return source;
}
