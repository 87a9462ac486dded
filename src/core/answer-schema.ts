/**
 * What an answer must be: the JSON Schema a client is shown, and the check its payload passes
 * before it is delivered. Standard Schemas check by themselves; a bare JSON Schema is checked by
 * `@cfworker/json-schema`, which needs no eval and loads at the first schema that needs it.
 */

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** A JSON Schema as an object; draft 2020-12 unless its `$schema` says otherwise. */
export type JsonSchema = { readonly [key: string]: unknown };

/** The Standard Schema interface, version 1 (standardschema.dev), as far as it is used here. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardSchemaV1.Result<Output> | Promise<StandardSchemaV1.Result<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema: how the schema describes itself to others. */
    readonly jsonSchema?:
      | { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> }
      | undefined;
  };
}

export declare namespace StandardSchemaV1 {
  type Result<Output> =
    | { readonly value: Output; readonly issues?: undefined }
    | {
        readonly issues: ReadonlyArray<{
          readonly message: string;
          readonly path?: ReadonlyArray<unknown> | undefined;
        }>;
      };
  type InferOutput<S extends StandardSchemaV1> = NonNullable<S["~standard"]["types"]>["output"];
}

/** A payload's fate. `reason` is for the client and never holds a proof. */
export type Verdict = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** What a question asks for. */
export interface AnswerType {
  readonly responseSchema: JsonSchema;
  /** `value` is `undefined` when the entry has no payload. Throws only when the schema itself does. */
  readonly check: (value: unknown) => Verdict | Promise<Verdict>;
}

/** What is longer is made of the answer (its names, say), and would be compared with every part of it. */
const LONGEST_REASON = 500;

/** What a validator says of `answer`: its own words, unless they repeat a value of it, as those of some do. Reasons end up in logs. */
const refused = (reason: string, answer?: unknown): Verdict => ({
  ok: false,
  reason: reason.length > LONGEST_REASON || repeats(reason, answer) ? "it does not match the schema" : reason,
});

function repeats(words: string, answer: unknown): boolean {
  if (typeof answer === "object" && answer !== null) return Object.values(answer).some((part) => repeats(words, part));
  if (typeof answer !== "string" && typeof answer !== "number") return false;
  const said = typeof answer === "string" ? JSON.stringify(answer).slice(1, -1) : String(answer);
  if (said === "" || !words.includes(said)) return false;
  const asWord = said.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${asWord}(?![\\p{L}\\p{N}])`, "u").test(words);
}

/** Without a schema: a string. */
const stringAnswer: AnswerType = {
  responseSchema: { type: "string", title: "Answer" },
  check: (value) => (typeof value === "string" ? { ok: true, value } : refused("a string is expected")),
};

/**
 * Reads what was asked for. A promise only while the validator loads.
 * @throws TypeError when a schema cannot be shown to a client, or is no valid JSON Schema; RangeError when it is too long.
 */
export function answerType(schemas: {
  schema?: StandardSchemaV1 | undefined;
  jsonSchema?: JsonSchema | undefined;
}): AnswerType | Promise<AnswerType> {
  const { schema, jsonSchema } = schemas;
  if (schema === undefined && jsonSchema === undefined) return stringAnswer;
  if (isStandardSchema(jsonSchema))
    throw new TypeError("`jsonSchema` must be a JSON Schema; give a Standard Schema as `schema`.");
  if (schema === undefined) return jsonAnswer(plain(jsonSchema));
  if (!isStandardSchema(schema))
    throw new TypeError("`schema` must be a Standard Schema; give a JSON Schema as `jsonSchema`.");
  return {
    responseSchema: jsonSchema === undefined ? describe(schema) : plain(jsonSchema),
    check: standardCheck(schema),
  };
}

/** Whether a schema validates by itself. Standard Schemas may be functions (arktype). */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "~standard" in value;
}

/** The JSON Schema a Standard Schema gives of its input side: a default makes a member optional there. */
function describe(schema: StandardSchemaV1): JsonSchema {
  const given = schema["~standard"].jsonSchema;
  if (given === undefined) {
    throw new TypeError(
      `This ${schema["~standard"].vendor} schema has no JSON Schema of its own to show to the client: pass \`jsonSchema\` beside \`schema\`.`,
    );
  }
  let said: unknown;
  try {
    said = given.input({ target: "draft-2020-12" });
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new TypeError(`This schema cannot be said as a JSON Schema${why}. Pass \`jsonSchema\` beside \`schema\`.`, {
      cause,
    });
  }
  return plain(said);
}

/** Longer ones, in UTF-16 units, would not leave room for the question in its frame. */
const LONGEST_SCHEMA = 1024 * 1024;

