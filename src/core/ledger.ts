/**
 * What the run has opened, and so what may go out. Pure: an event comes in, the events that go
 * out for it come back, or it is refused. One ledger serves a turn through all its runs: what an
 * interrupt closed is suspended here and started again when it is next used.
 */
import { EventRefusedError } from "./errors.ts";
import { isWhole, wellFormed } from "./frames.ts";

/** An event as the wire has it. */
export type WireEvent = { type: string; subagentRunId?: string; [member: string]: unknown };

type Kind = "text" | "call" | "reasoning" | "span" | "step" | "subagent";
type Phase = "start" | "append" | "end";

/** Something with a beginning and an end on the wire. */
export interface Item {
  readonly kind: Kind;
  readonly id: string;
  readonly owner: string | undefined;
  /** What opened it, and opens it again after an interrupt. */
  readonly start: WireEvent;
  state: "open" | "suspended" | "closed";
  /** The first half of a surrogate pair, waiting for the delta with the second. */
  half: string;
  /** What frames of its deltas begin with, once one was made. */
  head?: string;
}

/** Which events concern which kind, and the member that names the item. */
const PARTS: Readonly<Record<string, readonly [Kind, Phase, string]>> = {
  TEXT_MESSAGE_START: ["text", "start", "messageId"],
  TEXT_MESSAGE_CONTENT: ["text", "append", "messageId"],
  TEXT_MESSAGE_END: ["text", "end", "messageId"],
  TOOL_CALL_START: ["call", "start", "toolCallId"],
  TOOL_CALL_ARGS: ["call", "append", "toolCallId"],
  TOOL_CALL_END: ["call", "end", "toolCallId"],
  REASONING_START: ["span", "start", "messageId"],
  REASONING_END: ["span", "end", "messageId"],
  REASONING_MESSAGE_START: ["reasoning", "start", "messageId"],
  REASONING_MESSAGE_CONTENT: ["reasoning", "append", "messageId"],
  REASONING_MESSAGE_END: ["reasoning", "end", "messageId"],
  STEP_STARTED: ["step", "start", "stepName"],
  STEP_FINISHED: ["step", "end", "stepName"],
  SUBAGENT_STARTED: ["subagent", "start", "subagentRunId"],
  SUBAGENT_FINISHED: ["subagent", "end", "subagentRunId"],
  SUBAGENT_ERROR: ["subagent", "end", "subagentRunId"],
};

/** Per kind: the event that ends it, the event that appends to it, the member that names it, its name in a message. */
const KINDS: Readonly<Record<Kind, { end: string; append?: string; id: string; noun: string }>> = {
  text: { end: "TEXT_MESSAGE_END", append: "TEXT_MESSAGE_CONTENT", id: "messageId", noun: "message" },
  call: { end: "TOOL_CALL_END", append: "TOOL_CALL_ARGS", id: "toolCallId", noun: "tool call" },
  reasoning: {
    end: "REASONING_MESSAGE_END",
    append: "REASONING_MESSAGE_CONTENT",
    id: "messageId",
    noun: "reasoning message",
  },
  span: { end: "REASONING_END", id: "messageId", noun: "reasoning span" },
  step: { end: "STEP_FINISHED", id: "stepName", noun: "step" },
  subagent: { end: "SUBAGENT_FINISHED", id: "subagentRunId", noun: "subagent" },
};

/** What must be the same when an item is opened again (AG-UI streaming: a reopened id appends). */
const AGREEING: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  text: ["role", "name", "subagentRunId"],
  call: ["toolCallName", "parentMessageId", "subagentRunId"],
  reasoning: ["subagentRunId"],
  span: ["subagentRunId"],
};

/** Steps are counted per owner, everything else by id alone. */
const keyOf = (kind: Kind, id: string, owner: string | undefined): string =>
  kind !== "step" ? `${kind} ${id}` : owner === undefined ? `step - ${id}` : `step ${owner.length} ${owner}${id}`;

const refuse = (message: string): never => {
  throw new EventRefusedError(message);
};

export class Ledger {
  readonly #items = new Map<string, Item>();
  /** What is open, in the order it was opened. */
  #open: Item[] = [];
  /** Steps and subagents that the last interrupt closed and that start again before this run's first event. */
  #restarts: Item[] = [];
  /** The calls started in this run, and whether each has its result. */
  #calls = new Map<string, boolean>();

