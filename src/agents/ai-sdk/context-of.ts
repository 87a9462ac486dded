/**
 * The way from the options that the AI SDK gives a tool to the context that Holdline gives it.
 */
import type { ToolContext } from "../../index.ts";

/** A symbol, so that options which a tool copies still have it; registered, so that two copies of this module agree. */
const CONTEXT = Symbol.for("holdline.ai-sdk.context");

/**
 * The context of the tool call that is running: `execute: async (input, options) => contextOf(options).input("Sure?")`.
 * What is asked through it carries the call's `toolCallId`; what it emits belongs to the open run.
 * @throws TypeError outside a tool that `aiAgent` runs: there is nobody to ask.
 */
export function contextOf(options: object): ToolContext {
  const context = (options as { [CONTEXT]?: ToolContext })[CONTEXT];
  if (context === undefined)
    throw new TypeError("contextOf needs the options that a tool's `execute` is given, in a tool that aiAgent runs.");
  return context;
}

/** The AI SDK's options with the context in them. */
export const withContext = <O extends object>(options: O, context: ToolContext): O => ({
  ...options,
  [CONTEXT]: context,
});
