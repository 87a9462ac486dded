/**
 * The second half of parsing: a JSON value → the run's input. One walk along the table of `input-shape.ts`
 * refuses what is malformed, strips what the protocol does not describe, and reads what clients sent before
 * 1.0; it never looks into what is the application's. It knows nothing of HTTP, nor whether the version or
 * the answers can be served: that is admission's.
 */
import type { ContentPart, PartSource, RunAgentInput } from "@ag-ui/core";
import { type InputIssue, RequestError, RequestErrorCode } from "./errors.ts";
import { type ClosedShape, inputShape, type ListShape, type Shape, type UnionShape } from "./input-shape.ts";

/** Something in an input that was accepted, but not as it was sent. */
export interface InputWarning {
  /** Where, as member names and indexes of what was sent; a name of a member may be shortened. */
  readonly path: ReadonlyArray<string | number>;
  /** What was found and what became of it. */
  readonly message: string;
  /** `INPUT_STRIPPED`: the protocol does not describe it, so it is gone. `INPUT_LEGACY`: read as clients before 1.0 meant it. */
  readonly code: "INPUT_STRIPPED" | "INPUT_LEGACY";
}

const MAX_ISSUES = 5;
const MAX_WARNINGS = 20;
/** How much of somebody else's word a message or a path repeats, in UTF-16 units. */
const MAX_QUOTED = 40;

/** One walk: what it knows of the whole input, and what it has found. */
interface Reading {
  /** The input declares no protocol version, so nulls and parts of before 1.0 are understood. */
  readonly legacy: boolean;
  readonly issues: InputIssue[];
  readonly warnings: InputWarning[];
  /** The way to the value being read; only what lies before the depth at hand is up to date. */
  readonly path: (string | number)[];
  /** Why the value last given as `DROPPED` is unknown. */
  dropped: string;
}

type JsonObject = Record<string, unknown>;

/** Given for a value of a kind the protocol does not know: the list element that holds it goes. */
const DROPPED = Symbol();

/**
 * Reads a parsed JSON body as a RunAgentInput. The result is a new object with known members only;
 * `state`, `forwardedProps`, `metadata`, tool parameters, payloads and activity content are the very
 * values given. `tools` and `context` are `[]` and `state` is `{}` where absent.
 *
 * @throws `RequestError` with `INVALID_INPUT` and the first five issues.
 */
export function readInput(value: unknown): { input: RunAgentInput; warnings: InputWarning[] } {
  const legacy = !isObject(value) || !Object.hasOwn(value, "protocolVersion") || value.protocolVersion === undefined;
  const reading: Reading = { legacy, issues: [], warnings: [], path: [], dropped: "" };
  const read = readValue(reading, inputShape, value, 0);
  const [first] = reading.issues;
  if (first !== undefined) {
    throw new RequestError(RequestErrorCode.INVALID_INPUT, `${formatPath(first.path)}: ${first.message}`, {
      issues: reading.issues.slice(0, MAX_ISSUES),
    });
  }
  const input = read as RunAgentInput;
  input.tools ??= [];
  input.context ??= [];
  if (input.state === undefined) input.state = {};
  return { input, warnings: reading.warnings };
}

/** A path in the words of JavaScript: `messages[0].id`; `input` for the whole. */
export function formatPath(path: ReadonlyArray<string | number>): string {
  let words = "";
  for (const step of path) {
    if (typeof step === "number") words += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$]*$/.test(step)) words += `[${JSON.stringify(step)}]`;
    else words += words === "" ? step : `.${step}`;
  }
  return words === "" ? "input" : words;
}

function readValue(reading: Reading, shape: Shape, value: unknown, depth: number): unknown {
  switch (shape.kind) {
    case "text":
      if (typeof value === "string") return value;
      break;
    case "word":
      if (shape.words.includes(value as string)) return value;
      break;
    case "open":
      if (isObject(value)) return value;
      break;
    case "json":
      return value;
    case "textOrList":
      if (typeof value === "string") return value;
      if (Array.isArray(value)) return readList(reading, shape.list, value, depth);
      break;
    case "list":
      if (Array.isArray(value)) return readList(reading, shape, value, depth);
      break;
    case "closed":
      if (isObject(value)) return readClosed(reading, shape, value, depth);
      break;
    case "union":
      if (isObject(value)) return readUnion(reading, shape, value, depth);
      break;
  }
  report(reading, depth, `expected ${expected(shape)}, found ${found(value, shape)}`);
  return undefined;
}

function readClosed(reading: Reading, shape: ClosedShape, value: JsonObject, depth: number): unknown {
  const issues = reading.issues.length;
  const warnings = reading.warnings.length;
  const result: JsonObject = {};
  let missing = shape.required;
  // Own names only, and only known ones are ever written: "__proto__" is one more unknown member.
  for (const name of Object.keys(value)) {
    const member = shape.members.get(name);
    if (member === undefined) {
      warn(reading, depth, name, "INPUT_STRIPPED", "not a member the protocol describes; removed");
      continue;
    }
    const given = value[name];
    if (given === undefined) continue;
    missing &= ~member.bit;
    if (given === null && member.bit === 0) {
      readNull(reading, member.shape, name, result, depth);
      continue;
    }
    reading.path[depth] = name;
    const read = readValue(reading, member.shape, given, depth + 1);
    if (read === DROPPED) {
      // The object goes as a whole, so what else was wrong with it is nobody's concern.
      reading.issues.length = issues;
      reading.warnings.length = warnings;
      return DROPPED;
    }
    result[name] = read;
  }
  if (missing !== 0) reportMissing(reading, shape, missing, value, depth);
  return result;
}

