/**
 * Events at random, of all types, right and wrong: ids come from small pools so that they meet, members are left out, set
 * to nothing or to something else, and added.
 */
import type { Message } from "@ag-ui/core";
import type { Random } from "./random.ts";

export interface Given {
  readonly random: Random;
  /** The history: ids of its messages are drawn too. */
  readonly messages: readonly Message[];
  /** Makes the turn's new message ids its own: what activities an earlier turn showed, no client says. */
  readonly turn: number;
}

export const CALLS = ["c1", "c2", "c3"];
const SUBAGENTS = ["s1", "s2"];
const STEPS = ["plan", "act"];
const TOOLS = ["book", "search"];
/** A tool of the client's, that its inputs advertise. */
export const CLIENT_TOOL = "pick_a_seat";
const DELTAS = ["Hello", "", "a\r\nb", "\u2028\u0085", "\ud83d", "\ude00", "😀", "{", '"quoted"'];
const WRONG: readonly unknown[] = [null, 7, "", [], {}, true, Number.NaN, 1n, undefined, "no such"];

const json = (random: Random): unknown =>
  random.pick<unknown>([null, 0, "", false, [], {}, { a: null }, { a: 1, b: [1, { c: "d" }] }, "text", [1, 2]]);

/** An id that may be of the history. */
const messageId = ({ random, messages, turn }: Given): string =>
  random.percent(8) && messages.length > 0 ? random.pick(messages).id : `m${1 + random.int(3)} of ${turn}`;

const role = (random: Random) => (random.percent(50) ? {} : { role: random.pick(["assistant", "user", "system"]) });

const operation = (random: Random): object =>
  random.pick<object>([
    { op: "add", path: "/a", value: json(random) },
    { op: "replace", path: "/a", value: 2 },
    { op: "remove", path: "/b" },
    { op: "test", path: "/a", value: 1 },
    { op: "add", path: "/b/-", value: 3 },
    { op: "replace", path: "", value: { whole: 1 } },
    { op: "move", from: "/a", path: "/c" },
    { op: "frob", path: "/a" },
    { op: "add", path: "/u", value: undefined },
    { op: "add", path: "no pointer", value: 1 },
  ]);
const patch = (random: Random): object[] => Array.from({ length: random.int(3) }, () => operation(random));

const snapshotOfMessages = (given: Given): unknown => {
  const { random, messages } = given;
  const more: Message = { id: messageId(given), role: "assistant", content: "Restated." };
  return random.pick<unknown>([
    messages,
    [...messages, more],
    [more, more],
    [],
    messages.slice(0, -1),
    [{ id: "odd", role: "alien" }],
    "none",
  ]);
};

type Make = (given: Given) => Record<string, unknown>;

