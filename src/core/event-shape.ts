/**
 * What an agent's events are made of, as data, and one event read by it: what is malformed is refused,
 * a member the protocol does not describe is stripped, a null in an optional member is left out. The compiler
 * holds the table to the protocol's own types. It is all the checking an event gets unless `validate` asks for
 * the protocol's schemas as well.
 */
import type {
  AddOperation,
  Event,
  Interrupt,
  RemoveOperation,
  SubagentFinishedSuccessOutcome,
  SubagentFinishedSuspendedOutcome,
} from "@ag-ui/core";
import { EventRefusedError } from "./errors.ts";
import { messages, toolContent } from "./input-shape.ts";
import type { WireEvent } from "./items.ts";
import { type Finding, formatPath, readShape } from "./read-shape.ts";
import {
  type ClosedShape,
  closed,
  json,
  list,
  open,
  optional,
  required,
  type Shape,
  text,
  union,
  word,
} from "./shape.ts";

type Emitted = Exclude<Event, { type: `RUN_${string}` }>;
type Of<T extends string> = Emitted extends infer E
  ? E extends { type: infer U extends string }
    ? T extends `${U}`
      ? E
      : never
    : never
  : never;

const runScoped = {
  type: required(text),
  timestamp: optional({ kind: "whole" }),
  rawEvent: optional(json),
  metadata: optional(open),
} as const;
const base = { ...runScoped, subagentRunId: optional(text) } as const;
const message = { ...base, messageId: required(text) } as const;
const content = { ...message, delta: required(text) } as const;
const call = { ...base, toolCallId: required(text) } as const;
const step = { ...base, stepName: required(text) } as const;
const activity = { ...message, activityType: required(text) } as const;
const subagent = { ...runScoped, subagentRunId: required(text) } as const;
const delta = optional(text);
const role = optional(word("developer", "system", "assistant", "user"));

const at = { op: required(text), path: required({ kind: "pointer" }) } as const;
const write = closed<AddOperation>({ ...at, value: required(json) }, true);
const transfer = closed<{ op: "move"; from: string; path: string }>(
  { ...at, from: required({ kind: "pointer" }) },
  true,
);
const patch = list(
  union(
    "op",
    "operation",
    {
      add: write,
      replace: write,
      test: write,
      remove: closed<RemoveOperation>(at, true),
      move: transfer,
      copy: transfer,
    },
    "malformed",
  ),
);

const subagentOutcome = union(
  "type",
  "outcome",
  {
    success: closed<SubagentFinishedSuccessOutcome>({ type: required(text) }),
    suspended: closed<SubagentFinishedSuspendedOutcome>({ type: required(text), interruptIds: optional(list(text)) }),
  },
  "malformed",
);

const interrupts = list(
  closed<Interrupt>({
    id: required(text),
    reason: required(text),
    message: optional(text),
    toolCallId: optional(text),
    responseSchema: optional(open),
    expiresAt: optional(text),
    metadata: optional(open),
    subagentRunId: optional(text),
  }),
);

