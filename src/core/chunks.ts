/**
 * The chunk forms of the protocol (`TEXT_MESSAGE_CHUNK` and its like) rewritten as start, content
 * and end. On the wire a chunk stream would end at any event that another part of the turn sends
 * in between, so an agent's chunks never go out as they are.
 */
import { EventRefusedError } from "./errors.ts";
import type { WireEvent } from "./items.ts";
import type { Ledger } from "./ledger.ts";

interface Form {
  readonly kind: "text" | "call" | "reasoning";
  readonly id: string;
  readonly prefix: string;
  readonly append: string;
  /** What the first chunk may say of the item, and later ones repeat. */
  readonly members: readonly string[];
  readonly defaults: { readonly role?: string };
}

const FORMS: Readonly<Record<string, Form>> = {
  TEXT_MESSAGE_CHUNK: {
    kind: "text",
    id: "messageId",
    prefix: "TEXT_MESSAGE",
    append: "CONTENT",
    members: ["role", "name"],
    defaults: { role: "assistant" },
  },
  TOOL_CALL_CHUNK: {
    kind: "call",
    id: "toolCallId",
    prefix: "TOOL_CALL",
    append: "ARGS",
    members: ["toolCallName", "parentMessageId"],
    defaults: {},
  },
  REASONING_MESSAGE_CHUNK: {
    kind: "reasoning",
    id: "messageId",
    prefix: "REASONING_MESSAGE",
    append: "CONTENT",
    members: [],
    defaults: { role: "reasoning" },
  },
};

/** Events that do not end a chunk stream of their lane (AG-UI streaming). */
const TRANSPARENT = new Set([
  "RAW",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "REASONING_ENCRYPTED_VALUE",
  "SUBAGENT_STARTED",
]);

type Current = { type: string; id: string; owner: string | undefined };

export class Chunks {
  /** Per lane (the turn itself, each subagent) the item its chunks go on with. */
  #lanes: Map<string | undefined, Current> | undefined;
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** @returns what goes out for an event, in order. @throws EventRefusedError and leaves all as it was. */
  take(event: WireEvent): WireEvent[] {
    const form = FORMS[event.type];
    if (form !== undefined) return this.#takeChunk(event, form);
    if (this.#lanes === undefined) return this.#ledger.take(event);
    this.#refuseMixing(event);
    const taken = this.#ledger.take(event);
    // Taken first, since it may be refused; the end of the stream that it ends goes out before it.
    return TRANSPARENT.has(event.type) ? taken : [...this.#endLane(event.subagentRunId), ...taken];
  }

  #takeChunk(event: WireEvent, form: Form): WireEvent[] {
    const out: WireEvent[] = [];
    const current = this.#currentOf(event, form.id);
    const id = (event[form.id] as string | undefined) ?? (current?.type === event.type ? current.id : undefined);
    if (id === undefined) throw new EventRefusedError(`The first ${event.type} must have a ${form.id}.`);
    const tag = event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId };
    const given = form.members.filter((name) => event[name] !== undefined);
    const known = this.#ledger.find(form.kind, id);
    if (current?.type === event.type && current.id === id) {
      const differs = given.find(
        (name) => event[name] !== (known?.start[name] ?? (name === "role" ? "assistant" : undefined)),
      );
      if (differs !== undefined)
        throw new EventRefusedError(`${event.type}: ${JSON.stringify(id)} was opened with another ${differs}.`);
    } else {
      if (form.kind === "call" && event.toolCallName === undefined)
        throw new EventRefusedError("The first TOOL_CALL_CHUNK must have a toolCallName.");
      if (known?.state === "open")
        throw new EventRefusedError(`${event.type}: ${JSON.stringify(id)} was opened by a START.`);
      const start: WireEvent = { type: `${form.prefix}_START`, [form.id]: id, ...form.defaults, ...tag };
      for (const name of given) start[name] = event[name];
      const taken = this.#ledger.take(event.delta === undefined ? { ...start, ...others(event) } : start);
      if (current !== undefined) out.push(...this.#endLane(current.owner));
      out.push(...taken);
      this.#lanes ??= new Map();
      this.#lanes.set(event.subagentRunId, { type: event.type, id, owner: event.subagentRunId });
    }
    // A chunk without a delta says what is to be said of the item: its first in the START, a later one in a delta of its own.
    if (event.delta !== undefined || out.length === 0) {
      const append = { type: `${form.prefix}_${form.append}`, [form.id]: id, delta: event.delta ?? "" };
      out.push(...this.#ledger.take({ ...append, ...tag, ...others(event) }));
    }
    return out;
  }

  /** The stream a chunk goes on with: that of its id, of its tag, else the only one of its form. */
  #currentOf(event: WireEvent, idMember: string): Current | undefined {
    const lanes = this.#open.filter(({ type }) => type === event.type);
    const named = lanes.find(({ id }) => id === event[idMember]);
    if (named !== undefined || event.subagentRunId !== undefined || event[idMember] !== undefined)
      return named ?? this.#lanes?.get(event.subagentRunId);
    const own = this.#lanes?.get(undefined);
    if (own?.type === event.type) return own;
    if (lanes.length > 1)
      throw new EventRefusedError(`${event.type}: several subagents stream at once; say which with subagentRunId.`);
    return lanes[0];
  }

  get #open(): Current[] {
    return [...(this.#lanes?.values() ?? [])];
  }

  #endLane(owner: string | undefined): WireEvent[] {
    const current = this.#lanes?.get(owner);
    if (current === undefined) return [];
    this.#lanes?.delete(owner);
    if (this.#lanes?.size === 0) this.#lanes = undefined;
    const form = FORMS[current.type] as Form;
    // Its subagent's end may have closed it already.
    if (this.#ledger.find(form.kind, current.id)?.state === "closed") return [];
    const tag = owner === undefined ? {} : { subagentRunId: owner };
    return this.#ledger.take({ type: `${form.prefix}_END`, [form.id]: current.id, ...tag });
  }

  /** An id that chunks opened is closed by them only (AG-UI streaming: the forms are not mixed). */
  #refuseMixing(event: WireEvent): void {
    for (const { type, id } of this.#open) {
      const form = FORMS[type] as Form;
      if (event[form.id] === id && event.type.startsWith(`${form.prefix}_`) && event.type !== "TOOL_CALL_RESULT") {
        throw new EventRefusedError(`${event.type}: ${JSON.stringify(id)} is streamed by chunks.`);
      }
    }
  }
}

/** The members every event may have. */
const others = ({ timestamp, rawEvent, metadata }: WireEvent): Partial<WireEvent> => ({
  ...(timestamp === undefined ? {} : { timestamp }),
  ...(rawEvent === undefined ? {} : { rawEvent }),
  ...(metadata === undefined ? {} : { metadata }),
});
