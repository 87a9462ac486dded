/**
 * Content parts between the protocol and the AI SDK, in both directions: what a user or a tool
 * message holds becomes what a model takes, and what a tool gives a model becomes what the wire takes.
 */
import type { ContentPart, PartSource } from "@ag-ui/core";
import type { FilePart, TextPart, ToolResultPart } from "ai";

/** What a tool's result is to a model. */
export type ToolOutput = ToolResultPart["output"];
type OutputPart = Extract<ToolOutput, { type: "content" }>["value"][number];

/** Decides about media, and is told of each part that is left out. */
export interface PartRules {
  /** Whether the model takes this media type. */
  readonly accepts: (mediaType: string) => boolean;
  readonly skipped: (what: string) => void;
}

/** A part that says no media type of its own is of any type of its kind. */
const ANY = { image: "image/*", audio: "audio/*", video: "video/*", document: "application/octet-stream" } as const;

const mediaTypeOf = (part: Exclude<ContentPart, { type: "text" }>): string => part.source.mimeType ?? ANY[part.type];

/** A media part's source, where the model can have it. A provider's file handle is opaque: nothing here resolves it. */
function usable(
  part: Exclude<ContentPart, { type: "text" }>,
  { accepts, skipped }: PartRules,
): Exclude<PartSource, { type: "file" }> | undefined {
  const { source } = part;
  if (source.type === "file") skipped(`a provider's file handle (${part.type})`);
  else if (!accepts(mediaTypeOf(part))) skipped(`a part of type ${mediaTypeOf(part)}`);
  else if (source.type === "url" && !URL.canParse(source.value)) skipped(`a part without an address (${part.type})`);
  // The AI SDK would take an address for one, and have it fetched.
  else if (source.type === "data" && !source.value.startsWith("data:") && URL.canParse(source.value))
    skipped(`a part whose data is an address (${part.type})`);
  else return source;
  return undefined;
}

/** A user message's content. Empty text is left out: providers refuse it. */
export function toUserContent(content: string | ContentPart[], rules: PartRules): (TextPart | FilePart)[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  const parts: (TextPart | FilePart)[] = [];
  for (const part of content) {
    if (part.type === "text") {
      if (part.text !== "") parts.push({ type: "text", text: part.text });
      continue;
    }
    const source = usable(part, rules);
    if (source === undefined) continue;
    const data = source.type === "url" ? new URL(source.value) : source.value;
    parts.push({ type: "file", data, mediaType: mediaTypeOf(part) });
  }
  // A message of nothing but what was left out still has its place in the conversation.
  if (parts.length === 0 && content.length > 0) parts.push({ type: "text", text: "[Content this model cannot read]" });
  return parts;
}

/** A tool message's content. A call is always answered: with nothing left, by an empty text. */
export function toToolOutput(content: string | ContentPart[], error: string | undefined, rules: PartRules): ToolOutput {
  if (error !== undefined) return { type: "error-text", value: error };
  if (typeof content === "string") return { type: "text", value: content };
  const value: OutputPart[] = [];
  for (const part of content) {
    if (part.type === "text") {
      value.push({ type: "text", text: part.text });
      continue;
    }
    const source = usable(part, rules);
    if (source === undefined) continue;
    const mediaType = mediaTypeOf(part);
    const image = part.type === "image";
    if (source.type === "data") value.push({ type: image ? "image-data" : "file-data", data: source.value, mediaType });
    else if (image) value.push({ type: "image-url", url: source.value });
    else value.push({ type: "file-url", url: source.value, mediaType });
  }
  const [first] = value;
  if (first === undefined) return { type: "text", value: "" };
  return value.length === 1 && first.type === "text" ? { type: "text", value: first.text } : { type: "content", value };
}

/** What a model is given where a tool does not say: text as it is, nothing as nothing, anything else as JSON. */
export function outputOf(result: unknown): ToolOutput {
  if (typeof result === "string") return { type: "text", value: result };
  const json = result === undefined || result === null ? undefined : JSON.stringify(result);
  // Read back: a model is told what JSON says of the result, the same as the client.
  return json === undefined ? { type: "text", value: "" } : { type: "json", value: JSON.parse(json) };
}

/** A result as the wire takes it: what the client keeps is what a later run gives the model again. */
export function toWire(output: ToolOutput): string | ContentPart[] {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "json":
    case "error-json":
      return typeof output.value === "string" ? output.value : JSON.stringify(output.value);
    case "execution-denied":
      return output.reason ?? "";
    case "content": {
      const parts = output.value.flatMap(toWirePart);
      return parts.length === 0 ? "" : parts;
    }
  }
}

function toWirePart(part: OutputPart): ContentPart[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "media":
    case "file-data":
    case "image-data":
      return [media(part.mediaType, { type: "data", value: part.data, mimeType: part.mediaType })];
    case "image-url":
      return [media("image/*", { type: "url", value: part.url })];
    case "file-url":
      return [
        media(part.mediaType ?? "", {
          type: "url",
          value: part.url,
          ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
        }),
      ];
    default:
      // A handle into a provider's own store, or something of a provider's own: nothing a client could show.
      return [];
  }
}

/** A media part of the kind its type says. */
export function media(mediaType: string, source: PartSource): ContentPart {
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "audio" || kind === "video"
    ? { type: kind, source }
    : { type: "document", source };
}