  /** @returns what goes out for `event`, in order; nothing when there is nothing to say. @throws EventRefusedError and leaves all as it was. */
  take(event: WireEvent): WireEvent[] {
    this.#checkOwner(event);
    const part = PARTS[event.type];
    if (part === undefined) return event.type === "TOOL_CALL_RESULT" ? this.#result(event) : [...this.#begin(), event];
    const [kind, phase, member] = part;
    const id = event[member] as string;
    const item = this.#items.get(keyOf(kind, id, kind === "step" ? event.subagentRunId : undefined));
    if (phase === "start") return this.#start(kind, id, event, item);
    if (item === undefined || item.state === "closed")
      return refuse(`${event.type}: the ${KINDS[kind].noun} ${JSON.stringify(id)} is not open.`);
    if (event.subagentRunId !== undefined && kind !== "subagent" && event.subagentRunId !== item.owner) {
      return refuse(
        `${event.type}: the ${KINDS[kind].noun} ${JSON.stringify(id)} belongs to another owner than its subagentRunId says.`,
      );
    }
    return phase === "append" ? this.#append(item, event) : this.#end(item, event);
  }

  /** The item of an id, for those that append to it often. */
  find(kind: Kind, id: string): Item | undefined {
    return this.#items.get(keyOf(kind, id, undefined));
  }

  /** Whether the run's next event must be preceded by others. */
  get restarting(): boolean {
    return this.#restarts.length > 0;
  }

  /** The calls of this run without a result, in call order. */
  unanswered(): string[] {
    return [...this.#calls].filter(([, answered]) => !answered).map(([id]) => id);
  }

  /**
   * Closes what is open, innermost first, and begins the next run's ledger. After an interrupt
   * (`interruptsOf` says which of them a subagent raised) what was open is only suspended.
   */
  endRun(interruptsOf?: (subagentRunId: string) => string[]): WireEvent[] {
    const out: WireEvent[] = [];
    for (const item of [...this.#open].reverse()) {
      // A call is never started again, so its half pair has no second half to wait for.
      if (interruptsOf === undefined || item.kind === "call") this.#flushHalf(item, out);
      const end = endOf(item);
      if (interruptsOf !== undefined && item.kind === "subagent")
        end.outcome = { type: "suspended", interruptIds: interruptsOf(item.id) };
      out.push(end);
      item.state = interruptsOf === undefined ? "closed" : "suspended";
    }
    const again = this.#open.filter(({ kind }) => kind === "step" || kind === "subagent");
    this.#restarts = interruptsOf === undefined ? [] : [...this.#restarts, ...again];
    this.#open = [];
    this.#calls.clear();
    return out;
  }

  /** What must precede the run's next event: its suspended steps and subagents, outermost first. */
  #begin(): WireEvent[] {
    if (this.#restarts.length === 0) return [];
    const out = this.#restarts.map(startAgain);
    for (const item of this.#restarts) this.#reopen(item);
    this.#restarts = [];
    return out;
  }

  #reopen(item: Item): void {
    item.state = "open";
    this.#open.push(item);
    // A reopened message names the same owner; its frames keep their head.
  }

  #checkOwner(event: WireEvent): void {
    const owner = event.type.startsWith("SUBAGENT_")
      ? (event.parentSubagentRunId as string | undefined)
      : event.subagentRunId;
    if (owner === undefined) return;
    const subagent = this.#items.get(keyOf("subagent", owner, undefined));
    if (subagent?.state === "closed") refuse(`${event.type}: the subagent ${JSON.stringify(owner)} has finished.`);
    if (subagent === undefined && event.type === "SUBAGENT_STARTED")
      refuse(`SUBAGENT_STARTED: its parent ${JSON.stringify(owner)} was not announced.`);
  }

  #start(kind: Kind, id: string, event: WireEvent, known: Item | undefined): WireEvent[] {
    const { noun } = KINDS[kind];
    if (known?.state === "open") refuse(`${event.type}: the ${noun} ${JSON.stringify(id)} is open already.`);
    if (known !== undefined && kind === "subagent")
      refuse(`${event.type}: a subagentRunId names one invocation; ${JSON.stringify(id)} was used.`);
    if (known?.state === "suspended" && kind === "call")
      refuse(`${event.type}: a tool call is not started again after an interrupt.`);
    if (known?.state === "suspended" && kind === "step")
      refuse(`${event.type}: the step ${JSON.stringify(id)} is open already.`);
    if (known !== undefined) {
      for (const member of AGREEING[kind] ?? []) {
        if (agreed(known.start, member) !== agreed(event, member))
          refuse(`${event.type}: ${JSON.stringify(id)} was opened with another ${member}.`);
      }
    }
    const parent = event.parentMessageId;
    const parentItem = typeof parent === "string" ? this.find("text", parent) : undefined;
    if (kind === "call" && parentItem !== undefined && parentItem.owner !== event.subagentRunId) {
      refuse(`${event.type}: the call and its parent message ${JSON.stringify(parent)} have different owners.`);
    }
    const out = this.#begin();
    const item: Item = { kind, id, owner: event.subagentRunId, start: event, state: "open", half: known?.half ?? "" };
    this.#items.set(keyOf(kind, id, kind === "step" ? item.owner : undefined), item);
    this.#open.push(item);
    if (kind === "call") this.#calls.set(id, this.#calls.get(id) ?? false);
    out.push(event);
    return out;
  }

