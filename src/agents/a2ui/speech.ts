/**
 * The text of one turn on its way out, whoever of the turn says it and by whatever event: blocks are taken
 * out, what is left goes on. Per message there is one filter, for as long as the message goes on.
 */
import type { AgentEvent } from "../../index.ts";
import { BlockFilter, type Piece, withoutBlocks } from "./blocks.ts";
import type { Send, Surfaces } from "./surfaces.ts";

/** An event as far as it matters here: what an agent emits may be anything. */
interface Told {
  readonly type: string;
  readonly messageId?: string;
  readonly role?: string;
  readonly delta?: unknown;
  readonly subagentRunId?: string;
  readonly messages?: unknown;
}

/** Per lane (the context's own, a subagent's it names) the message that its chunks go on with. */
export type Lanes = Map<string | undefined, string>;

/** Events that a chunk stream of their lane goes on beyond (AG-UI streaming). */
const BESIDE_CHUNKS = /^(RAW|ACTIVITY_SNAPSHOT|ACTIVITY_DELTA|REASONING_ENCRYPTED_VALUE|SUBAGENT_STARTED)$/;

const done = Promise.resolve();

export class Speech {
  readonly surfaces: Surfaces;
  /** By message; `null` for one that is not the assistant's, whose words are left as they are. */
  readonly #filters = new Map<string, BlockFilter | null>();

  constructor(surfaces: Surfaces) {
    this.surfaces = surfaces;
  }

  /** The filter of a message that was opened otherwise; whoever opened it also ends it. */
  adopt(messageId: string, filter: BlockFilter): void {
    this.#filters.set(messageId, filter);
  }

  /** Such a message goes on no more. */
  leave(messageId: string): void {
    this.#filters.delete(messageId);
  }

  /** Shows what a piece completed. */
  complete({ blocks, stray }: Piece): Promise<void> {
    if (stray) this.surfaces.leftOut("its tag closes nothing");
    return blocks.length === 0 ? done : this.surfaces.show(blocks);
  }

  /** Ends a filter. @returns what it held back. */
  end(filter: BlockFilter): string {
    const { text, unclosed } = filter.end();
    if (unclosed) this.surfaces.leftOut("it is not closed");
    return text;
  }

  /** Sends an event of the agent's, without its blocks; those are shown behind it. */
  pass(event: AgentEvent, send: Send, lanes: Lanes): Promise<void> {
    const told = (event ?? {}) as Told;
    const type = String(told.type);
    if (type === "TEXT_MESSAGE_CHUNK") return this.#chunk(told, send, lanes);
    if (!BESIDE_CHUNKS.test(type)) this.endLane(told.subagentRunId, send, lanes);
    const { messageId } = told;
    if (typeof messageId !== "string" || !type.startsWith("TEXT_MESSAGE_"))
      return send(type === "MESSAGES_SNAPSHOT" ? restated(event) : event);
    if (type === "TEXT_MESSAGE_CONTENT") return this.#content(told, this.#filterOf(messageId), send);
    if (type === "TEXT_MESSAGE_START") this.#filterOf(messageId, told.role);
    else {
      const rest = this.#endMessage(messageId);
      if (rest !== "") void send(content(messageId, rest, told.subagentRunId));
    }
    return send(event);
  }

  /** Ends the chunk stream of a lane: what it held back goes out as its last chunk. */
  endLane(lane: string | undefined, send: Send, lanes: Lanes): void {
    const messageId = lanes.get(lane);
    if (messageId === undefined) return;
    lanes.delete(lane);
    const delta = this.#endMessage(messageId);
    if (delta === "") return;
    void send({ type: "TEXT_MESSAGE_CHUNK", messageId, delta, ...(lane === undefined ? {} : { subagentRunId: lane }) });
  }

  /** The turn is over: what is still held back goes out. */
  endAll(send: Send): void {
    for (const [messageId, filter] of this.#filters) {
      const rest = filter === null ? "" : this.end(filter);
      if (rest !== "") void send(content(messageId, rest, undefined));
    }
    this.#filters.clear();
  }

  #chunk(told: Told, send: Send, lanes: Lanes): Promise<void> {
    const lane = told.subagentRunId;
    // Without an id a chunk goes on with its lane's message, or with the only one there is.
    const [only, ...others] = lanes.values();
    const current = lanes.get(lane) ?? (lane === undefined && others.length === 0 ? only : undefined);
    const messageId = told.messageId ?? current;
    // A message that nobody here has seen begin: its words do not go out unread.
    if (typeof messageId !== "string") return this.#content(told, new BlockFilter(), send);
    if (messageId !== current) {
      this.endLane(lane, send, lanes);
      lanes.set(lane, messageId);
    }
    return this.#content(told, this.#filterOf(messageId, told.role), send);
  }

  #content(told: Told, filter: BlockFilter | null, send: Send): Promise<void> {
    const { delta } = told;
    if (filter === null || typeof delta !== "string") return send(told as AgentEvent);
    const piece = filter.take(delta);
    // An empty delta is the agent's own; one that was taken out altogether says nothing.
    const sent = piece.text === delta ? send(told as AgentEvent) : this.#shorter(told, piece.text, send);
    return behind(sent, this.complete(piece));
  }

  #shorter(told: Told, delta: string, send: Send): Promise<void> {
    if (delta !== "") return send({ ...told, delta } as AgentEvent);
    if (told.type === "TEXT_MESSAGE_CONTENT") return done;
    // A first chunk also opens its message; a later one that says nothing is as good as none.
    const { delta: _taken, ...opening } = told;
    return send(opening as AgentEvent);
  }

  #filterOf(messageId: string, role = "assistant"): BlockFilter | null {
    let filter = this.#filters.get(messageId);
    if (filter === undefined) {
      filter = role === "assistant" ? new BlockFilter() : null;
      this.#filters.set(messageId, filter);
    }
    return filter;
  }

  #endMessage(messageId: string): string {
    const filter = this.#filters.get(messageId) ?? null;
    this.#filters.delete(messageId);
    return filter === null ? "" : this.end(filter);
  }
}

/** The first promise's outcome, once the second has settled too. Counts as handled. */
export function behind<T>(first: Promise<T>, second: Promise<void>): Promise<T> {
  if (second === done) return first;
  const both = Promise.all([first, second]).then(([result]) => result);
  both.catch(() => {});
  return both;
}

const content = (messageId: string, delta: string, subagentRunId: string | undefined): AgentEvent => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta,
  ...(subagentRunId === undefined ? {} : { subagentRunId }),
});

/** A snapshot of the messages as its client may read it. */
function restated(event: AgentEvent): AgentEvent {
  const { messages } = event as { messages?: unknown };
  return Array.isArray(messages) ? ({ ...event, messages: messages.map(readable) } as AgentEvent) : event;
}

/** A message without its blocks: they were shown when it was said. */
export function readable<M>(message: M): M {
  const { role, content: words } = (message ?? {}) as { role?: unknown; content?: unknown };
  if (role !== "assistant" || typeof words !== "string") return message;
  const { text } = withoutBlocks(words);
  return text === words ? message : { ...message, content: text };
}
