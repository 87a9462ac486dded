/**
 * The members an event cannot be read without, checked when the agent emits it. Everything else
 * about an event's shape is checked with `validate: true`, against the protocol's own schemas.
 */
import { omitOptionalNulls } from "@ag-ui/core";
import { EventRefusedError } from "./errors.ts";
import type { WireEvent } from "./ledger.ts";

type Need = "string" | "any" | "array" | "object" | "content";

const message: Record<string, Need> = { messageId: "string" };
const fragment: Record<string, Need> = { messageId: "string", delta: "string" };
const call: Record<string, Need> = { toolCallId: "string" };

const NEEDS: Readonly<Record<string, Readonly<Record<string, Need>>>> = {
  TEXT_MESSAGE_START: message,
  TEXT_MESSAGE_CONTENT: fragment,
  TEXT_MESSAGE_END: message,
  TEXT_MESSAGE_CHUNK: {},
  TOOL_CALL_START: { toolCallId: "string", toolCallName: "string" },
  TOOL_CALL_ARGS: { toolCallId: "string", delta: "string" },
  TOOL_CALL_END: call,
  TOOL_CALL_CHUNK: {},
  TOOL_CALL_RESULT: { messageId: "string", toolCallId: "string", content: "content" },
  STATE_SNAPSHOT: { snapshot: "any" },
  STATE_DELTA: { delta: "array" },
  MESSAGES_SNAPSHOT: { messages: "array" },
  ACTIVITY_SNAPSHOT: { messageId: "string", activityType: "string", content: "object" },
  ACTIVITY_DELTA: { messageId: "string", activityType: "string", patch: "array" },
  RAW: { event: "any" },
  CUSTOM: { name: "string", value: "any" },
  STEP_STARTED: { stepName: "string" },
  STEP_FINISHED: { stepName: "string" },
  REASONING_START: message,
  REASONING_END: message,
  REASONING_MESSAGE_START: message,
  REASONING_MESSAGE_CONTENT: fragment,
  REASONING_MESSAGE_END: message,
  REASONING_MESSAGE_CHUNK: {},
  REASONING_ENCRYPTED_VALUE: { subtype: "string", entityId: "string", encryptedValue: "string" },
  SUBAGENT_STARTED: { subagentRunId: "string", name: "string" },
  SUBAGENT_FINISHED: { subagentRunId: "string" },
  SUBAGENT_ERROR: { subagentRunId: "string", message: "string" },
};

const OPTIONAL_STRINGS = [
  "subagentRunId",
  "messageId",
  "toolCallId",
  "delta",
  "toolCallName",
  "parentMessageId",
  "name",
];

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const fits: Readonly<Record<Need, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  any: (value) => value !== undefined && typeof value !== "function" && typeof value !== "symbol",
  array: Array.isArray,
  object: isObject,
  content: (value) => typeof value === "string" || Array.isArray(value),
};

/**
 * The event as it may go out: `null` in optional members left out (AG-UI: an optional member without a value
 * is omitted), a fractional `timestamp` rounded. @throws EventRefusedError
 */
export function shape(given: unknown): WireEvent {
  if (!isObject(given)) throw new EventRefusedError("An event must be an object with a `type`.");
  const { type } = given as WireEvent;
  const needs = typeof type === "string" && Object.hasOwn(NEEDS, type) ? NEEDS[type] : undefined;
  if (needs === undefined) {
    const own = typeof type === "string" && type.startsWith("RUN_");
    throw new EventRefusedError(
      own
        ? `${type} is written by the server; an agent returns or throws instead.`
        : `${String(type)} is no event of AG-UI 1.0.`,
    );
  }
  const event = omitOptionalNulls(given as WireEvent, "Event");
  for (const member in needs) {
    if (!fits[needs[member] as Need](event[member]))
      throw new EventRefusedError(`${type}: \`${member}\` is missing or of the wrong kind.`);
  }
  for (const member of OPTIONAL_STRINGS) {
    if (event[member] !== undefined && !(member in needs) && typeof event[member] !== "string")
      throw new EventRefusedError(`${type}: \`${member}\` must be a string.`);
  }
  if (event.metadata !== undefined && !isObject(event.metadata))
    throw new EventRefusedError(`${type}: \`metadata\` must be an object.`);
  if (type === "REASONING_MESSAGE_START" && event.role !== "reasoning") return { ...event, role: "reasoning" };
  return event.timestamp === undefined ? event : withWholeTimestamp(event);
}

function withWholeTimestamp(event: WireEvent): WireEvent {
  const timestamp = Math.round(Number(event.timestamp));
  if (timestamp === event.timestamp) return event;
  if (!Number.isSafeInteger(timestamp))
    throw new EventRefusedError(`${event.type}: \`timestamp\` must be a whole number of milliseconds.`);
  return { ...event, timestamp };
}
