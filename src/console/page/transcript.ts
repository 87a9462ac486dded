/**
 * The conversation as the page shows it: pure steps from events to items. An item keeps its place
 * from the moment it appears, so what is said while a tool runs stands below that tool.
 */
import { type BaseEvent, contentToText, type Message } from "@ag-ui/client";

/** One thing in the conversation, top to bottom. */
export type Item =
  | { readonly kind: "user"; readonly id: string; readonly text: string }
  | { readonly kind: "text" | "reasoning"; readonly id: string; readonly text: string; readonly open: boolean }
  | ToolItem
  | { readonly kind: "answers"; readonly id: string; readonly answers: readonly GivenAnswer[] }
  | { readonly kind: "activity"; readonly id: string; readonly name: string; readonly content: unknown }
  | { readonly kind: "result"; readonly id: string; readonly value: unknown }
  | {
      readonly kind: "subagent";
      readonly id: string;
      readonly name: string;
      readonly state: "working" | "done" | "failed";
    }
  | { readonly kind: "notice"; readonly id: string; readonly notice: Notice };

export interface ToolItem {
  readonly kind: "tool";
  readonly id: string;
  readonly name: string;
  /** As streamed: JSON once it is whole, and what a model wrote if it is none. */
  readonly args: string;
  readonly result: string | undefined;
  readonly subagent: string | undefined;
}

/** What a human answered, kept in the conversation. */
export interface GivenAnswer {
  readonly question: string;
  /** In words; `undefined` where the question was given up. */
  readonly answer: string | undefined;
}

/** Something that is not the agent's to say: a refusal, a failure, an end before the end. */
export interface Notice {
  readonly tone: "info" | "warning" | "error";
  readonly code: string | undefined;
  readonly message: string;
  readonly advice: string | undefined;
}

/** An event's members that are read here, whatever its type. */
type Fields = BaseEvent & { [member: string]: unknown };

/** What one more event makes of the conversation. Events that show nothing give the same array. */
export function applyEvent(items: readonly Item[], event: BaseEvent): readonly Item[] {
  const fields = event as Fields;
  const id = String(fields.messageId ?? "");
  switch (String(event.type)) {
    case "TEXT_MESSAGE_START":
      return open(
        items,
        fields.role === "user" ? { kind: "user", id, text: "" } : { kind: "text", id, text: "", open: true },
      );
    case "TEXT_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_CONTENT":
      return update(items, id, (item) => ("text" in item ? { ...item, text: item.text + String(fields.delta) } : item));
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_END":
      return update(items, id, (item) => ("open" in item ? { ...item, open: false } : item));
    case "REASONING_MESSAGE_START":
      return open(items, { kind: "reasoning", id, text: "", open: true });
    case "TOOL_CALL_START":
      return open(items, {
        kind: "tool",
        id: String(fields.toolCallId),
        name: String(fields.toolCallName),
        args: "",
        result: undefined,
        subagent: fields.subagentRunId as string | undefined,
      });
    case "TOOL_CALL_ARGS":
      return updateTool(items, fields, (tool) => ({ ...tool, args: tool.args + String(fields.delta) }));
    case "TOOL_CALL_RESULT":
      return updateTool(items, fields, (tool) => ({ ...tool, result: textOf(fields.content) }));
    case "ACTIVITY_SNAPSHOT":
      return put(items, { kind: "activity", id, name: String(fields.activityType), content: fields.content });
    case "SUBAGENT_STARTED":
      return open(items, {
        kind: "subagent",
        id: String(fields.subagentRunId),
        name: String(fields.name),
        state: "working",
      });
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR": {
      const state = String(event.type) === "SUBAGENT_ERROR" ? "failed" : "done";
      return update(items, String(fields.subagentRunId), (item) =>
        item.kind === "subagent" ? { ...item, state } : item,
      );
    }
    case "MESSAGES_SNAPSHOT":
      return fromMessages(fields.messages as Message[], items);
    default:
      return items;
  }
}

/** Puts an item last; one that is there already (a message that goes on after a question) is opened again. */
function open(items: readonly Item[], item: Item): readonly Item[] {
  const known = items.some((each) => each.id === item.id && each.kind === item.kind);
  if (!known) return [...items, item];
  return update(items, item.id, (each) => ("open" in each ? { ...each, open: true } : each));
}

/** Puts an item in the place of the one with its id, else last. */
function put(items: readonly Item[], item: Item): readonly Item[] {
  return items.some(({ id }) => id === item.id) ? update(items, item.id, () => item) : [...items, item];
}

function update(items: readonly Item[], id: string, change: (item: Item) => Item): readonly Item[] {
  // From the end: what changes is nearly always the last one.
  const index = items.findLastIndex((item) => item.id === id);
  const item = items[index];
  return item === undefined ? items : items.with(index, change(item));
}

function updateTool(items: readonly Item[], fields: Fields, change: (tool: ToolItem) => ToolItem): readonly Item[] {
  return update(items, String(fields.toolCallId), (item) => (item.kind === "tool" ? change(item) : item));
}

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : contentToText(content as Parameters<typeof contentToText>[0]);

/** The conversation an agent declares it to be; what is not made of messages keeps its place at the end. */
function fromMessages(messages: readonly Message[], items: readonly Item[]): readonly Item[] {
  let shown: readonly Item[] = [];
  for (const message of messages) {
    if (message.role === "user") shown = [...shown, { kind: "user", id: message.id, text: textOf(message.content) }];
    if (message.role === "reasoning") {
      shown = [...shown, { kind: "reasoning", id: message.id, text: textOf(message.content), open: false }];
    }
    if (message.role === "activity") {
      shown = [...shown, { kind: "activity", id: message.id, name: message.activityType, content: message.content }];
    }
    if (message.role === "assistant") {
      if (message.content)
        shown = [...shown, { kind: "text", id: message.id, text: textOf(message.content), open: false }];
      for (const { id, function: called } of message.toolCalls ?? []) {
        const { name, arguments: args } = called;
        shown = [...shown, { kind: "tool", id, name, args, result: undefined, subagent: undefined }];
      }
    }
    if (message.role === "tool") {
      shown = update(shown, message.toolCallId, (item) =>
        item.kind === "tool" ? { ...item, result: textOf(message.content) } : item,
      );
    }
  }
  const others = items.filter(({ kind }) => kind === "answers" || kind === "notice" || kind === "result");
  return [...shown, ...others];
}

/** What is left open when a run ends is not being written any more. */
export function closeOpen(items: readonly Item[]): readonly Item[] {
  return items.map((item) => ("open" in item && item.open ? { ...item, open: false } : item));
}
