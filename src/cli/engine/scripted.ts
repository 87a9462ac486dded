/**
 * The engine without a model: a script says what a model would. Everything behind it is real: the
 * tools run, ask and wait for approvals as they do under a model.
 */
import { contentToText } from "@ag-ui/core";
import {
  type Agent,
  type AgentContext,
  InputTimeoutError,
  InterruptCancelledError,
  PublicError,
  type ToolContext,
  TurnReleasedError,
} from "../../index.ts";
import type { ProjectTool, Script, ScriptedCall, ScriptedReply, Seen } from "../../project/index.ts";

/** The tool of turn control, as scripts name it. */
export const REQUEST_INPUT = "request_input";

/** Milliseconds between two words: a script streams as a model does. */
const PER_WORD_MS = 12;

export interface ScriptedOptions {
  readonly script: Script;
  readonly tools: ReadonlyMap<string, ProjectTool>;
  /** Whether scripts may call `request_input`. */
  readonly turnControl: boolean;
}

/** What the end of a batch may be: a question that ends the turn. */
interface Ending {
  readonly prompt: string;
  readonly reason: string | undefined;
}

export function scriptedAgent({ script, tools, turnControl }: ScriptedOptions): Agent {
  return async (context) => {
    const { replies, match } = choose(script, context);
    let results: readonly string[] = [];
    for (const reply of replies) {
      const seen: Seen = { userText: context.userText, match, results };
      await say(context, reply, seen);
      const endings: Ending[] = [];
      const calls = (reply.calls ?? []).map((call) => make(context, call, seen, endings));
      // All of a batch settle, whatever becomes of one of them; only then may the turn end.
      const settled = await Promise.allSettled(calls);
      for (const one of settled) if (one.status === "rejected") throw one.reason;
      results = settled.map((one) => (one.status === "fulfilled" ? one.value : ""));
      const [ending] = endings;
      if (ending !== undefined) {
        const { prompt, reason } = ending;
        return context.inputRequired(prompt, reason === undefined ? {} : { reason });
      }
    }
    return undefined;
  };

  /** Makes one call. Resolves to what the model is told of it. */
  async function make(context: AgentContext, call: ScriptedCall, seen: Seen, endings: Ending[]): Promise<string> {
    const args = typeof call.args === "function" ? call.args(seen) : call.args;
    if (turnControl && call.tool === REQUEST_INPUT) return requestInput(context, args, endings);
    const tool = tools.get(call.tool);
    if (tool === undefined) {
      return context.toolCall(call.tool, args, () => `There is no tool ${call.tool}.`);
    }
    const checked = await tool.inputSchema["~standard"].validate(args);
    if (checked.issues !== undefined) {
      const problems = checked.issues.map(({ message, path = [] }) => [...path.map(nameOf), message].join(": "));
      return context.toolCall(call.tool, args, () => `The arguments are wrong: ${problems.join("; ")}.`);
    }
    const run = (given: object, toolContext: ToolContext) => tool.execute(given, toolContext);
    const options = {
      argsSchema: tool.inputSchema,
      ...(tool.approval === undefined ? {} : { approval: tool.approval }),
    };
    try {
      return textOf(await context.toolCall(call.tool, checked.value, run, options));
    } catch (error) {
      // A question that nobody will answer ends the turn; what a tool throws is told to the model, and it goes on.
      if (isUnanswered(error)) throw error;
      return error instanceof PublicError ? error.message : "The tool failed.";
    }
  }
}

/** Turn control. `reason` is for the operator alone: it is not shown with the call. */
async function requestInput(context: AgentContext, args: object, endings: Ending[]): Promise<string> {
  const { prompt, reason } = args as { prompt?: unknown; reason?: unknown };
  const message = typeof prompt === "string" ? prompt.trim() : "";
  return context.toolCall(REQUEST_INPUT, typeof prompt === "string" ? { prompt } : {}, () => {
    if (message.length < 1 || message.length > 2000) return "`prompt` must be a text of 1 to 2000 characters.";
    endings.push({ prompt: message, reason: typeof reason === "string" ? reason : undefined });
    return endings.length === 1 ? message : "Only one question can end the turn, and another was first.";
  });
}

/** The replies of the first case that matches, and what it matched. */
function choose(
  script: Script,
  context: AgentContext,
): { replies: readonly ScriptedReply[]; match: readonly string[] } {
  const said = lastSaid(context);
  for (const { user, after, model } of script.cases) {
    // Not `exec`: a pattern with the flag `g` would remember where it stopped.
    const match = context.userText.match(new RegExp(user.source, user.flags.replace(/[gy]/g, "")));
    if (match !== null && (after === undefined || said.search(after) >= 0))
      return { replies: model, match: [...match] };
  }
  return { replies: script.otherwise, match: [context.userText] };
}

/** What the assistant said last, before the user's latest message. */
function lastSaid({ run }: AgentContext): string {
  const said = run.messages.findLast((message) => message.role === "assistant" && message.content);
  return said?.role === "assistant" && said.content !== undefined ? contentToText(said.content) : "";
}

async function say(context: AgentContext, { reasoning, text }: ScriptedReply, seen: Seen): Promise<void> {
  const word = (words: string | ((seen: Seen) => string)) => (typeof words === "function" ? words(seen) : words);
  if (reasoning !== undefined) await context.reasoning(stream(word(reasoning)));
  if (text !== undefined) await context.text(stream(word(text)));
}

async function* stream(text: string): AsyncGenerator<string> {
  for (const word of text.split(/(?<=\s)/)) {
    yield word;
    await new Promise((resolve) => setTimeout(resolve, PER_WORD_MS));
  }
}

function isUnanswered(error: unknown): boolean {
  return (
    error instanceof InputTimeoutError || error instanceof InterruptCancelledError || error instanceof TurnReleasedError
  );
}

const textOf = (result: unknown): string =>
  typeof result === "string" ? result : result === undefined || result === null ? "" : JSON.stringify(result);

const nameOf = (part: unknown): string =>
  String(typeof part === "object" && part !== null && "key" in part ? (part as { key: unknown }).key : part);
