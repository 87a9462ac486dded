/**
 * One tool call that the agent makes itself: shown, approved where that is wanted, run, and always
 * answered with a result.
 */
import type { ContentPart } from "@ag-ui/core";
import type { Approval, ToolCallOptions, ToolContext } from "./agent.ts";
import { type HoldlineError, InputTimeoutError, InterruptCancelledError, PublicError } from "./errors.ts";
import type { Turn } from "./turn.ts";

/** What a call needs of the context that makes it. */
export interface Caller<A> {
  readonly turn: Turn;
  readonly owner: string | undefined;
  readonly context: ToolContext<A>;
  /** Ends what the tool's own context left open. */
  close(): void;
  /** The tool's context has these arguments from here on: a tool that reads them there gets what was approved. */
  edit(args: A): void;
}

/** A call announced on the wire: from here on it is answered, whatever happens. */
export async function runToolCall<A extends object, R>(
  caller: Caller<A>,
  args: A,
  run: (args: A, context: ToolContext<A>) => R | PromiseLike<R>,
  options: ToolCallOptions<A>,
): Promise<R | string> {
  const { turn, context } = caller;
  const deniedMessage =
    (typeof options.approval === "object" ? options.approval.deniedMessage : undefined) ??
    turn.host.settings.approvals.deniedMessage;
  let result: R | string;
  let edited: unknown;
  try {
    // Meanwhile the human may answer, the turn may be stopped: only an accepted yes goes past this line.
    const decision: Approval<A> =
      options.approval === undefined
        ? { approved: true, args }
        : await context.approve(options.approval === true ? {} : options.approval);
    if (decision.approved && decision.args !== args) {
      edited = inJson(decision.args);
      caller.edit(decision.args);
    }
    result = decision.approved ? await run(decision.args, context) : deniedMessage;
    // A result that cannot go out (one too large for a frame, say) is answered for as a failure.
    answer(caller, toContent(result), edited);
  } catch (error) {
    answer(caller, failure(error), edited);
    throw error;
  }
  if (turn.output.full) await turn.output.room();
  return result;
}

/** Emits the result: also when the turn's result was decided meanwhile, since a call that was shown is answered. */
function answer<A>(
  { turn, owner, context, close }: Caller<A>,
  content: string | ContentPart[],
  editedArgs: unknown,
): void {
  if (turn.silent) return;
  close();
  const { toolCallId } = context;
  const event = {
    type: "TOOL_CALL_RESULT",
    messageId: `msg_${crypto.randomUUID()}`,
    toolCallId,
    content,
    role: "tool",
    // The call was shown with other arguments than those it ran with: whoever reads the history is told.
    ...(editedArgs === undefined ? {} : { metadata: { holdline: { editedArgs } } }),
  };
  turn.output.send(owner === undefined ? event : { ...event, subagentRunId: owner });
}

/** As JSON has it; nothing where it has no words for it (a schema may make anything of what it is given). */
function inJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

/** What the client and the model are told of a tool that threw: its own words only where they are meant for them. */
function failure(error: unknown): string {
  if (error instanceof PublicError) return error.message;
  if (error instanceof InterruptCancelledError || error instanceof InputTimeoutError)
    return (error as HoldlineError).message;
  return "The tool failed.";
}

const PARTS = new Set(["text", "image", "audio", "video", "document"]);

const isParts = (value: unknown): value is ContentPart[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((part) => typeof part === "object" && part !== null && PARTS.has(part.type));

/** A result as the wire takes it: a string or content parts (AG-UI tool calls), anything else as JSON. */
export function toContent(value: unknown): string | ContentPart[] {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" || isParts(value)) return value;
  return JSON.stringify(value) ?? "";
}