const MAKERS: Readonly<Record<string, Make>> = {
  TEXT_MESSAGE_START: (given) => ({ messageId: messageId(given), ...role(given.random) }),
  TEXT_MESSAGE_CONTENT: (given) => ({ messageId: messageId(given), delta: given.random.pick(DELTAS) }),
  TEXT_MESSAGE_END: (given) => ({ messageId: messageId(given) }),
  TEXT_MESSAGE_CHUNK: (given) => ({
    ...(given.random.percent(60) && { messageId: messageId(given) }),
    ...(given.random.percent(80) && { delta: given.random.pick(DELTAS) }),
  }),
  TOOL_CALL_START: (given) => ({
    toolCallId: given.random.pick(CALLS),
    toolCallName: given.random.pick([...TOOLS, CLIENT_TOOL]),
    ...(given.random.percent(30) && { parentMessageId: messageId(given) }),
  }),
  TOOL_CALL_ARGS: ({ random }) => ({ toolCallId: random.pick(CALLS), delta: random.pick(DELTAS) }),
  TOOL_CALL_END: ({ random }) => ({ toolCallId: random.pick(CALLS) }),
  TOOL_CALL_CHUNK: ({ random }) => ({
    ...(random.percent(60) && { toolCallId: random.pick(CALLS), toolCallName: random.pick(TOOLS) }),
    delta: random.pick(DELTAS),
  }),
  TOOL_CALL_RESULT: (given) => ({
    toolCallId: given.random.pick(CALLS),
    messageId: given.random.percent(70) ? `result ${given.random.int(50)}` : messageId(given),
    content: given.random.pick<unknown>(["done", "", [{ type: "text", text: "done" }], { not: "content" }]),
  }),
  REASONING_START: (given) => ({ messageId: messageId(given) }),
  REASONING_END: (given) => ({ messageId: messageId(given) }),
  REASONING_MESSAGE_START: (given) => ({ messageId: messageId(given), role: "reasoning" }),
  REASONING_MESSAGE_CONTENT: (given) => ({ messageId: messageId(given), delta: given.random.pick(DELTAS) }),
  REASONING_MESSAGE_END: (given) => ({ messageId: messageId(given) }),
  REASONING_MESSAGE_CHUNK: (given) => ({
    ...(given.random.percent(60) && { messageId: messageId(given) }),
    delta: given.random.pick(DELTAS),
  }),
  REASONING_ENCRYPTED_VALUE: (given) => ({
    subtype: given.random.pick(["message", "tool-call"]),
    entityId: given.random.percent(50) ? messageId(given) : given.random.pick(CALLS),
    encryptedValue: "sealed",
  }),
  STEP_STARTED: ({ random }) => ({ stepName: random.pick(STEPS) }),
  STEP_FINISHED: ({ random }) => ({ stepName: random.pick(STEPS) }),
  SUBAGENT_STARTED: ({ random }) => ({
    subagentRunId: random.pick(SUBAGENTS),
    name: "Booker",
    ...(random.percent(30) && { parentSubagentRunId: random.pick(SUBAGENTS) }),
  }),
  SUBAGENT_FINISHED: ({ random }) => ({
    subagentRunId: random.pick(SUBAGENTS),
    ...(random.percent(30) && { outcome: { type: random.pick(["success", "suspended", "paused"]) } }),
  }),
  SUBAGENT_ERROR: ({ random }) => ({ subagentRunId: random.pick(SUBAGENTS), message: "It failed." }),
  STATE_SNAPSHOT: ({ random }) => ({ snapshot: json(random) }),
  STATE_DELTA: ({ random }) => ({ delta: patch(random) }),
  MESSAGES_SNAPSHOT: (given) => ({ messages: snapshotOfMessages(given) }),
  ACTIVITY_SNAPSHOT: (given) => ({
    messageId: messageId(given),
    activityType: "acme:plan",
    content: given.random.pick<unknown>([{ a: 1 }, {}, "no object"]),
    ...(given.random.percent(30) && { replace: given.random.percent(50) }),
  }),
  ACTIVITY_DELTA: (given) => ({
    messageId: messageId(given),
    activityType: "acme:plan",
    patch: patch(given.random),
  }),
  CUSTOM: ({ random }) => ({ name: "acme:note", value: json(random) }),
  RAW: ({ random }) => ({ event: json(random), source: "acme" }),
  THINKING_START: () => ({ title: "retired" }),
  NO_SUCH_EVENT: () => ({}),
  RUN_STARTED: () => ({ threadId: "t", runId: "r" }),
  RUN_FINISHED: () => ({ threadId: "t", runId: "r" }),
  RUN_ERROR: () => ({ message: "no" }),
};

const TYPES = Object.keys(MAKERS);

/** One event; of every hundred, twelve are damaged. */
export function randomEvent(given: Given): Record<string, unknown> {
  const { random } = given;
  const type = random.pick(TYPES);
  const event: Record<string, unknown> = { type, ...MAKERS[type]?.(given) };
  if (event.subagentRunId === undefined && random.percent(15)) event.subagentRunId = random.pick(SUBAGENTS);
  if (random.percent(6)) event.timestamp = random.pick<unknown>([1, 1.5, Date.UTC(2100, 0, 1), "soon", null]);
  if (random.percent(6)) event.metadata = random.pick<unknown>([{ "acme:a": null }, {}, null, "no"]);
  if (random.percent(3)) event.rawEvent = json(random);
  if (random.percent(12)) damage(event, random);
  return event;
}

function damage(event: Record<string, unknown>, random: Random): void {
  const member = random.pick(Object.keys(event));
  const how = random.int(3);
  if (how === 0) delete event[member];
  else if (how === 1) event[member] = random.pick(WRONG);
  else event[random.pick(["extra", "__proto__x", "constructor", "outcome"])] = random.pick(WRONG);
}