/** A copy that is nothing but JSON: the validator marks what it reads, and a client must get no validator's internals. */
function plain(schema: unknown): JsonSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new TypeError("A JSON Schema shown to a client must be an object (AG-UI: `responseSchema`).");
  }
  const text = JSON.stringify(schema);
  if (text.length > LONGEST_SCHEMA)
    throw new RangeError(`A JSON Schema shown to a client may be ${LONGEST_SCHEMA} characters long.`);
  return JSON.parse(text) as JsonSchema;
}

export function standardCheck(schema: StandardSchemaV1): AnswerType["check"] {
  const read = (result: StandardSchemaV1.Result<unknown>, value: unknown): Verdict =>
    result.issues === undefined ? { ok: true, value: result.value } : refused(wordIssues(result.issues), value);
  return (value) => {
    const result = schema["~standard"].validate(value);
    // A promise of another realm or library is one too: taken for a result it would have no issues.
    if ("then" in result) return Promise.resolve(result).then((later) => read(later, value));
    return read(result, value);
  };
}

function wordIssues(issues: ReadonlyArray<{ message: string; path?: ReadonlyArray<unknown> | undefined }>): string {
  const words = issues.slice(0, 3).map(({ message, path = [] }) => {
    const names = path.map((part) =>
      String(typeof part === "object" && part !== null && "key" in part ? part.key : part),
    );
    return names.length === 0 ? message : `${names.join(".")}: ${message}`;
  });
  return words.join("; ") || "it does not match the schema";
}

type Validators = typeof import("@cfworker/json-schema");
let validators: Validators | undefined;

function jsonAnswer(schema: JsonSchema): AnswerType | Promise<AnswerType> {
  if (validators !== undefined) return build(validators, schema);
  return import("@cfworker/json-schema").then((loaded) => {
    validators = loaded;
    return build(loaded, schema);
  });
}

const drafts: ReadonlyArray<[RegExp, "4" | "7" | "2019-09"]> = [
  [/draft-04/, "4"],
  [/draft-0[67]/, "7"],
  [/2019-09/, "2019-09"],
];

/** One schema within a schema, as `dereference` leaves it. */
interface Part {
  readonly __absolute_ref__?: string;
  readonly $ref?: string;
  readonly type?: unknown;
  readonly pattern?: string;
  readonly patternProperties?: object;
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

function build(validator: Validators, schema: JsonSchema): AnswerType {
  const { Validator, dereference } = validator;
  const draft = drafts.find(([pattern]) => pattern.test(String(schema.$schema ?? "")))?.[1] ?? "2020-12";
  // What is wrong in these ways would otherwise throw at the first answer that reaches it, or refuse every one.
  const known = dereference(schema as object);
  for (const [uri, part] of Object.entries(known)) {
    if (typeof part !== "object") continue;
    const { __absolute_ref__: target, $ref, type, pattern, patternProperties } = part as Part;
    if (target !== undefined && known[target] === undefined)
      throw new TypeError(`The JSON Schema refers to ${JSON.stringify($ref)}, which is not in it.`);
    const types = type === undefined || !isSchemaAt(uri, validator) ? [] : [type].flat();
    const odd = types.find((one) => !TYPES.has(one));
    if (odd !== undefined)
      throw new TypeError(`The JSON Schema has a type that there is none of: ${JSON.stringify(odd)}.`);
    for (const one of [pattern ?? "", ...Object.keys(patternProperties ?? {})]) mustBePattern(one);
  }
  const checker = new Validator(schema as object, draft);
  return {
    responseSchema: schema,
    check(value) {
      if (value === undefined) return refused("a payload is expected");
      const { valid, errors } = checker.validate(value);
      // The last error is the innermost: the outer ones only say that something inside them failed.
      const last = errors.at(-1);
      return valid
        ? { ok: true, value }
        : refused(last === undefined ? "it does not match the schema" : inWords(last), value);
    },
  };
}

/** Whether what stands at a place is read as a schema: `dereference` also looks into keywords that nobody knows, where anything may stand. */
function isSchemaAt(uri: string, { schemaKeyword, schemaArrayKeyword, schemaMapKeyword }: Validators): boolean {
  const places = (uri.split("#")[1] ?? "").split("/").slice(1);
  for (let i = 0; i < places.length; i += 1) {
    const keyword = places[i] as string;
    // A name within it, or a number, is the schema's own.
    if (keyword in schemaMapKeyword || (keyword in schemaArrayKeyword && /^\d+$/.test(places[i + 1] ?? ""))) i += 1;
    else if (!(keyword in schemaKeyword)) return false;
  }
  return true;
}

function mustBePattern(source: string): void {
  try {
    new RegExp(source, "u");
  } catch (cause) {
    throw new TypeError(`The JSON Schema has a pattern that is none: ${JSON.stringify(source)}.`, { cause });
  }
}

/** What is wrong, and where, unless it is the whole. */
function inWords({ instanceLocation, error }: { instanceLocation: string; error: string }): string {
  const words = error.replace(/\.$/, "");
  return instanceLocation === "#" ? words : `${instanceLocation}: ${words}`;
}