const EVENTS: { readonly [T in `${Emitted["type"]}`]: ClosedShape } = {
  TEXT_MESSAGE_START: closed<Of<"TEXT_MESSAGE_START">>({ ...message, role, name: optional(text) }),
  TEXT_MESSAGE_CONTENT: closed<Of<"TEXT_MESSAGE_CONTENT">>(content),
  TEXT_MESSAGE_END: closed<Of<"TEXT_MESSAGE_END">>(message),
  TEXT_MESSAGE_CHUNK: closed<Of<"TEXT_MESSAGE_CHUNK">>({
    ...base,
    messageId: optional(text),
    role,
    name: optional(text),
    delta,
  }),
  TOOL_CALL_START: closed<Of<"TOOL_CALL_START">>({
    ...call,
    toolCallName: required(text),
    parentMessageId: optional(text),
  }),
  TOOL_CALL_ARGS: closed<Of<"TOOL_CALL_ARGS">>({ ...call, delta: required(text) }),
  TOOL_CALL_END: closed<Of<"TOOL_CALL_END">>(call),
  TOOL_CALL_CHUNK: closed<Of<"TOOL_CALL_CHUNK">>({
    ...base,
    toolCallId: optional(text),
    toolCallName: optional(text),
    parentMessageId: optional(text),
    delta,
  }),
  TOOL_CALL_RESULT: closed<Of<"TOOL_CALL_RESULT">>({
    ...call,
    messageId: required(text),
    content: required(toolContent),
    role: optional(word("tool")),
  }),
  STATE_SNAPSHOT: closed<Of<"STATE_SNAPSHOT">>({ ...base, snapshot: required(json) }),
  STATE_DELTA: closed<Of<"STATE_DELTA">>({ ...base, delta: required(patch) }),
  MESSAGES_SNAPSHOT: closed<Of<"MESSAGES_SNAPSHOT">>({ ...runScoped, messages: required(list(messages)) }),
  ACTIVITY_SNAPSHOT: closed<Of<"ACTIVITY_SNAPSHOT">>({
    ...activity,
    content: required(open),
    replace: optional({ kind: "flag" }),
  }),
  ACTIVITY_DELTA: closed<Of<"ACTIVITY_DELTA">>({ ...activity, patch: required(patch) }),
  RAW: closed<Of<"RAW">>({ ...base, event: required(json), source: optional(text) }),
  CUSTOM: closed<Of<"CUSTOM">>({ ...base, name: required(text), value: required(json) }),
  STEP_STARTED: closed<Of<"STEP_STARTED">>(step),
  STEP_FINISHED: closed<Of<"STEP_FINISHED">>(step),
  REASONING_START: closed<Of<"REASONING_START">>(message),
  REASONING_END: closed<Of<"REASONING_END">>(message),
  REASONING_MESSAGE_START: closed<Of<"REASONING_MESSAGE_START">>({ ...message, role: required(word("reasoning")) }),
  REASONING_MESSAGE_CONTENT: closed<Of<"REASONING_MESSAGE_CONTENT">>(content),
  REASONING_MESSAGE_END: closed<Of<"REASONING_MESSAGE_END">>(message),
  REASONING_MESSAGE_CHUNK: closed<Of<"REASONING_MESSAGE_CHUNK">>({ ...base, messageId: optional(text), delta }),
  REASONING_ENCRYPTED_VALUE: closed<Of<"REASONING_ENCRYPTED_VALUE">>({
    ...base,
    subtype: required(word("tool-call", "message")),
    entityId: required(text),
    encryptedValue: required(text),
  }),
  SUBAGENT_STARTED: closed<Of<"SUBAGENT_STARTED">>({
    ...subagent,
    name: required(text),
    description: optional(text),
    parentSubagentRunId: optional(text),
    parentToolCallId: optional(text),
    parentMessageId: optional(text),
  }),
  SUBAGENT_FINISHED: closed<Of<"SUBAGENT_FINISHED">>({
    ...subagent,
    result: optional(json),
    outcome: optional(subagentOutcome),
  }),
  SUBAGENT_ERROR: closed<Of<"SUBAGENT_ERROR">>({ ...subagent, message: required(text), code: optional(text) }),
};

/** Told of what the protocol does not describe and is gone. */
export type Stripped = (type: string, finding: Finding) => void;

/** The event as it may go out, a new object. @throws EventRefusedError */
export function shape(given: unknown, stripped: Stripped): WireEvent {
  const type = attempt(() => (given as Partial<WireEvent> | null | undefined)?.type, "An event");
  const known =
    typeof type === "string" && Object.hasOwn(EVENTS, type) ? EVENTS[type as keyof typeof EVENTS] : undefined;
  if (known === undefined) throw new EventRefusedError(unknownType(type));
  return read(known, () => withRole(given as WireEvent), type as string, stripped) as WireEvent;
}

/** Where there is one possible role it goes without saying. */
const withRole = (event: WireEvent): WireEvent =>
  event.type === "REASONING_MESSAGE_START" && (event.role ?? null) === null ? { ...event, role: "reasoning" } : event;

/** Interrupts that an agent keeps itself, as they may go out. @throws EventRefusedError */
export function shapeInterrupts(given: unknown, stripped: Stripped): Interrupt[] {
  const all = read(interrupts, () => given, "interrupts", stripped) as Interrupt[];
  if (all.length === 0) throw new EventRefusedError("An interrupt outcome needs at least one interrupt.");
  if (new Set(all.map(({ id }) => id)).size < all.length)
    throw new EventRefusedError("Two of the interrupts have one id.");
  return all;
}

function read(shape: Shape, given: () => unknown, what: string, stripped: Stripped): unknown {
  const { value, issues, findings } = attempt(() => readShape(shape, given(), true), what);
  const [issue] = issues;
  if (issue !== undefined)
    throw new EventRefusedError(`${what}: ${formatPath(issue.path, "the whole")}: ${issue.message}.`);
  for (const finding of findings) if (finding.kind === "stripped") stripped(what, finding);
  return value;
}

/** A getter or a `toJSON` may throw. */
function attempt<T>(reading: () => T, what: string): T {
  try {
    return reading();
  } catch (cause) {
    throw new EventRefusedError(`${what} cannot be said in JSON.`, { cause });
  }
}

function unknownType(type: unknown): string {
  if (type === undefined) return "An event must be an object with a `type`.";
  return typeof type === "string" && type.startsWith("RUN_")
    ? `${type} is written by the server; an agent returns or throws instead.`
    : `${String(type)} is no event of AG-UI 1.0.`;
}
