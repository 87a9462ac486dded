/**
 * One tool call that the agent makes itself: shown, approved where that is wanted, run, and always
 * answered with a result.
 */
import type { ContentPart } from "@ag-ui/core";
import type { Approval, ApprovalCall, ToolCallOptions, ToolContext } from "./agent.ts";
import { wordsOf } from "./ending.ts";
import { type HoldlineError, InputTimeoutError, InterruptCancelledError, PublicError, refuse } from "./errors.ts";
import { attempt } from "./handled.ts";
import { toolContent } from "./input-shape.ts";
import { mustBeKnown } from "./known.ts";
import { readShape } from "./read-shape.ts";
import { freshId, type Voice } from "./voice.ts";

/** One call, as its tool's context knows it. */
export interface Call<A> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Those it was called with; once edited ones were approved, those. */
  args: A;
  readonly argsSchema: ApprovalCall<A>["argsSchema"];
}

/** A call, the context its tool is handed, that context's voice and its caller's. */
interface Calling<A> {
  readonly call: Call<A>;
  /** Whether it was shown, and whether its result was. */
  stage?: "shown" | "answered";
  readonly context: ToolContext<A>;
  readonly voice: Voice;
  readonly from: Voice;
}

type Tool<A, R> = (args: A, context: ToolContext<A>) => R | PromiseLike<R>;

/** Shows the call, runs it and shows its result. */
export function callTool<A extends object, R>(
  calling: Calling<A>,
  run: Tool<A, R>,
  options: ToolCallOptions<A>,
): Promise<R | string> {
  const { calls, carriage } = calling.from.turn;
  let settle = () => {};
  const running = new Promise<void>((resolve) => {
    settle = resolve;
  });
  // Counted before it is entered: a call that decides the run in this very step is answered before the prompt is shown.
  calls.set(running, () => {
    try {
      if (calling.stage === "shown") tell(calling, "The turn ended before the tool did.", undefined);
    } catch (error) {
      // The run ends all the same.
      carriage.report(error);
    }
  });
  const called = attempt(() => {
    mustBeKnown("toolCall", options, ["approval", "argsSchema", "toolCallId", "shown"]);
    if (typeof run !== "function") throw new TypeError("toolCall needs a function that runs the tool.");
    announce(calling, options.shown === true);
    return runTool(calling, run, options);
  });
  const over = () => {
    calls.delete(running);
    settle();
  };
  called.then(over, over);
  return called;
}

/** Shows the call, unless it was shown as its model streamed it: from here on it is answered, whatever happens. */
function announce<A>(calling: Calling<A>, shown: boolean): void {
  const { call, from } = calling;
  from.check();
  const { toolCallId, toolName, args } = call;
  const { ledger } = from.turn.output;
  if (ledger.isClientTool(toolName)) {
    refuse(
      `${JSON.stringify(toolName)} is a tool of the client's, which answers its calls: emit the call, without a result.`,
    );
  }
  if (!shown) {
    const delta = JSON.stringify(args);
    // Its arguments would be appended to those that were shown (AG-UI tool calls).
    if (ledger.find("call", toolCallId) !== undefined)
      refuse(`The call ${JSON.stringify(toolCallId)} was shown already: give \`shown: true\`, or another toolCallId.`);
    from.begin({ type: "TOOL_CALL_START", toolCallId, toolCallName: toolName });
    from.send({ type: "TOOL_CALL_ARGS", toolCallId, delta });
    from.send({ type: "TOOL_CALL_END", toolCallId });
  }
  calling.stage = "shown";
}

async function runTool<A extends object, R>(
  calling: Calling<A>,
  run: Tool<A, R>,
  { approval }: ToolCallOptions<A>,
): Promise<R | string> {
  const { call, context, voice } = calling;
  const { output, host, carriage } = voice.turn;
  const words =
    (typeof approval === "object" ? approval.deniedMessage : undefined) ?? host.settings.approvals.deniedMessage;
  let result: R | string;
  let edited: unknown;
  try {
    // Meanwhile the human may answer, the turn may be stopped: only an accepted yes goes past this line.
    const decision: Approval<A> =
      approval === undefined
        ? { approved: true, args: call.args }
        : await context.approve(approval === true ? {} : approval);
    if (decision.approved && decision.args !== call.args) {
      edited = inJson(decision.args);
      call.args = decision.args;
    }
    result = decision.approved ? await run(decision.args, context) : words;
    // A result that cannot go out (one too large for a frame, say) is answered for as a failure.
    answer(calling, toContent(result), edited);
  } catch (error) {
    answer(calling, failure(error), edited);
    throw error;
  }
  if (output.full) await carriage.room();
  return result;
}

/** Emits the result: also when the turn's result was decided meanwhile, since a call that was shown is answered. */
function answer<A>(calling: Calling<A>, content: string | ContentPart[], editedArgs: unknown): void {
  if (!calling.voice.turn.standing.silent) tell(calling, content, editedArgs);
}

function tell<A>(calling: Calling<A>, content: string | ContentPart[], editedArgs: unknown): void {
  const { call, voice } = calling;
  voice.close();
  const { toolCallId } = call;
  // The call was shown with other arguments than those it ran with: whoever reads the history is told.
  const told = editedArgs === undefined ? {} : { metadata: { holdline: { editedArgs } } };
  voice.send({ type: "TOOL_CALL_RESULT", messageId: freshId("msg"), toolCallId, content, role: "tool", ...told });
  calling.stage = "answered";
}

/** As JSON has it; nothing where it has no words for it (a schema may make anything of what it is given). */
function inJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

/** Whether an error's own words are for the client and the model: also how a question of the tool's ended is. */
const isTold = (error: unknown): error is HoldlineError =>
  error instanceof PublicError || error instanceof InterruptCancelledError || error instanceof InputTimeoutError;

const failure = (error: unknown): string => wordsOf(error, "The tool failed.", isTold);

/** Whether a list is content parts, to the last member: data that only looks like them is told as data. */
function isParts(value: unknown): value is ContentPart[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const { issues, findings } = readShape(toolContent, value, false);
  return issues.length === 0 && findings.length === 0;
}

/** A result as the wire takes it: a string or content parts (AG-UI tool calls), anything else as JSON. */
function toContent(value: unknown): string | ContentPart[] {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" || isParts(value)) return value;
  return JSON.stringify(value) ?? "";
}
