/**
 * The messages its client has, as far as a turn must know them: whose id is taken, what an activity holds, which
 * tools are the client's. An id names one message of a thread (AG-UI): what is opened under one that is taken
 * would be appended to somebody else's words, or be dropped with a warning.
 */
import type { JsonPatchOperation, Message, RunAgentInput } from "@ag-ui/core";
import { EventRefusedError, refuse } from "./errors.ts";
import { type Item, KINDS, type WireEvent } from "./items.ts";
import { patched } from "./json-patch.ts";

interface Taken {
  readonly role: string;
  readonly owner: string | undefined;
}

interface Given {
  readonly messages: ReadonlyMap<string, Taken>;
  readonly calls: ReadonlyMap<string, string>;
}

type History = Pick<RunAgentInput, "messages" | "tools">;

const NOTHING: History = { messages: [], tools: [] };

const takenBy = ({ role, subagentRunId }: Message): Taken => ({ role, owner: subagentRunId });

export class Conversation {
  /** What the client says it has. */
  #input: History = NOTHING;
  /** The same by id, and its calls' tools by theirs; made when first asked about. */
  #given: Given | undefined;
  /** What the turn has shown. Made, as the activities are, when first needed. */
  #own: Map<string, Taken> | undefined;
  #activities: Map<string, unknown> | undefined;
  /** What snapshots of this run have taken away: its reader goes on to know whose it was. */
  #dropped: Map<string, Taken> | undefined;

  /** A run carries the turn from here, and this is what its client has. */
  begin(input: History): void {
    this.#input = input;
    this.#given = undefined;
  }

  /** Of the input only itself is kept meanwhile: a history may be long, and the turn held. */
  endRun(): void {
    this.#given = undefined;
    this.#dropped = undefined;
  }

  /** Whether the client runs the tool of this name: its calls are not answered here (AG-UI frontend tools). */
  isClientTool(name: string | undefined): boolean {
    return this.#input.tools.some((tool) => tool.name === name);
  }

