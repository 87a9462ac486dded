/**
 * What one run has started and not yet ended, read off its events (INV-2). Written from the
 * protocol's pages and apart from the server's own ledger, which it is there to check.
 */
import { ChunkLanes } from "./chunk-lanes.ts";
import type { WireEvent } from "./frames.ts";
import { type FailItem, type Owner, ownerName, Streamed, type Traits } from "./streamed.ts";

/** How a subagent's invocation ended in this run. */
export type SubagentEnd = "success" | "suspended" | "error";

/** Events that end what chunks of their lane opened. RAW, ACTIVITY_*, SUBAGENT_STARTED and encrypted values do not. */
const endsChunks = new Set([
  "TEXT_MESSAGE_START",
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_END",
  "TOOL_CALL_START",
  "TOOL_CALL_ARGS",
  "TOOL_CALL_END",
  "TOOL_CALL_RESULT",
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "CUSTOM",
  "STEP_STARTED",
  "STEP_FINISHED",
  "REASONING_START",
  "REASONING_MESSAGE_START",
  "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_END",
  "REASONING_END",
  "SUBAGENT_FINISHED",
  "SUBAGENT_ERROR",
]);

export class RunItems {
  readonly #fail: FailItem;
  readonly #texts: Streamed;
  readonly #calls: Streamed;
  readonly #reasonings: Streamed;
  readonly #spans: Streamed;
  readonly #activities: Streamed;
  readonly #lanes: ChunkLanes;
  readonly #steps = new Map<Owner, Set<string>>();
  readonly #subagents = new Set<string>();
  readonly #endedSubagents = new Map<string, SubagentEnd>();
  readonly #suspendedOn = new Map<string, readonly string[]>();
  readonly #attributed = new Set<string>();
  readonly #callsInOrder = new Set<string>();
  readonly #answered = new Set<string>();

  constructor(fail: FailItem) {
    this.#fail = fail;
    const reasoningOwners = new Map<string, Owner>();
    this.#texts = new Streamed("text message", fail);
    this.#calls = new Streamed("tool call", fail);
    this.#reasonings = new Streamed("reasoning message", fail, reasoningOwners);
    this.#spans = new Streamed("reasoning span", fail, reasoningOwners);
    this.#activities = new Streamed("activity", fail);
    this.#lanes = new ChunkLanes(fail);
  }

