/** What the TypeScript files of a project may export, as strictly as its configuration. */
import { z } from "zod";
import type { ProjectTool, Script } from "../project/index.ts";
import { isTool } from "../project/index.ts";
import { issueLines } from "./config-schema.ts";
import { REQUEST_INPUT } from "./engine/scripted.ts";
import type { Problems } from "./problems.ts";

const isFunction = (value: unknown): boolean => typeof value === "function";
const pattern = z.custom<RegExp>((value) => value instanceof RegExp, "expected a regular expression, as /deploy/i");
const words = z.custom<string>(
  (value) => typeof value === "string" || isFunction(value),
  "expected a text or a function that gives one",
);
const isArgs = (value: unknown): boolean =>
  isFunction(value) || (typeof value === "object" && value !== null && !Array.isArray(value));

const reply = z.strictObject({
  reasoning: words.optional(),
  text: words.optional(),
  calls: z
    .array(
      z.strictObject({
        tool: z.string(),
        args: z.custom<object>(isArgs, "expected an object or a function that gives one"),
      }),
    )
    .optional(),
});

const script = z.strictObject({
  cases: z.array(z.strictObject({ user: pattern, after: pattern.optional(), model: z.array(reply) })),
  otherwise: z.array(reply),
});

const standardSchema = z.custom(
  (value) => (value as ProjectTool["inputSchema"] | undefined)?.["~standard"]?.jsonSchema !== undefined,
  "expected a Standard Schema that describes itself as JSON Schema, such as one of zod 4",
);

const tool = z
  .object({
    description: z.string().trim().min(1),
    inputSchema: standardSchema,
    approval: z
      .union([
        z.literal(true),
        z.strictObject({
          message: words.optional(),
          deniedMessage: z.string().optional(),
          timeoutMs: z.number().positive().optional(),
          allowAlways: z.boolean().optional(),
          allowEdits: z.boolean().optional(),
        }),
      ])
      .optional(),
    execute: z.custom(isFunction, "expected a function"),
  })
  .strict();

/** The tools that a module exports, under the names they are exported by. */
export function readTools(exports: object, file: string, problems: Problems): Map<string, ProjectTool> {
  const tools = new Map<string, ProjectTool>();
  for (const [name, value] of Object.entries(exports)) {
    if (!isTool(value)) {
      if (typeof value === "object" && value !== null && "execute" in value) {
        problems.add(file, name, "expected a tool made with defineTool, from holdline/project");
      }
      continue;
    }
    const checked = tool.safeParse({ ...value });
    for (const { path, what } of checked.success ? [] : toolIssues(checked.error, value)) {
      problems.add(file, `${name}.${path}`, what);
    }
    if (!/^[A-Za-z_][\w-]{0,63}$/.test(name)) {
      problems.add(file, name, "expected a named export of at most 64 letters, digits and _: it is the tool's name");
    }
    tools.set(name, value);
  }
  if (tools.size === 0) problems.add(file, "", "expected at least one named export made with defineTool");
  return tools;
}

/** Of a value that may be several things, what is wrong with the thing that it is. */
function toolIssues(error: z.ZodError, value: ProjectTool) {
  const issues = error.issues.flatMap((issue) => {
    if (issue.code !== "invalid_union") return [issue];
    const inner = issue.errors.find(
      (errors) =>
        errors.every(({ path }) => path.length > 0) || errors.some(({ code }) => code === "unrecognized_keys"),
    );
    if (inner === undefined || typeof value.approval !== "object") {
      return [
        {
          code: "custom" as const,
          path: issue.path,
          message: "expected true or an object of options",
          input: undefined,
        },
      ];
    }
    return inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
  });
  return issueLines({ issues } as z.ZodError, value);
}

/** The script that a module exports as its default. */
export function readScript(
  exports: object,
  file: string,
  known: ReadonlySet<string> | undefined,
  problems: Problems,
): Script | undefined {
  const given = (exports as { default?: unknown }).default;
  if (given === undefined) {
    problems.add(file, "default", "expected a default export made with defineScript");
    return undefined;
  }
  const checked = script.safeParse(given);
  if (!checked.success) {
    for (const { path, what } of issueLines(checked.error, given)) problems.add(file, path, what);
    return undefined;
  }
  const lists = [
    ...checked.data.cases.map(({ model }, index) => ({ at: `cases[${index}].model`, model })),
    { at: "otherwise", model: checked.data.otherwise },
  ];
  for (const { at, model } of lists) {
    if (model.length === 0) problems.add(file, at, "expected at least one reply");
    for (const [index, { calls = [] }] of model.entries()) {
      if (calls.length === 0 && index < model.length - 1) {
        problems.add(file, `${at}[${index}]`, "expected calls: only after calls is the model called again");
      }
      for (const [position, call] of calls.entries()) {
        if (known === undefined || known.has(call.tool)) continue;
        problems.add(
          file,
          `${at}[${index}].calls[${position}].tool`,
          `expected ${oneOf(known)}, found ${JSON.stringify(call.tool)}`,
        );
      }
    }
  }
  return given as Script;
}

const oneOf = (names: ReadonlySet<string>): string =>
  [...names].map((name) => JSON.stringify(name)).join(" or ") || "no call: there are no tools";

/** The names a script may call. */
export function callable(tools: ReadonlyMap<string, ProjectTool>, turnControl: boolean): Set<string> {
  return new Set([...tools.keys(), ...(turnControl ? [REQUEST_INPUT] : [])]);
}
