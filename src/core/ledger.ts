/**
 * What the run has opened, and so what may go out. Pure: an event comes in, the events that go
 * out for it come back, or it is refused. One ledger serves a turn through all its runs: what an
 * interrupt closed is suspended here and started again when it is next used.
 */
import type { Message, RunAgentInput } from "@ag-ui/core";
import { Conversation, displaced } from "./conversation.ts";
import { refuse } from "./errors.ts";
import {
  appendTo,
  endOf,
  type Item,
  joinHalves,
  KINDS,
  type Kind,
  keyOf,
  PARTS,
  startAgain,
  type WireEvent,
} from "./items.ts";
import { checkOwner, Owners } from "./owners.ts";

/** What must be the same when an item is opened again (AG-UI streaming: a reopened id appends). */
const AGREEING: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  text: ["role", "name"],
  call: ["toolCallName", "parentMessageId"],
};

/** Who is told what is odd but sent: the turn. */
export interface WarningListener {
  warn(code: string, message: string): void;
}

/** What a question came from: the call of its tool, the subagent whose context asked. */
export interface Place {
  readonly toolCallId: string | undefined;
  readonly owner: string | undefined;
}

const NONE: readonly Item[] = [];

export class Ledger {
  // The collections are made when first needed: a held turn keeps what it has, and most need few of them.
  #items: Map<string, Item> | undefined;
  readonly #conversation = new Conversation();
  /** What is open, in the order it was opened. */
  #open: Item[] = [];
  /** Steps and subagents that the last interrupt closed and that start again before this run's first event. */
  #restarts: readonly Item[] = NONE;
  /** The calls started in this run, and whether each has its result. */
  #calls: Map<string, boolean> | undefined;
  readonly #owners = new Owners();
  /** How many runs have ended. */
  #run = 0;
  readonly #listener: WarningListener;

  constructor(listener: WarningListener) {
    this.#listener = listener;
  }

  /** A run carries the turn from here; its input says what its client has. */
  beginRun(input: Pick<RunAgentInput, "messages" | "tools">): void {
    this.#conversation.begin(input);
  }

  isClientTool(name: string): boolean {
    return this.#conversation.isClientTool(name);
  }

  /** @returns what goes out for `event`, in order; nothing when there is nothing to say. @throws EventRefusedError and leaves all as it was. */
  take(event: WireEvent): WireEvent[] {
    const part = PARTS[event.type];
    const out = part === undefined ? this.#whole(event) : this.#part(event, part);
    if (event.subagentRunId !== undefined) this.#owners.attribute(event.subagentRunId);
    return out;
  }

