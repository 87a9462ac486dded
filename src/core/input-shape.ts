/**
 * What a RunAgentInput is made of, as data: one line a member, for `read-shape.ts` to read by. The compiler
 * holds the table to the protocol's own types: a member that is missing here, is unknown there, or is
 * required on one side only does not build. What a member's value may be is held by a test against the
 * protocol's schemas.
 */
import type {
  ActivityMessage,
  AssistantMessage,
  AudioPart,
  Context,
  DataSource,
  DeveloperMessage,
  DocumentPart,
  FileSource,
  FunctionCall,
  ImagePart,
  ReasoningMessage,
  ResumeEntry,
  RunAgentInput,
  SystemMessage,
  TextPart,
  Tool,
  ToolCall,
  ToolMessage,
  UrlSource,
  UserMessage,
  VideoPart,
} from "@ag-ui/core";
import { closed, json, list, open, optional, required, type Shape, text, union, word } from "./shape.ts";

const source = union("type", "content part with a source", {
  data: closed<DataSource>({ type: required(text), value: required(text), mimeType: required(text) }),
  url: closed<UrlSource>({ type: required(text), value: required(text), mimeType: optional(text) }),
  file: closed<FileSource>({
    type: required(text),
    value: required(text),
    provider: optional(text),
    mimeType: optional(text),
  }),
});

// A content part's metadata is any JSON value; everywhere else metadata is an object.
const part = { type: required(text), id: optional(text), metadata: optional(json) };
const parts = {
  text: closed<TextPart>({ ...part, text: required(text) }),
  image: closed<ImagePart>({ ...part, source: required(source) }),
  audio: closed<AudioPart>({ ...part, source: required(source) }),
  video: closed<VideoPart>({ ...part, source: required(source) }),
  document: closed<DocumentPart>({ ...part, source: required(source) }),
};
const userContent: Shape = { kind: "textOrList", list: list(union("type", "content part", parts, "binary")) };
export const toolContent: Shape = { kind: "textOrList", list: list(union("type", "content part", parts)) };

const toolCall = closed<ToolCall>({
  id: required(text),
  type: required(word("function")),
  function: required(closed<FunctionCall>({ name: required(text), arguments: required(text) })),
  encryptedValue: optional(text),
  metadata: optional(open),
});

const message = { id: required(text), role: required(text), subagentRunId: optional(text), metadata: optional(open) };
const named = { ...message, name: optional(text), encryptedValue: optional(text) };
export const messages = union("role", "message", {
  developer: closed<DeveloperMessage>({ ...named, content: required(text) }),
  system: closed<SystemMessage>({ ...named, content: required(text) }),
  assistant: closed<AssistantMessage>({ ...named, content: optional(text), toolCalls: optional(list(toolCall)) }),
  user: closed<UserMessage>({ ...named, content: required(userContent) }),
  tool: closed<ToolMessage>({
    ...message,
    toolCallId: required(text),
    content: required(toolContent),
    error: optional(text),
    encryptedValue: optional(text),
  }),
  activity: closed<ActivityMessage>({ ...message, activityType: required(text), content: required(open) }),
  reasoning: closed<ReasoningMessage>({ ...message, content: required(text), encryptedValue: optional(text) }),
});

const tool = closed<Tool>({
  name: required(text),
  description: required(text),
  parameters: optional(json),
  metadata: optional(open),
});

const resumeEntry = closed<ResumeEntry>({
  interruptId: required(text),
  // Not an unknown union member that may be dropped: that would leave an interrupt without its answer.
  status: required(word("resolved", "cancelled")),
  payload: optional({ kind: "json", onNull: "kept" }),
  metadata: optional(open),
});

/** `tools` and `context` are optional on the wire only: what is read always has them. */
type WireInput = Omit<RunAgentInput, "tools" | "context"> & Partial<Pick<RunAgentInput, "tools" | "context">>;

export const inputShape = closed<WireInput>({
  threadId: required(text),
  runId: required(text),
  protocolVersion: optional(text),
  parentRunId: optional(text),
  state: optional({ kind: "json", onNull: "state" }),
  messages: required(list(messages)),
  tools: optional(list(tool)),
  context: optional(list(closed<Context>({ description: required(text), value: required(text) }))),
  forwardedProps: optional(json),
  resume: optional(list(resumeEntry)),
});