  /** The calls this run started and did not answer, in the order they were started. */
  get unanswered(): string[] {
    return [...this.#callsInOrder].filter((id) => !this.#answered.has(id));
  }

  answered(toolCallId: string): boolean {
    return this.#answered.has(toolCallId);
  }

  /** How an announced subagent ended, `undefined` for one that was never announced. */
  endOf(subagentRunId: string): SubagentEnd | undefined {
    return this.#endedSubagents.get(subagentRunId);
  }

  /** The interrupts that each suspended subagent says it waits for. */
  get suspendedOn(): ReadonlyMap<string, readonly string[]> {
    return this.#suspendedOn;
  }

  /** Fails when something is open, as it may not be before RUN_FINISHED. */
  mustBeClosed(): void {
    this.#lanes.closeAll();
    const open = [this.#texts, this.#calls, this.#reasonings, this.#spans].flatMap((items) => named(items));
    for (const [owner, names] of this.#steps)
      for (const name of names) open.push(`step ${JSON.stringify(name)} of ${ownerName(owner)}`);
    for (const id of this.#subagents) open.push(`subagent ${JSON.stringify(id)}`);
    if (open.length > 0) this.#fail(`the run finishes with open: ${open.join(", ")}`);
  }

  /** Takes the history that RUN_STARTED or MESSAGES_SNAPSHOT tells of: whose its messages and calls are. */
  recall(messages: readonly WireEvent[] | undefined): void {
    for (const message of messages ?? []) {
      const { id, role, subagentRunId, toolCalls } = message;
      const items = role === "reasoning" ? this.#reasonings : role === "activity" ? this.#activities : this.#texts;
      items.record(id, subagentRunId);
      for (const call of toolCalls ?? []) this.#calls.record(call.id, subagentRunId);
    }
  }

  /** Takes one event between a run's two ends; its shape has been checked. */
  take(event: WireEvent): void {
    const tag: Owner = event.subagentRunId;
    if (endsChunks.has(event.type)) this.#lanes.close(tag);
    // A subagent's own events name it, which attributes nothing.
    if (tag !== undefined && !event.type.startsWith("SUBAGENT_")) this.#attributed.add(tag);
    switch (event.type) {
      case "TEXT_MESSAGE_START":
        this.#texts.start(event.messageId, tag, textTraits(event));
        break;
      case "TEXT_MESSAGE_CONTENT":
        this.#texts.proceed(event.messageId, tag);
        break;
      case "TEXT_MESSAGE_END":
        this.#texts.end(event.messageId, tag);
        break;
      case "TEXT_MESSAGE_CHUNK":
        this.#lanes.take(this.#texts, event.messageId, tag, event, textTraits(event), []);
        break;
      case "TOOL_CALL_START":
        this.#startCall(event, tag);
        break;
      case "TOOL_CALL_ARGS":
        this.#calls.proceed(event.toolCallId, tag);
        break;
      case "TOOL_CALL_END":
        this.#calls.end(event.toolCallId, tag);
        break;
      case "TOOL_CALL_CHUNK":
        if (event.toolCallId !== undefined) this.#callsInOrder.add(event.toolCallId);
        if (event.parentMessageId !== undefined) this.#texts.agree(event.parentMessageId, tag);
        this.#lanes.take(this.#calls, event.toolCallId, tag, event, callTraits(event), ["toolCallName"]);
        break;
      case "TOOL_CALL_RESULT":
        this.#takeResult(event, tag);
        break;
      case "REASONING_START":
        this.#spans.start(event.messageId, tag, {});
        break;
      case "REASONING_END":
        this.#spans.end(event.messageId, tag);
        break;
      case "REASONING_MESSAGE_START":
        this.#reasonings.start(event.messageId, tag, {});
        break;
      case "REASONING_MESSAGE_CONTENT":
        this.#reasonings.proceed(event.messageId, tag);
        break;
      case "REASONING_MESSAGE_END":
        this.#reasonings.end(event.messageId, tag);
        break;
      case "REASONING_MESSAGE_CHUNK":
        this.#lanes.take(this.#reasonings, event.messageId, tag, event, {}, []);
        break;
      case "REASONING_ENCRYPTED_VALUE":
        this.#itemsOf(event).agree(event.entityId, tag);
        break;
      case "ACTIVITY_SNAPSHOT":
        // With `replace: false` an activity that is there stays as it is, its owner too.
        if (event.replace === false && this.#activities.known(event.messageId)) break;
        this.#activities.record(event.messageId, tag);
        break;
      case "ACTIVITY_DELTA":
        this.#activities.agree(event.messageId, tag);
        break;
      case "STEP_STARTED":
      case "STEP_FINISHED":
        this.#takeStep(event, tag);
        break;
      case "SUBAGENT_STARTED":
        this.#startSubagent(event);
        break;
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
        this.#endSubagent(event);
        break;
      case "MESSAGES_SNAPSHOT":
        this.#lanes.closeAll();
        this.recall(event.messages);
        break;
    }
  }

  #startCall(event: WireEvent, tag: Owner): void {
    const parent: string | undefined = event.parentMessageId;
    if (parent !== undefined) this.#texts.agree(parent, tag);
    // A call without a name of its own belongs to whoever owns the message it is part of.
    const owner = tag ?? (parent === undefined ? undefined : this.#texts.ownerOf(parent));
    this.#calls.start(event.toolCallId, owner, callTraits(event));
    this.#callsInOrder.add(event.toolCallId);
  }

  #takeResult(event: WireEvent, tag: Owner): void {
    const { messageId, toolCallId } = event;
    if (this.#texts.started(messageId)) {
      this.#fail(
        `the result of ${JSON.stringify(toolCallId)} takes the id ${JSON.stringify(messageId)} of another message`,
      );
    }
    this.#texts.record(messageId, tag, { role: "tool", name: undefined });
    this.#answered.add(toolCallId);
  }

  #itemsOf(event: WireEvent): Streamed {
    if (event.subtype === "tool-call") return this.#calls;
    return this.#texts.known(event.entityId) ? this.#texts : this.#reasonings;
  }

  #takeStep(event: WireEvent, tag: Owner): void {
    const steps = this.#steps.get(tag) ?? new Set();
    this.#steps.set(tag, steps);
    const step = `step ${JSON.stringify(event.stepName)} of ${ownerName(tag)}`;
    if (event.type === "STEP_FINISHED") {
      if (!steps.delete(event.stepName)) this.#fail(`no ${step} is open in this run`);
      return;
    }
    if (steps.has(event.stepName)) this.#fail(`the ${step} is open already`);
    steps.add(event.stepName);
  }

  #startSubagent(event: WireEvent): void {
    const { subagentRunId: id, parentSubagentRunId: parent } = event;
    const subagent = `the subagent ${JSON.stringify(id)}`;
    if (this.#subagents.has(id)) this.#fail(`${subagent} is active already`);
    if (this.#endedSubagents.has(id)) this.#fail(`${subagent} has ended in this run`);
    if (this.#attributed.has(id)) this.#fail(`${subagent} is announced after an event that names it`);
    if (parent !== undefined && !this.#subagents.has(parent) && !this.#endedSubagents.has(parent)) {
      this.#fail(`${subagent} has the parent ${JSON.stringify(parent)}, which was not announced in this run`);
    }
    this.#subagents.add(id);
  }

  #endSubagent(event: WireEvent): void {
    const id: string = event.subagentRunId;
    if (!this.#subagents.delete(id)) this.#fail(`no subagent ${JSON.stringify(id)} is active`);
    const left = [this.#texts, this.#calls, this.#reasonings, this.#spans].flatMap((items) => named(items, id));
    if (left.length > 0) this.#fail(`the subagent ${JSON.stringify(id)} ends with open: ${left.join(", ")}`);
    this.#endedSubagents.set(id, event.type === "SUBAGENT_ERROR" ? "error" : (event.outcome?.type ?? "success"));
    if (event.outcome?.type === "suspended") this.#suspendedOn.set(id, event.outcome.interruptIds ?? []);
  }
}

function textTraits(event: WireEvent): Traits {
  return { role: event.role ?? "assistant", name: event.name };
}

function callTraits(event: WireEvent): Traits {
  return { toolCallName: event.toolCallName, parentMessageId: event.parentMessageId };
}

/** The open items, or those of one subagent, as a message names them. */
function named(items: Streamed, subagentRunId?: string): string[] {
  const ids = [...items.open].filter((id) => subagentRunId === undefined || items.ownerOf(id) === subagentRunId);
  return ids.map((id) => `${items.kind} ${JSON.stringify(id)}`);
}