  /** Takes the id of a message that is opened, or opened again. @throws EventRefusedError */
  open(role: string, event: WireEvent): void {
    const id = event.messageId as string;
    const owner = event.subagentRunId;
    const own = this.#own?.get(id);
    const taken = own ?? this.#dropped?.get(id);
    if (taken === undefined && this.#history.messages.has(id))
      refuse(`${event.type}: ${JSON.stringify(id)} is a message of the history; a new message takes a new id.`);
    if (taken !== undefined && (taken.role !== role || taken.owner !== owner))
      refuse(`${event.type}: ${JSON.stringify(id)} is a message of another role or owner.`);
    if (own === undefined) this.#take(id, role, owner);
  }

  /** Whose a call is that is opened: without a word of its own, its message's. @throws EventRefusedError */
  ownerOfCall(event: WireEvent, isKnown: boolean): string | undefined {
    const { type, toolCallId, parentMessageId } = event;
    if (!isKnown && this.#history.calls.has(toolCallId as string))
      refuse(`${type}: ${JSON.stringify(toolCallId)} is a call of the history; a new call takes a new id.`);
    const parentId = parentMessageId as string | undefined;
    const parent = parentId === undefined ? undefined : (this.#find(parentId) ?? this.#dropped?.get(parentId));
    if (parent === undefined) return event.subagentRunId;
    if (parent.role !== "assistant")
      refuse(`${type}: the parent ${JSON.stringify(parentMessageId)} is no message of the assistant's.`);
    if (event.subagentRunId !== undefined && event.subagentRunId !== parent.owner)
      refuse(`${type}: the call and its parent message ${JSON.stringify(parentMessageId)} have different owners.`);
    return parent.owner;
  }

  /** Takes the id of the message that a call makes for itself where it has none to stand in. */
  openCall({ toolCallId, parentMessageId }: WireEvent, owner: string | undefined): void {
    const id = (parentMessageId ?? toolCallId) as string;
    if (this.#find(id) === undefined) this.#take(id, "assistant", owner);
  }

  /** Takes the id of a result's message. `call`: the one it answers, if the turn has shown it. @throws EventRefusedError */
  answer(event: WireEvent, call: Item | undefined): void {
    const id = event.messageId as string;
    const isForClient =
      call === undefined ? this.isClientTool(this.#history.calls.get(event.toolCallId as string)) : call.forClient;
    if (isForClient) refuse(`${event.type}: the call ${JSON.stringify(event.toolCallId)} is for the client to answer.`);
    if (this.#find(id) !== undefined)
      refuse(`${event.type}: ${JSON.stringify(id)} is another message already; a result takes an id of its own.`);
    this.#take(id, "tool", event.subagentRunId);
  }

  /** Takes an event that shows or changes an activity. @throws EventRefusedError */
  activity(event: WireEvent): void {
    const { type, subagentRunId: owner } = event;
    const id = event.messageId as string;
    const taken = this.#find(id);
    if (taken !== undefined && taken.role !== "activity")
      refuse(`${type}: ${JSON.stringify(id)} is no activity but another message.`);
    if (type === "ACTIVITY_SNAPSHOT") {
      if (event.replace === false && this.#activities?.has(id)) return;
      this.#take(id, "activity", owner);
      this.#activities ??= new Map();
      this.#activities.set(id, inJson(event.content));
      return;
    }
    if (!this.#activities?.has(id)) return refuse(`${type}: the activity ${JSON.stringify(id)} was not shown.`);
    if (owner !== undefined && owner !== taken?.owner)
      refuse(`${type}: the activity ${JSON.stringify(id)} belongs to another owner.`);
    this.#activities.set(id, changed(this.#activities.get(id), event));
  }

  /** Checks that there is something for an encrypted value to stay with. `call`: the one it names, if the turn has shown it. @throws EventRefusedError */
  keepValue(event: WireEvent, call: { readonly owner: string | undefined } | undefined): void {
    const id = event.entityId as string;
    const isCall = event.subtype === "tool-call";
    const isThere = isCall
      ? call !== undefined || this.#history.calls.has(id)
      : (this.#find(id)?.role ?? "activity") !== "activity";
    if (!isThere) refuse(`${event.type}: there is no ${event.subtype} ${JSON.stringify(id)} to keep the value.`);
    const shown = isCall ? call : this.#own?.get(id);
    if (shown !== undefined && event.subagentRunId !== undefined && event.subagentRunId !== shown.owner)
      refuse(`${event.type}: ${JSON.stringify(id)} belongs to another owner.`);
  }

  /**
   * Takes a snapshot: from here on the client has these messages, and of others only activities and reasoning,
   * where the snapshot has none of their kind. @returns the ids of the client's own messages that it drops.
   * @throws EventRefusedError and leaves all as it was.
   */
  restate(messages: readonly Message[]): string[] {
    const restated = new Map(messages.map((message) => [message.id, message]));
    if (restated.size < messages.length) refuse("MESSAGES_SNAPSHOT: two of the messages have one id.");
    const given = this.#history.messages;
    const isKept = ({ role }: { role: string }) =>
      (role === "activity" || role === "reasoning") && !messages.some((message) => message.role === role);
    const left = this.#input.messages.filter(({ id }) => !restated.has(id) && !this.#own?.has(id));
    const others = [...given, ...(this.#own ?? [])].filter(([id]) => !restated.has(id));
    const own = new Map([...(this.#own ?? [])].filter(([id, taken]) => !restated.has(id) && isKept(taken)));
    const activities = new Map([...(this.#activities ?? [])].filter(([id]) => own.has(id)));
    for (const message of messages) {
      if (this.#own?.has(message.id) || !given.has(message.id)) own.set(message.id, takenBy(message));
      if (message.role === "activity") activities.set(message.id, inJson(message.content));
    }
    this.#own = own;
    this.#activities = activities;
    const dropped = others.filter(([, taken]) => !isKept(taken));
    if (dropped.length > 0) this.#dropped = new Map([...(this.#dropped ?? []), ...dropped]);
    this.begin({ tools: this.#input.tools, messages: [...messages, ...left.filter(isKept)] });
    return left.filter((message) => !isKept(message)).map(({ id }) => id);
  }

  get #history(): Given {
    if (this.#given !== undefined) return this.#given;
    const { messages } = this.#input;
    const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
    this.#given = {
      messages: new Map(messages.map((message) => [message.id, takenBy(message)])),
      calls: new Map(calls.map((call) => [call.id, call.function.name])),
    };
    return this.#given;
  }

  #take(id: string, role: string, owner: string | undefined): void {
    this.#own ??= new Map();
    this.#own.set(id, { role, owner });
  }

  #find(id: string): Taken | undefined {
    return this.#own?.get(id) ?? this.#history.messages.get(id);
  }
}

function changed(content: unknown, event: WireEvent): unknown {
  let next: unknown;
  try {
    next = patched(content, inJson(event.patch) as JsonPatchOperation[]);
  } catch (cause) {
    throw new EventRefusedError(`${event.type}: the patch does not apply to the activity as it stands.`, { cause });
  }
  if (typeof next !== "object" || next === null || Array.isArray(next))
    refuse(`${event.type}: an activity's content stays an object.`);
  return next;
}

/**
 * Which open items have no place among the messages of a snapshot, innermost first. Reasoning stays where the
 * snapshot has none. @throws EventRefusedError for one that is given another owner while it is open.
 */
export function displaced(open: readonly Item[], messages: readonly Message[]): Item[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const calls = new Set(
    messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : [])).map(({ id }) => id),
  );
  const keepsReasoning = !messages.some(({ role }) => role === "reasoning");
  return open
    .filter(({ kind, id, owner }) => {
      if (kind === "call") return !calls.has(id);
      if (kind !== "text" && kind !== "reasoning") return false;
      const message = byId.get(id);
      if (message === undefined || message.role === "activity") return kind === "text" || !keepsReasoning;
      if (message.subagentRunId !== owner)
        refuse(`MESSAGES_SNAPSHOT: the open ${KINDS[kind].noun} ${JSON.stringify(id)} is given another owner.`);
      return false;
    })
    .reverse();
}

const inJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