  #part(event: WireEvent, [kind, phase, member]: NonNullable<(typeof PARTS)[string]>): WireEvent[] {
    const id = event[member] as string;
    const item = this.#items?.get(keyOf(kind, id, kind === "step" ? event.subagentRunId : undefined));
    if (phase === "start") return this.#start(kind, id, event, item);
    if (phase === "end" && item?.state === "closed" && item.early) {
      item.early = false;
      return [];
    }
    if (item === undefined || item.state === "closed")
      return refuse(`${event.type}: the ${KINDS[kind].noun} ${JSON.stringify(id)} is not open.`);
    if (event.subagentRunId !== undefined && event.subagentRunId !== item.owner) {
      return refuse(
        `${event.type}: the ${KINDS[kind].noun} ${JSON.stringify(id)} belongs to another owner than its subagentRunId says.`,
      );
    }
    return phase === "append" ? this.#append(item, event) : this.#end(item, event);
  }

  /** Events that are something whole. */
  #whole(event: WireEvent): WireEvent[] {
    switch (event.type) {
      case "TOOL_CALL_RESULT":
        return this.#result(event);
      case "MESSAGES_SNAPSHOT":
        return this.#snapshot(event);
      case "ACTIVITY_SNAPSHOT":
      case "ACTIVITY_DELTA":
        this.#conversation.activity(event);
        break;
      case "REASONING_ENCRYPTED_VALUE":
        this.#conversation.keepValue(event, this.find("call", event.entityId as string));
    }
    return [...this.#begin(), event];
  }

  /** The item of an id, for those that append to it often. */
  find(kind: Kind, id: string): Item | undefined {
    return this.#items?.get(keyOf(kind, id, undefined));
  }

  #subagent(id: unknown): Item | undefined {
    return id === undefined ? undefined : this.find("subagent", id as string);
  }

  /** An announcement by its parent's own code, which may go on in a run after the one its parent ended in. */
  parented(announcement: WireEvent): WireEvent {
    // One that an interrupt closed is announced again before this event goes out.
    const goesOn = this.#subagent(announcement.parentSubagentRunId)?.state === "suspended";
    return goesOn ? announcement : this.#owners.parented(announcement);
  }

  /** Where a question stands on the wire: it names no call that has its result, and no subagent that has ended. */
  placeOf(place: Place): Place {
    const { toolCallId, owner } = place;
    const isAnswered =
      toolCallId !== undefined && (this.find("call", toolCallId)?.answered ?? this.#calls?.get(toolCallId)) === true;
    const hasEnded = this.#subagent(owner)?.state === "closed";
    if (!isAnswered && !hasEnded) return place;
    return { toolCallId: isAnswered ? undefined : toolCallId, owner: hasEnded ? undefined : owner };
  }

  /** The calls of this run without a result, in call order. */
  unanswered(): string[] {
    return [...(this.#calls ?? [])].filter(([, answered]) => !answered).map(([id]) => id);
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
      if (interruptsOf !== undefined && item.kind === "subagent") {
        const interruptIds = interruptsOf(item.id);
        end.outcome = { type: "suspended", ...(interruptIds.length > 0 ? { interruptIds } : {}) };
      }
      out.push(end);
      item.state = interruptsOf === undefined ? "closed" : "suspended";
    }
    const again = this.#open.filter(({ kind }) => kind === "step" || kind === "subagent");
    if (interruptsOf === undefined) this.#restarts = NONE;
    else if (again.length > 0) this.#restarts = [...this.#restarts, ...again];
    this.#open = [];
    this.#conversation.endRun();
    this.#calls = undefined;
    this.#owners.endRun();
    this.#run++;
    return out;
  }

  /** What must precede the run's next event: its suspended steps and subagents, outermost first. */
  #begin(): WireEvent[] {
    if (this.#restarts.length === 0) return [];
    const out: WireEvent[] = [];
    for (const item of this.#restarts) {
      out.push(this.#owners.parented(startAgain(item)));
      this.#reopen(item);
    }
    this.#restarts = NONE;
    return out;
  }

  #reopen(item: Item): void {
    item.state = "open";
    item.early = false;
    this.#open.push(item);
    if (item.kind === "subagent") this.#owners.announce(item.id);
    else if (item.owner !== undefined) this.#owners.attribute(item.owner);
    // A reopened message names the same owner; its frames keep their head.
  }

  /** Whether an item may be started, or started again. @throws EventRefusedError */
  #checkStart(kind: Kind, id: string, event: WireEvent, known: Item | undefined): void {
    const { noun } = KINDS[kind];
    if (known?.state === "open") refuse(`${event.type}: the ${noun} ${JSON.stringify(id)} is open already.`);
    if (kind === "call" && known !== undefined && known.run !== this.#run)
      refuse(`${event.type}: a tool call is not started again in a later run; its arguments would be appended.`);
    if (known?.state === "suspended" && kind === "step")
      refuse(`${event.type}: the step ${JSON.stringify(id)} is open already.`);
    for (const member of known === undefined ? [] : (AGREEING[kind] ?? [])) {
      if (agreed((known as Item).start, member) !== agreed(event, member))
        refuse(`${event.type}: ${JSON.stringify(id)} was opened with another ${member}.`);
    }
    if (kind === "call" && this.#calls?.get(id) === true && this.isClientTool(event.toolCallName as string))
      refuse(`${event.type}: the call ${JSON.stringify(id)} has a result, and its tool is the client's to answer for.`);
  }

  #start(kind: Kind, id: string, event: WireEvent, known: Item | undefined): WireEvent[] {
    this.#checkStart(kind, id, event, known);
    const owner = kind === "call" ? this.#conversation.ownerOfCall(event, known !== undefined) : event.subagentRunId;
    if (kind === "subagent") this.#owners.checkAnnouncement(event, known, this.#subagent(event.parentSubagentRunId));
    else checkOwner(event, owner, this.#subagent(owner), [known, this.#twinOf(event)]);
    this.#takeId(kind, event, owner);
    const out = this.#begin();
    // A call whose message was shown in another run says whose it is: readers know only the messages of this one.
    const start = owner === event.subagentRunId ? event : { ...event, subagentRunId: owner as string };
    if (start !== event) this.#owners.attribute(owner as string);
    const item: Item = { kind, id, owner, start, run: this.#run, state: "open", half: known?.half ?? "" };
    this.#items ??= new Map();
    this.#items.set(keyOf(kind, id, owner), item);
    this.#open.push(item);
    if (kind === "call") {
      // Decided here: the run that resumes the turn may come with other tools.
      if (this.isClientTool(event.toolCallName as string)) item.forClient = true;
      this.#calls ??= new Map();
      this.#calls.set(id, this.#calls.get(id) ?? false);
    }
    if (kind === "subagent") this.#owners.announce(id);
    out.push(start);
    return out;
  }

  /** A reasoning span and a reasoning message that share an id are one owner's. */
  #twinOf({ type, messageId }: WireEvent): Item | undefined {
    if (type === "REASONING_START") return this.find("reasoning", messageId as string);
    return type === "REASONING_MESSAGE_START" ? this.find("span", messageId as string) : undefined;
  }

  /** Takes the id of what becomes a message of the client's; the last check there is. */
  #takeId(kind: Kind, event: WireEvent, owner: string | undefined): void {
    if (kind === "text") this.#conversation.open(agreed(event, "role") as string, event);
    else if (kind === "reasoning") this.#conversation.open("reasoning", event);
    else if (kind === "call") this.#conversation.openCall(event, owner);
  }

  #append(item: Item, event: WireEvent): WireEvent[] {
    if (item.kind === "call" && item.state === "suspended")
      refuse("TOOL_CALL_ARGS: the call was closed when its run ended; it is not started again.");
    if (item.state === "suspended") {
      checkOwner(event, item.owner, this.#subagent(item.owner), []);
      this.#takeId(item.kind, item.start, item.owner);
    }
    const delta = joinHalves(item, event.delta as string);
    if (delta === "" && event.metadata === undefined && event.rawEvent === undefined) return [];
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
    item.waits = (event.outcome as { type?: unknown } | undefined)?.type === "suspended";
    // What a subagent owns ends no later than it does (AG-UI subagents).
    if (item.kind === "subagent") for (const owned of this.#ownedBy(item.id)) this.#cut(owned, out);
    this.#shut(item, event, out);
    return out;
  }

  #ownedBy(subagentRunId: string): Item[] {
    const isOwned = (item: Item) =>
      (item.kind === "subagent" ? item.start.parentSubagentRunId : item.owner) === subagentRunId;
    const direct = this.#open.filter(isOwned).reverse();
    return direct.flatMap((item) => (item.kind === "subagent" ? [...this.#ownedBy(item.id), item] : [item]));
  }

  /** Ends an item before its agent says so. */
  #cut(item: Item, out: WireEvent[]): void {
    item.early = true;
    this.#shut(item, endOf(item), out);
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
    const call = this.find("call", id);
    this.#conversation.answer(event, call);
    const out = this.#begin();
    // The arguments of an answered call are complete.
    if (call?.state === "open") this.#cut(call, out);
    // Also for a call that begins only after its result.
    this.#calls ??= new Map();
    this.#calls.set(id, true);
    if (call !== undefined) call.answered = true;
    out.push(event);
    return out;
  }

  /** What is open and not among the messages has no place to go on in: it ends, and begins anew when it is next appended to. */
  #snapshot(event: WireEvent): WireEvent[] {
    const messages = event.messages as Message[];
    const ends = displaced(this.#open, messages);
    for (const message of messages) {
      if (message.role !== "tool" || this.#calls?.get(message.toolCallId) !== false) continue;
      if (this.find("call", message.toolCallId)?.forClient)
        refuse(`${event.type}: the call ${JSON.stringify(message.toolCallId)} is for the client to answer.`);
    }
    const gone = this.#conversation.restate(messages);
    if (gone.length > 0)
      this.#listener.warn(
        "MESSAGES_DROPPED",
        `A MESSAGES_SNAPSHOT leaves out ${gone.length} of the messages that the client sent; the client drops what a snapshot leaves out.`,
      );
    const out = this.#begin();
    for (const item of ends) {
      this.#cut(item, out);
      if (item.kind !== "call") item.state = "suspended";
    }
    out.push(event);
    return out;
  }
}

/** An absent role is the assistant's (AG-UI text messages). */
const agreed = (event: WireEvent, member: string): unknown =>
  event[member] ?? (member === "role" ? "assistant" : undefined);
