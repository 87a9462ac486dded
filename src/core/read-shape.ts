/**
 * One walk along a table of `shape.ts`: refuses what is malformed, strips what the protocol does not describe,
 * reads what was sent before 1.0, and never looks into what is the application's. It serves the inputs that
 * clients send and the events that agents emit.
 */
import type { ContentPart, PartSource } from "@ag-ui/core";
import type { ClosedShape, ListShape, Shape, UnionShape } from "./shape.ts";

/** The way to a value: member names and indexes, as they were given. */
export type Path = ReadonlyArray<string | number>;

/** Something that was accepted, but not as it was given. `stripped`: the protocol does not describe it. `legacy`: read as it was meant before 1.0. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly kind: "stripped" | "legacy";
}

const MAX_ISSUES = 5;
const MAX_FINDINGS = 20;
/** How much of somebody else's word a message or a path repeats, in UTF-16 units. */
const MAX_QUOTED = 40;

/** One walk: what it knows of the whole value, and what it has found. */
interface Reading {
  /** Nulls and parts of before 1.0 are understood. */
  readonly legacy: boolean;
  readonly issues: { readonly path: Path; readonly message: string }[];
  readonly findings: Finding[];
  /** The way to the value being read; only what lies before the depth at hand is up to date. */
  readonly path: (string | number)[];
  /** Why the value last given as `DROPPED` is unknown. */
  dropped: string;
}

type JsonObject = Record<string, unknown>;

/** Given for a value of a kind the protocol does not know: the list element that holds it goes. */
const DROPPED = Symbol();

/** Reads a value by its shape. With issues, of which there are five at most, the value is to be refused; else it is a new one with known members only. */
export function readShape(
  shape: Shape,
  value: unknown,
  legacy: boolean,
): { readonly value: unknown; readonly issues: Reading["issues"]; readonly findings: readonly Finding[] } {
  const reading: Reading = { legacy, issues: [], findings: [], path: [], dropped: "" };
  const read = readValue(reading, shape, asSaid(value), 0);
  return { value: read, issues: reading.issues.slice(0, MAX_ISSUES), findings: reading.findings };
}

/** A path in the words of JavaScript: `messages[0].id`; `whole` where it is empty. */
export function formatPath(path: Path, whole = "input"): string {
  let words = "";
  for (const step of path) {
    if (typeof step === "number") words += `[${step}]`;
    else if (!/^[A-Za-z_$][\w$]*$/.test(step)) words += `[${JSON.stringify(step)}]`;
    else words += words === "" ? step : `.${step}`;
  }
  return words === "" ? whole : words;
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
      if (isSayable(value)) return value;
      break;
    case "flag":
      if (typeof value === "boolean") return value;
      break;
    case "whole":
      if (typeof value === "number" && Number.isSafeInteger(Math.round(value))) return Math.round(value);
      break;
    case "pointer":
      if (typeof value === "string" && /^(\/([^/~]|~[01])*)*$/.test(value)) return value;
      break;
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
  const findings = reading.findings.length;
  const result: JsonObject = {};
  let missing = shape.required;
  // Own names only, and only known ones are ever written: "__proto__" is one more unknown member.
  for (const name of Object.keys(value)) {
    const member = shape.members.get(name);
    if (member === undefined) {
      if (!shape.extensible) warn(reading, depth, name, "stripped", "not a member the protocol describes; removed");
      else if (name !== "__proto__") result[name] = value[name];
      continue;
    }
    const given = asSaid(value[name]);
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
      reading.findings.length = findings;
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
    warn(reading, depth, name, "legacy", "null, read as {}");
  } else if (!reading.legacy) {
    reading.path[depth] = name;
    report(reading, depth + 1, `expected ${expected(shape)}, found null (leave out a member that has no value)`);
  } else if (onNull === "kept") {
    result[name] = null;
    warn(reading, depth, name, "legacy", "null, kept as the value null; AG-UI 1.0 has no null here");
  } else {
    warn(reading, depth, name, "legacy", "null, read as absent");
  }
}

function readList(reading: Reading, shape: ListShape, value: readonly unknown[], depth: number): unknown[] {
  const result: unknown[] = [];
  for (let index = 0; index < value.length; index += 1) {
    reading.path[depth] = index;
    const read = readValue(reading, shape.of, asSaid(value[index]), depth + 1);
    if (read === DROPPED) warn(reading, depth, index, "stripped", reading.dropped);
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
  if (shape.unknown === "malformed") {
    reading.path[depth] = shape.tag;
    report(reading, depth + 1, `expected ${[...shape.options.keys()].map(quote).join(" or ")}, found ${quote(tag)}`);
    return undefined;
  }
  if (shape.unknown === "binary" && reading.legacy && tag === "binary") return readBinary(reading, value, depth);
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
    "legacy",
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

function warn(reading: Reading, depth: number, step: string | number, kind: Finding["kind"], message: string): void {
  if (reading.findings.length >= MAX_FINDINGS) return;
  const path = reading.path.slice(0, depth);
  path.push(typeof step === "string" ? shorten(step) : step);
  reading.findings.push({ path, message, kind });
}

const EXPECTED: Readonly<Partial<Record<Shape["kind"], string>>> = {
  text: "a string",
  list: "an array",
  textOrList: "a string or an array",
  json: "a value",
  flag: "a boolean",
  whole: "a whole number",
  pointer: "a JSON pointer",
};

const expected = (shape: Shape): string =>
  shape.kind === "word"
    ? shape.words.map((one) => JSON.stringify(one)).join(" or ")
    : (EXPECTED[shape.kind] ?? "an object");

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

/** What JSON makes of a value, as far as it can be told from the outside. Values that JSON was read from are as they are. */
function asSaid(value: unknown): unknown {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
}

/** What JSON has no word for would be a member that is missing on the wire. */
function isSayable(value: unknown): boolean {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}
