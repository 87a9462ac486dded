/**
 * Tools that wait for a human's yes: by `approval`, or by the AI SDK's own `needsApproval`.
 */
import { asSchema, type Tool, type ToolExecutionOptions } from "ai";
import type { ApproveOptions, ArgsSchema, JsonSchema, StandardSchemaV1 } from "../../index.ts";
import type { Gate } from "./batch.ts";

const APPROVAL = Symbol.for("holdline.ai-sdk.approval");

// biome-ignore lint/suspicious/noExplicitAny: a tool of any input and output, as the AI SDK has it
export type AnyTool = Tool<any, any>;

/**
 * The same tool, each call of which waits for a human's approval before it runs, whatever its `needsApproval` says.
 * What the options leave out comes from the handler's `approvals`. A denied call runs nothing: the model is told the
 * configured words and goes on. `options.message` may be a function of `{ toolCallId, toolName, args }`.
 * @throws TypeError for a tool without `execute`: what does not run here cannot be held back here.
 */
export function approval<T extends AnyTool>(tool: T, options: ApproveOptions = {}): T {
  if (typeof tool.execute !== "function")
    throw new TypeError("approval needs a tool with `execute`: what does not run here cannot be held back here.");
  return { ...tool, [APPROVAL]: options };
}

/** Whether this call waits, and how. Asked before anything of its batch runs. */
export async function gateOf(
  tool: AnyTool,
  input: unknown,
  options: Parameters<Exclude<NonNullable<Tool["needsApproval"]>, boolean>>[1],
): Promise<Gate> {
  const given = (tool as { [APPROVAL]?: ApproveOptions })[APPROVAL];
  const { needsApproval = false } = tool;
  const waits =
    given !== undefined ||
    (typeof needsApproval === "function" ? await needsApproval(input, options) : needsApproval) !== false;
  return waits ? closedGate(tool, given) : "open";
}

/** Every call waits. What edited arguments must be is the tool's own schema's to say. */
export async function closedGate(tool: AnyTool, options: ApproveOptions = {}): Promise<Exclude<Gate, "open">> {
  return { options, argsSchema: await argsSchemaOf(tool) };
}

async function argsSchemaOf({ inputSchema }: AnyTool): Promise<ArgsSchema<object>> {
  // One that describes itself checks itself, in words that name the place.
  const self = (inputSchema as Partial<StandardSchemaV1<unknown, object>> | undefined)?.["~standard"];
  if (self?.jsonSchema !== undefined) return { "~standard": self };
  const schema = asSchema(inputSchema);
  const shown = (await schema.jsonSchema) as JsonSchema;
  const { validate } = schema;
  if (validate === undefined) return shown;
  const standard: StandardSchemaV1<unknown, object>["~standard"] = {
    version: 1,
    vendor: "ai",
    async validate(value) {
      const result = await validate(value);
      return result.success ? { value: result.value as object } : { issues: [{ message: result.error.message }] };
    },
    jsonSchema: { input: () => shown },
  };
  return { "~standard": standard };
}

/** The options a tool's function is given. */
export type ExecutionOptions = ToolExecutionOptions;