/** A null in the place of an optional member. */
function readNull(reading: Reading, shape: Shape, name: string, result: JsonObject, depth: number): void {
  const onNull = shape.kind === "json" ? shape.onNull : undefined;
  if (onNull === "state") {
    result[name] = {};
    warn(reading, depth, name, "INPUT_LEGACY", "null, read as {}");
  } else if (!reading.legacy) {
    reading.path[depth] = name;
    report(reading, depth + 1, `expected ${expected(shape)}, found null (leave out a member that has no value)`);
  } else if (onNull === "kept") {
    result[name] = null;
    warn(reading, depth, name, "INPUT_LEGACY", "null, kept as the value null; AG-UI 1.0 has no null here");
  } else {
    warn(reading, depth, name, "INPUT_LEGACY", "null, read as absent");
  }
}

function readList(reading: Reading, shape: ListShape, value: readonly unknown[], depth: number): unknown[] {
  const result: unknown[] = [];
  for (let index = 0; index < value.length; index += 1) {
    reading.path[depth] = index;
    const read = readValue(reading, shape.of, value[index], depth + 1);
    if (read === DROPPED) warn(reading, depth, index, "INPUT_STRIPPED", reading.dropped);
    else result.push(read);
    // Between elements, not inside one: an element that turns out to be unknown takes its issues with it.
    if (reading.issues.length >= MAX_ISSUES) break;
  }
  return result;
}

function readUnion(reading: Reading, shape: UnionShape, value: JsonObject, depth: number): unknown {
  const tag = Object.hasOwn(value, shape.tag) ? value[shape.tag] : undefined;
  const option = shape.options.get(tag as string);
  if (option !== undefined) return readClosed(reading, option, value, depth);
  if (typeof tag !== "string") {
    reading.path[depth] = shape.tag;
    report(reading, depth + 1, `expected a string, found ${found(tag)}`);
    return undefined;
  }
  if (shape.takesBinary && reading.legacy && tag === "binary") return readBinary(reading, value, depth);
  reading.dropped = `${shape.noun} of the unknown ${shape.tag} ${quote(tag)}; removed`;
  return DROPPED;
}

/** The `binary` content part of before 1.0, as the part that stands for it now. One without bytes is an unknown part. */
function readBinary(reading: Reading, value: JsonObject, depth: number): unknown {
  const { mimeType, data, url, id, filename } = value;
  let source: PartSource | undefined;
  if (typeof mimeType === "string") {
    if (isText(data)) source = { type: "data", value: data, mimeType };
    else if (isText(url)) source = { type: "url", value: url, mimeType };
    else if (isText(id)) source = { type: "file", value: id, mimeType };
  }
  if (source === undefined) {
    reading.dropped = 'content part of the old type "binary" without a mimeType and one of data, url and id; removed';
    return DROPPED;
  }
  const part: ContentPart = { type: mediaOf(mimeType as string), source };
  if (isText(filename)) part.metadata = { filename };
  warn(
    reading,
    depth - 1,
    reading.path[depth - 1] as number,
    "INPUT_LEGACY",
    `content part of the old type "binary", read as ${quote(part.type)}`,
  );
  return part;
}

function mediaOf(mimeType: string): "image" | "audio" | "video" | "document" {
  const media = /^(image|audio|video)\//i.exec(mimeType)?.[1]?.toLowerCase();
  return (media as "image" | "audio" | "video" | undefined) ?? "document";
}

function report(reading: Reading, depth: number, message: string): void {
  reading.issues.push({ path: reading.path.slice(0, depth), message });
}

function reportMissing(reading: Reading, shape: ClosedShape, missing: number, value: JsonObject, depth: number): void {
  for (const [name, member] of shape.members) {
    if ((member.bit & missing) === 0) continue;
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const meant =
      snake !== name && Object.hasOwn(value, snake) ? `; the member sent as "${snake}" is spelled "${name}"` : "";
    reading.path[depth] = name;
    report(reading, depth + 1, `expected ${expected(member.shape)}, found nothing${meant}`);
  }
}

function warn(
  reading: Reading,
  depth: number,
  step: string | number,
  code: InputWarning["code"],
  message: string,
): void {
  if (reading.warnings.length >= MAX_WARNINGS) return;
  const path = reading.path.slice(0, depth);
  path.push(typeof step === "string" ? shorten(step) : step);
  reading.warnings.push({ path, message, code });
}

function expected(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return "a string";
    case "word":
      return shape.words.map((word) => JSON.stringify(word)).join(" or ");
    case "list":
      return "an array";
    case "textOrList":
      return "a string or an array";
    case "json":
      return "a value";
    default:
      return "an object";
  }
}

function found(value: unknown, shape?: Shape): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  // A word is the only value that is repeated: which one it is is what is wrong with it.
  if (shape?.kind === "word" && typeof value === "string") return quote(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function quote(word: string): string {
  return JSON.stringify(shorten(word));
}

/** Cuts a long word, never between the halves of a surrogate pair. */
function shorten(word: string): string {
  if (word.length <= MAX_QUOTED) return word;
  const last = word.charCodeAt(MAX_QUOTED - 1);
  return `${word.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_QUOTED - 1 : MAX_QUOTED)}…`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
