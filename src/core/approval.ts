/**
 * Approvals: how consent to a tool call is asked, and what counts as consent. Whatever is not
 * clearly a yes is a no, or no answer at all.
 */
import type { Approval, ApproveOptions, ArgsSchema } from "./agent.ts";
import {
  type AnswerType,
  answerType,
  isStandardSchema,
  type JsonSchema,
  type StandardSchemaV1,
  standardCheck,
  type Verdict,
} from "./answer-schema.ts";
import type { Settings } from "./settings.ts";

/** An answer to an approval, as it was decided. */
export interface Consent {
  readonly approved: boolean;
  /** "always": later calls of the tool are approved too, where that is allowed. */
  readonly always: boolean;
  /** The arguments that take the place of the asked ones. */
  readonly edited?: unknown;
}

const YES = new Set(["y", "yes", "1", "always"]);

const denied: Consent = { approved: false, always: false };
const accept = (consent: Consent): Verdict => ({ ok: true, value: consent });
const refuse = (reason: string): Verdict => ({ ok: false, reason });

/** What an approval asks for; with `edits`, what edited arguments must be. */
export function approvalType({
  allowAlways,
  edits,
}: {
  allowAlways: boolean;
  edits: false | ArgsSchema<never> | undefined;
}): AnswerType | Promise<AnswerType> {
  if (edits === false) return { responseSchema: shown(allowAlways, {}), check: (value) => read(value, undefined) };
  const args = argsType(edits);
  const build = ({ responseSchema, check }: AnswerType): AnswerType => ({
    responseSchema: shown(allowAlways, { editedArgs: standalone(responseSchema) }),
    check: (value) => read(value, check),
  });
  return args instanceof Promise ? args.then(build) : build(args);
}

/** The words are examples: any other denies. Among them `always` tells a client whether that is more than a yes. */
function shown(allowAlways: boolean, edits: { editedArgs?: JsonSchema }): JsonSchema {
  const examples = allowAlways ? ["yes", "always", "no"] : ["yes", "no"];
  const properties = { approved: { type: "boolean" }, ...edits };
  return {
    title: "Approval",
    anyOf: [{ type: "boolean" }, { type: "string", examples }, { type: "object", properties, required: ["approved"] }],
  };
}

/** A schema that stands within another: what it says of its own parts by `#` is said of itself (JSON Schema, `$id`). */
function standalone(schema: JsonSchema): JsonSchema {
  const refersToItself = /"\$(?:dynamic|recursive)?[rR]ef":"#/.test(JSON.stringify(schema));
  return !refersToItself || "$id" in schema ? schema : { $id: `urn:uuid:${crypto.randomUUID()}`, ...schema };
}

/** What checks edited arguments: the tool's own schema; without one, that they are an object. */
function argsType(schema: ArgsSchema<never> | undefined): AnswerType | Promise<AnswerType> {
  if (schema === undefined) return anyArgs;
  if (!isStandardSchema(schema)) return answerType({ jsonSchema: schema });
  return { responseSchema: described(schema), check: standardCheck(schema) };
}

/** Where the schema has no JSON Schema of its own, or cannot be said as one, an object is all that is shown. */
function described(schema: StandardSchemaV1): JsonSchema {
  try {
    return (answerType({ schema }) as AnswerType).responseSchema;
  } catch {
    return anyArgs.responseSchema;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const anyArgs: AnswerType = {
  responseSchema: { type: "object" },
  check: (value) => (isObject(value) ? { ok: true, value } : refuse("editedArgs must be an object")),
};

function read(value: unknown, checkArgs: AnswerType["check"] | undefined): Verdict | Promise<Verdict> {
  if (typeof value === "boolean") return accept({ approved: value, always: false });
  if (typeof value === "string") {
    const word = value.trim().toLowerCase();
    return accept({ approved: YES.has(word), always: word === "always" });
  }
  if (!isObject(value) || typeof value.approved !== "boolean")
    return refuse("true, false, a word, or { approved: true | false } is expected");
  const edits = Object.hasOwn(value, "editedArgs");
  if (edits && checkArgs === undefined) return refuse("the arguments of this call may not be edited");
  if (!value.approved) return accept(denied);
  if (!edits || checkArgs === undefined) return accept({ approved: true, always: false });
  const verdict = checkArgs(value.editedArgs);
  return verdict instanceof Promise ? verdict.then(edited) : edited(verdict);
}

const edited = (verdict: Verdict): Verdict =>
  verdict.ok
    ? accept({ approved: true, always: false, edited: verdict.value })
    : refuse(`editedArgs: ${verdict.reason}`);

/** The options of one approval, with the handler's where the call does not say. */
export type ApprovalSettings = Required<Pick<ApproveOptions, "deniedMessage" | "allowAlways" | "allowEdits">>;

export function approvalSettings(options: ApproveOptions, { approvals }: Settings): ApprovalSettings {
  return {
    deniedMessage: options.deniedMessage ?? approvals.deniedMessage,
    allowAlways: options.allowAlways ?? approvals.allowAlways,
    allowEdits: options.allowEdits ?? approvals.allowEdits,
  };
}

/** The question, worded by the caller or naming the tool and its arguments. */
export function approvalMessage(
  call: { toolCallId: string; toolName: string; args: unknown },
  message: ApproveOptions["message"],
): string {
  if (typeof message === "function") return message(call);
  return message ?? `Approve ${call.toolName}(${JSON.stringify(call.args)})?`;
}

/** The decision as the agent gets it. */
export function approvalOf<A>(consent: Consent, args: A): Approval<A> {
  if (!consent.approved) return { approved: false };
  return { approved: true, args: "edited" in consent ? (consent.edited as A) : args };
}
