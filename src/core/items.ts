/**
 * What has a beginning and an end on the wire: the kinds there are, the events that begin, continue and end
 * one, and those events written for an item.
 */
import { isWhole, wellFormed } from "./frames.ts";

/** An event as the wire has it. */
export type WireEvent = { type: string; subagentRunId?: string; [member: string]: unknown };

export type Kind = "text" | "call" | "reasoning" | "span" | "step" | "subagent";
type Phase = "start" | "append" | "end";

/** Something with a beginning and an end on the wire. */
export interface Item {
  readonly kind: Kind;
  readonly id: string;
  readonly owner: string | undefined;
  /** What opened it, and opens it again after an interrupt. */
  readonly start: WireEvent;
  state: "open" | "suspended" | "closed";
  /** Which of the turn's runs it was opened in. */
  readonly run: number;
  /** It was ended before its agent said so: when that end comes, it has nothing to send. */
  early?: boolean;
  /** A subagent whose agent said that it is suspended: a later run may go on with it. */
  waits?: boolean;
  /** A call of a tool that was the client's when it was shown: the client answers it. */
  forClient?: boolean;
  /** A call that has its result. */
  answered?: boolean;
  /** The first half of a surrogate pair, waiting for the delta with the second. */
  half: string;
  /** What frames of its deltas begin with, once one was made. */
  head?: string;
}

/** Which events concern which kind, and the member that names the item. */
export const PARTS: Readonly<Record<string, readonly [Kind, Phase, string]>> = {
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
export const KINDS: Readonly<Record<Kind, { end: string; append?: string; id: string; noun: string }>> = {
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

/** Steps are counted per owner, everything else by id alone. */
export const keyOf = (kind: Kind, id: string, owner: string | undefined): string =>
  kind !== "step" ? `${kind} ${id}` : owner === undefined ? `step - ${id}` : `step ${owner.length} ${owner}${id}`;

const owned = (item: Item): { subagentRunId?: string } =>
  item.owner === undefined ? {} : { subagentRunId: item.owner };

/** The event that ends an item. */
export const endOf = (item: Item): WireEvent => ({
  type: KINDS[item.kind].end,
  [KINDS[item.kind].id]: item.id,
  ...owned(item),
});

/** The event that opens an item again. */
export const startAgain = ({ start }: Item): WireEvent => {
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
