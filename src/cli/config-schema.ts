/**
 * What the configuration files of a project may say, strictly: a key that is not known is a mistake.
 * The schemas check; `issueLines` words what they find for the one who wrote the file.
 */
import { z } from "zod";

const text = z.string().trim().min(1);

/** A whole number, also as text: a variable of the environment is always text. */
const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(
    (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
    z.number().int().min(least).max(most),
  );

const scripted = z.strictObject({
  provider: z.literal("scripted"),
  script: text.default("script.ts"),
});

const openaiCompatible = z.strictObject({
  provider: z.literal("openai-compatible"),
  model: text,
  baseURL: z.url({ protocol: /^https?$/ }),
  apiKey: z.string().optional(),
  maxSteps: wholeNumber(1).optional(),
});

/** `agent.yaml`. */
export const agentConfig = z.strictObject({
  name: text.max(100),
  instructions: text,
  engine: z.discriminatedUnion("provider", [scripted, openaiCompatible]),
  augments: z.array(text).default([]),
  tools: z.array(text).optional(),
  retention: z
    .strictObject({
      ttlMs: wholeNumber(1).optional(),
      maxHeld: wholeNumber(1).optional(),
      maxHeldPerIdentity: wholeNumber(1).optional(),
    })
    .default({}),
  port: wholeNumber(0, 65_535).default(8787),
});

/** `augments/<name>/augment.yaml`. */
export const augmentConfig = z.strictObject({
  type: z.literal("turnControl"),
  config: z.strictObject({ requestInputDescription: text.optional() }).default({}),
});

export type AgentConfig = z.infer<typeof agentConfig>;
export type AugmentConfig = z.infer<typeof augmentConfig>;
export type ModelEngine = z.infer<typeof openaiCompatible>;

/** A mistake, where it is and what was expected. */
export interface IssueLine {
  readonly path: string;
  readonly what: string;
}

/** Words what a schema found, one line for each mistake. */
export function issueLines(error: z.ZodError, input: unknown): IssueLine[] {
  return error.issues.flatMap((issue): IssueLine[] => {
    const path = pathOf(issue.path);
    const found = wordValue(at(input, issue.path));
    switch (issue.code) {
      case "unrecognized_keys":
        return issue.keys.map((key) => ({ path: pathOf([...issue.path, key]), what: "this key is not known" }));
      case "invalid_type":
        return [{ path, what: `expected ${wordType(issue.expected)}, found ${found}` }];
      case "invalid_value":
        return [
          { path, what: `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}, found ${found}` },
        ];
      case "invalid_union": {
        const known = '"scripted" or "openai-compatible"';
        const provider = pathOf([...issue.path, ...(issue.path.at(-1) === "provider" ? [] : ["provider"])]);
        return [{ path: provider, what: `expected ${known}, found ${wordValue(at(input, [...issue.path]))}` }];
      }
      case "too_small":
        return [
          issue.origin === "string"
            ? { path, what: "expected a text that is not empty" }
            : { path, what: `expected a number of at least ${issue.minimum}, found ${found}` },
        ];
      case "too_big":
        return [
          {
            path,
            what: `expected ${issue.origin === "string" ? `at most ${issue.maximum} characters` : `at most ${issue.maximum}, found ${found}`}`,
          },
        ];
      case "invalid_format":
        return [{ path, what: `expected an http or https address, found ${found}` }];
      default:
        return [{ path, what: issue.message }];
    }
  });
}

/** `["a", 0, "b"]` as `a[0].b`. */
export function pathOf(parts: readonly PropertyKey[]): string {
  return parts
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`))
    .join("");
}

function at(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as { [key: PropertyKey]: unknown } | undefined | null)?.[key],
    input,
  );
}

function wordValue(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const shown = JSON.stringify(value);
  return shown.length > 60 ? `${shown.slice(0, 57)}…"` : shown;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  object: "a mapping",
  array: "a list",
  boolean: "true or false",
};

const wordType = (type: string): string => TYPES[type] ?? type;
