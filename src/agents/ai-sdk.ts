/**
 * Any model that the AI SDK speaks to, as an agent: with questions in the middle of its tools,
 * approvals in front of them, and turn control. Needs the package `ai`, version 6, beside this one.
 *
 * @module holdline/ai-sdk
 */
import type { ToolSet } from "ai";
import type { Agent } from "../index.ts";
import { runTurn } from "./ai-sdk/loop.ts";
import { type AiAgentOptions, settle } from "./ai-sdk/options.ts";

export { approval } from "./ai-sdk/approval.ts";
export { contextOf } from "./ai-sdk/context-of.ts";
export type { AiAgentOptions } from "./ai-sdk/options.ts";

/**
 * An agent whose turns are the AI SDK's `streamText`: the model is called, its tools run, and it is called again, until
 * it has answered, a tool has ended the turn, `maxSteps` is reached (then the run ends as cancelled), or nobody is left
 * to hear it. Token usage is counted in the run in which the model was called.
 *
 * A tool whose result is `{ content, terminate: { status, message } }` ends the turn once all calls beside it have
 * settled: `message` goes out as the assistant's, and with `status` (`"input-required"` or `"completed"`) is the run's
 * result. The model is not called again.
 * @throws RangeError for a `maxSteps` outside its range, TypeError without a model.
 */
export function aiAgent<TOOLS extends ToolSet = ToolSet>(options: AiAgentOptions<TOOLS>): Agent {
  const settings = settle(options as unknown as AiAgentOptions);
  return (context) => runTurn(context, settings);
}