  #append(item: Item, event: WireEvent): WireEvent[] {
    if (item.kind === "call" && item.state === "suspended")
      refuse("TOOL_CALL_ARGS: the call was closed when its run ended; it is not started again.");
    const delta = joinHalves(item, event.delta as string);
    if (delta === "") return [];
    const out = this.#begin();
    if (item.state === "suspended") {
      // A reasoning message stands in the span of its id, where there is one.
      const span = item.kind === "reasoning" ? this.find("span", item.id) : undefined;
      for (const one of span?.state === "suspended" ? [span, item] : [item]) {
        out.push(startAgain(one));
        this.#reopen(one);
      }
    }
    out.push(delta === event.delta ? event : { ...event, delta });
    return out;
  }

  #end(item: Item, event: WireEvent): WireEvent[] {
    if (item.state === "suspended" && item.kind !== "step" && item.kind !== "subagent") {
      item.state = "closed";
      return [];
    }
    const out = this.#begin();
    // What a subagent owns ends no later than it does (AG-UI subagents).
    if (item.kind === "subagent") for (const owned of this.#ownedBy(item.id)) this.#shut(owned, endOf(owned), out);
    this.#shut(item, event, out);
    return out;
  }

  #ownedBy(subagentRunId: string): Item[] {
    const isOwned = (item: Item) =>
      (item.kind === "subagent" ? item.start.parentSubagentRunId : item.owner) === subagentRunId;
    const direct = this.#open.filter(isOwned).reverse();
    return direct.flatMap((item) => (item.kind === "subagent" ? [...this.#ownedBy(item.id), item] : [item]));
  }

  #shut(item: Item, end: WireEvent, out: WireEvent[]): void {
    this.#flushHalf(item, out);
    item.state = "closed";
    this.#open.splice(this.#open.lastIndexOf(item), 1);
    out.push(end);
  }

  #flushHalf(item: Item, out: WireEvent[]): void {
    if (item.half === "") return;
    item.half = "";
    out.push(appendTo(item, "\ufffd"));
  }

  #result(event: WireEvent): WireEvent[] {
    const id = event.toolCallId as string;
    const out = this.#begin();
    const call = this.find("call", id);
    // The arguments of an answered call are complete.
    if (call?.state === "open") this.#shut(call, endOf(call), out);
    if (this.#calls.has(id)) this.#calls.set(id, true);
    out.push(event);
    return out;
  }
}

/** An absent role is the assistant's (AG-UI text messages). */
const agreed = (event: WireEvent, member: string): unknown =>
  event[member] ?? (member === "role" ? "assistant" : undefined);

const owned = (item: Item): { subagentRunId?: string } =>
  item.owner === undefined ? {} : { subagentRunId: item.owner };

/** The event that ends an item. */
export const endOf = (item: Item): WireEvent => ({
  type: KINDS[item.kind].end,
  [KINDS[item.kind].id]: item.id,
  ...owned(item),
});

const startAgain = ({ start }: Item): WireEvent => {
  const { timestamp: _timestamp, rawEvent: _rawEvent, metadata: _metadata, ...again } = start;
  return again as WireEvent;
};

/** The event that appends `delta` to an item. */
export const appendTo = (item: Item, delta?: string): WireEvent => {
  const { append, id } = KINDS[item.kind];
  return { type: append as string, [id]: item.id, ...owned(item), ...(delta === undefined ? {} : { delta }) };
};

/** A pair that was split over two deltas goes out whole in the second. */
export function joinHalves(item: Item, delta: string): string {
  if (item.half === "" && isWhole(delta)) return delta;
  const text = item.half + delta;
  const last = text.charCodeAt(text.length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  item.half = splits ? text.slice(-1) : "";
  return wellFormed(splits ? text.slice(0, -1) : text);
}
