/**
 * A context's way to its turn's output: each context (the turn's, a tool's, a subagent's) has an open
 * message and an open reasoning of its own. Everything it says passes here, tagged with its subagent.
 */
import type { AgentEvent } from "./agent.ts";
import { attempt, handled } from "./handled.ts";
import { type Item, PARTS, type WireEvent } from "./items.ts";
import type { Turn } from "./turn.ts";

const done = Promise.resolve();

const NONE: readonly Item[] = [];

/** Events that leave this context's open message open. */
const BESIDES = /^(STATE_|CUSTOM$|RAW$|ACTIVITY_|MESSAGES_|TEXT_)/;

/** Events that are never tagged with the context's subagent: those that continue something, and the one that has no owner. */
const continues = (type: string): boolean => {
  const [kind, phase] = PARTS[type] ?? [];
  return kind === undefined ? UNTAGGED.test(type) : phase !== "start" && kind !== "step";
};
const UNTAGGED = /^(MESSAGES_SNAPSHOT|ACTIVITY_DELTA|REASONING_ENCRYPTED_VALUE)$/;

export const freshId = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`;

export class Voice {
  readonly turn: Turn;
  /** The subagent whose context this is. */
  readonly owner: string | undefined;
  #message: Item | undefined;
  /** What `text` resolves to while there is room: one promise for a whole message. */
  #messageId: Promise<string> = Promise.resolve("");
  #reasoning: { readonly span: Item; readonly message: Item } | undefined;

  constructor(turn: Turn, owner: string | undefined) {
    this.turn = turn;
    this.owner = owner;
  }

  emit(event: AgentEvent): Promise<void> {
    return this.emitting(() => this.begin(event as WireEvent));
  }

  /** Sends an event of this context's own; what it ends of the open message and reasoning ends once it is taken. */
  begin(event: WireEvent): void {
    this.send(event, false, this.#endedBy(event));
  }

  /** What an event ends of this context's open message and reasoning. */
  #endedBy(event: WireEvent | undefined): readonly Item[] {
    if (this.#message === undefined && this.#reasoning === undefined) return NONE;
    const type = String(event?.type);
    const isBeside = BESIDES.test(type);
    if (isBeside && !type.startsWith("TEXT_")) return NONE;
    const text = isBeside || this.#message === undefined ? NONE : [this.#message];
    if (this.#reasoning === undefined) return text;
    const { message, span } = this.#reasoning;
    if (!type.startsWith("REASONING_") || event?.messageId !== message.id) return [message, span, ...text];
    // What goes on with the open reasoning, or ends it, does not have it ended before.
    return type === "REASONING_END" ? [message] : NONE;
  }

  text(delta: string | AsyncIterable<string>, options: { newMessage?: boolean }): Promise<string> {
    if (typeof delta !== "string")
      return handled(this.#each(delta, (one, first) => this.text(one, first ? options : {})));
    const {
      output,
      standing: { emitRefusal },
    } = this.turn;
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
      this.check();
      const { message } = this.#openReasoning();
      this.turn.output.append(message, delta);
      return this.turn.output.full ? this.#roomThen(Promise.resolve(message.id)) : Promise.resolve(message.id);
    });
  }

  /** A whole message of its own, whoever may emit now. */
  message(text: string): void {
    this.close();
    const messageId = freshId("msg");
    this.send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    this.send({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: text });
    this.send({ type: "TEXT_MESSAGE_END", messageId });
  }

  /** @throws what an emit is answered with when nothing may go out. */
  check(): void {
    const refusal = this.turn.standing.emitRefusal;
    if (refusal !== undefined) throw refusal;
  }

  /** Does what emits, unless nothing may; resolves when the stream has room for more. */
  emitting(work: () => void): Promise<void> {
    return attempt(() => {
      this.check();
      work();
      return this.turn.output.full ? this.#roomThen(done) : done;
    });
  }

  send(event: WireEvent, strict = false, ends?: readonly Item[]): void {
    // What goes on with something names its owner by leaving it out: it may be the parent's (AG-UI subagents).
    const tagged = this.owner !== undefined && event.subagentRunId === undefined && !continues(event.type);
    this.turn.output.send(tagged ? { ...event, subagentRunId: this.owner } : event, strict, ends);
  }

  /** Ends this context's open message and reasoning. */
  close(): void {
    this.#closeReasoning();
    if (this.#message !== undefined) this.turn.output.end(this.#message);
    this.#message = undefined;
  }

  #openMessage(): void {
    this.close();
    const messageId = freshId("msg");
    this.send({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" });
    this.#message = this.turn.output.ledger.find("text", messageId);
    this.#messageId = Promise.resolve(messageId);
  }

  #openReasoning(): { readonly span: Item; readonly message: Item } {
    if (this.#reasoning !== undefined && this.#reasoning.message.state !== "closed") return this.#reasoning;
    this.close();
    const messageId = freshId("reasoning");
    this.send({ type: "REASONING_START", messageId });
    this.send({ type: "REASONING_MESSAGE_START", messageId, role: "reasoning" });
    const { ledger } = this.turn.output;
    this.#reasoning = {
      span: ledger.find("span", messageId) as Item,
      message: ledger.find("reasoning", messageId) as Item,
    };
    return this.#reasoning;
  }

  #closeReasoning(): void {
    if (this.#reasoning === undefined) return;
    this.turn.output.end(this.#reasoning.message);
    this.turn.output.end(this.#reasoning.span);
    this.#reasoning = undefined;
  }

  /** Waits for room. Meanwhile the run may end or be stopped (that is room) or the turn may be released (that is an error). */
  async #roomThen<T>(result: Promise<T>): Promise<T> {
    const { carriage, standing } = this.turn;
    await carriage.room();
    const { released } = standing;
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
}
