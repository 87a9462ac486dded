/**
 * What a RunAgentInput is made of, as data: one line a member, for `input.ts` to read by. The compiler
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

/** How one value is read. */
export type Shape =
  | { readonly kind: "text" }
  /** One of a fixed set of words; another one is malformed, not unknown. */
  | { readonly kind: "word"; readonly words: readonly string[] }
  /** An object that is the application's: taken over as it is, never looked into. */
  | { readonly kind: "open" }
  /** Any JSON value, taken over as it is. `onNull`: what a null stands for where the rule for optional members does not hold. */
  | { readonly kind: "json"; readonly onNull: "state" | "kept" | undefined }
  | ListShape
  | { readonly kind: "textOrList"; readonly list: ListShape }
  | ClosedShape
  | UnionShape;

export interface ListShape {
  readonly kind: "list";
  readonly of: ClosedShape | UnionShape;
}

/** An object whose members are all known; any other is stripped. */
export interface ClosedShape {
  readonly kind: "closed";
  readonly members: ReadonlyMap<string, Member>;
  /** The bits of all required members. */
  readonly required: number;
}

/** A closed object that says in one member which one it is. A value no member knows makes the whole list element unknown. */
export interface UnionShape {
  readonly kind: "union";
  readonly tag: string;
  /** What one is called in a warning. */
  readonly noun: string;
  readonly options: ReadonlyMap<string, ClosedShape>;
  /** Whether the `binary` part of protocol versions before 1.0 was one of them. */
  readonly takesBinary: boolean;
}

export interface Member {
  readonly shape: Shape;
  /** The member's own bit where it is required, 0 where it is optional. */
  readonly bit: number;
}

/** A member of the table before it has its bit. */
interface Declared<Required extends boolean> {
  readonly shape: Shape;
  readonly required: Required;
}
type Declaration<T> = { readonly [K in keyof T]-?: Declared<Partial<Pick<T, K>> extends Pick<T, K> ? false : true> };

const required = (shape: Shape): Declared<true> => ({ shape, required: true });
const optional = (shape: Shape): Declared<false> => ({ shape, required: false });
const list = (of: ClosedShape | UnionShape): ListShape => ({ kind: "list", of });

function closed<T>(declaration: Declaration<T>): ClosedShape {
  const members = new Map<string, Member>();
  let bits = 0;
  for (const [name, declared] of Object.entries<Declared<boolean>>(declaration)) {
    const bit = declared.required ? 1 << members.size : 0;
    members.set(name, { shape: declared.shape, bit });
    bits |= bit;
  }
  return { kind: "closed", members, required: bits };
}

function union(
  tag: string,
  noun: string,
  options: Readonly<Record<string, ClosedShape>>,
  takesBinary = false,
): UnionShape {
  return { kind: "union", tag, noun, options: new Map(Object.entries(options)), takesBinary };
}

const text: Shape = { kind: "text" };
const open: Shape = { kind: "open" };
const json: Shape = { kind: "json", onNull: undefined };

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
const userContent: Shape = { kind: "textOrList", list: list(union("type", "content part", parts, true)) };
const toolContent: Shape = { kind: "textOrList", list: list(union("type", "content part", parts)) };

const toolCall = closed<ToolCall>({
  id: required(text),
  type: required({ kind: "word", words: ["function"] }),
  function: required(closed<FunctionCall>({ name: required(text), arguments: required(text) })),
  encryptedValue: optional(text),
  metadata: optional(open),
});

const message = { id: required(text), role: required(text), subagentRunId: optional(text), metadata: optional(open) };
const named = { ...message, name: optional(text), encryptedValue: optional(text) };
const messages = union("role", "message", {
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
  status: required({ kind: "word", words: ["resolved", "cancelled"] }),
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
