/**
 * The tools a model is offered: those of this server, wrapped so that each call runs in a context of
 * its own and is answered once; those of the client, which are only declared; and turn control.
 */
import type { Tool as FrontendTool } from "@ag-ui/core";
import { jsonSchema, type Tool, type ToolSet, tool } from "ai";
import {
  type AgentContext,
  type InputRequired,
  InputTimeoutError,
  InterruptCancelledError,
  PromptInvalidError,
  PublicError,
  type ToolContext,
  TurnReleasedError,
} from "../../index.ts";
import { type AnyTool, closedGate, type ExecutionOptions, gateOf } from "./approval.ts";
import type { Call, Calls } from "./batch.ts";
import { outputOf, toWire } from "./content.ts";
import { withContext } from "./context-of.ts";
import { REQUEST_INPUT, readResult, requestInput } from "./turn-control.ts";

/** What a turn's tools have at hand. */
export interface Workshop {
  readonly context: AgentContext;
  readonly calls: Calls;
  /** Calls whose tools have not ended. */
  readonly running: Set<Promise<unknown>>;
}

/** The tools of one turn. */
export interface Offer {
  readonly tools: ToolSet;
  /** Those that nobody here runs: their calls are left to the client. */
  readonly isFrontend: (name: string) => boolean;
  /** Whether a call of this name is ours to end the turn with, so that not all of its arguments may be shown. */
  readonly isTurnControl: (name: string) => boolean;
}

/** @throws TypeError when a tool of the application has turn control's name, or asks for approval of what the client runs. */
export function offerTools(own: ToolSet, turnControl: false | { description?: string }, workshop: Workshop): Offer {
  const { context } = workshop;
  if (turnControl !== false && Object.hasOwn(own, REQUEST_INPUT))
    throw new TypeError(
      `A tool is called ${REQUEST_INPUT}, as turn control is: rename it, or set turnControl to false.`,
    );
  // Without a prototype: a model that calls "constructor" calls a tool that is not there.
  const tools: ToolSet = Object.create(null);
  // A call of a tool that the client declares is never answered here (AG-UI frontend tools): such a name is the client's.
  const frontend = new Set(context.run.tools.map(({ name }) => name));
  for (const [name, given] of Object.entries(own)) {
    const isFrontend = given.execute === undefined && given.type !== "provider";
    if (isFrontend && (given.needsApproval ?? false) !== false)
      throw new TypeError(
        `The tool ${JSON.stringify(name)} has \`needsApproval\` and no \`execute\`: what does not run here cannot be held back here.`,
      );
    if (isFrontend) frontend.add(name);
    else if (frontend.has(name)) {
      warnOfName(name, context);
      continue;
    }
    tools[name] = isFrontend || given.execute === undefined ? given : wrap(given, name, workshop);
  }
  const controls = turnControl !== false && !frontend.has(REQUEST_INPUT);
  if (controls) tools[REQUEST_INPUT] = wrap(requestInput(turnControl.description), REQUEST_INPUT, workshop);
  else if (turnControl !== false) warnOfName(REQUEST_INPUT, context);
  for (const declared of context.run.tools) tools[declared.name] ??= declare(declared);
  return {
    tools,
    isFrontend: (name) => frontend.has(name),
    isTurnControl: (name) => controls && name === REQUEST_INPUT,
  };
}

function warnOfName(name: string, context: AgentContext): void {
  const message = `The client declares a tool ${JSON.stringify(name)}, which this server has too: in this turn it is the client's.`;
  context.warn("TOOL_NAME_TAKEN", message);
}

/** A client's tool: its calls are streamed and left unanswered (AG-UI frontend tools). */
function declare({ description, parameters }: FrontendTool): Tool {
  const isSchema = typeof parameters === "object" && parameters !== null && !Array.isArray(parameters);
  return tool({ description, inputSchema: jsonSchema(isSchema ? parameters : { type: "object", properties: {} }) });
}

function wrap(given: AnyTool, name: string, workshop: Workshop): Tool {
  const { calls, running } = workshop;
  return {
    ...given,
    // The AI SDK asks this of each call before it runs any. What it would do about a yes is done here instead.
    async needsApproval(input: unknown, options: Parameters<typeof gateOf>[2]) {
      const call = calls.get(options.toolCallId);
      if (call !== undefined) {
        call.runs = true;
        call.gate = await gateOf(given, input, options);
      }
      return false;
    },
    execute(input: object, options: ExecutionOptions) {
      const call = calls.get(options.toolCallId);
      if (call === undefined) throw new Error(`The call ${options.toolCallId} did not come from the model.`);
      const work = run(given, name, call, input, options, workshop).finally(call.settle);
      running.add(work);
      work.catch(() => {}).finally(() => running.delete(work));
      return work;
    },
    toModelOutput: ({ toolCallId, output }: { toolCallId: string; output: unknown }) =>
      calls.get(toolCallId)?.output ?? outputOf(output),
  } as Tool;
}

/** Runs one call and answers it. Rejects with words that the model may read. */
async function run(
  given: AnyTool,
  name: string,
  call: Call,
  input: object,
  options: ExecutionOptions,
  { context, calls }: Workshop,
): Promise<unknown> {
  call.answered = true;
  await call.batch.shown;
  // What the AI SDK has not asked about waits.
  const gate = call.gate ?? (await closedGate(given));
  let result: unknown;
  let failure: string | undefined;
  let entered = false;
  const answer = await context
    .toolCall(
      name,
      input,
      async (args, toolContext) => {
        entered = true;
        if (args !== input) calls.edited.set(call.id, args);
        try {
          const scoped = terminable(toolContext, call);
          result = await lastOf(given.execute?.(args, withContext(options, scoped)));
          return toWire(await settleResult(given, call, args, result, context));
        } catch (error) {
          if (isNews(error)) context.report(error);
          failure = wordsFor(error);
          return failure;
        }
      },
      {
        toolCallId: call.id,
        shown: true,
        ...(gate === "open" ? {} : { approval: gate.options, argsSchema: gate.argsSchema }),
      },
    )
    .catch((error: unknown) => {
      // The question itself failed: it was abandoned, it timed out, nobody can be asked.
      if (isNews(error)) context.report(error);
      throw new Error(wordsFor(error));
    });
  if (failure !== undefined) {
    call.termination = undefined;
    throw new Error(failure);
  }
  // A denied call's words are for the model as they are, not for what the tool makes of its own results.
  return entered ? result : answer;
}

/** What the model is told of a result, and whether it ends the turn. */
async function settleResult(
  given: AnyTool,
  call: Call,
  input: object,
  result: unknown,
  context: AgentContext,
): Promise<NonNullable<Call["output"]>> {
  const decided = call.termination;
  const { content, termination, ignored } =
    decided === undefined || result !== decided
      ? readResult(result)
      : { content: decided.message, termination: undefined, ignored: undefined };
  if (ignored !== undefined)
    context.warn("TERMINATE_IGNORED", `The result of ${call.name} does not end the turn: ${ignored}.`);
  call.termination = decided ?? termination;
  if (call.termination !== undefined) {
    // An earlier call of the batch may still end the turn in this one's place.
    await call.batch.before(call);
    if (call.batch.terminating !== call) {
      call.termination = undefined;
      call.output = { type: "text", value: NOT_FIRST };
      return call.output;
    }
  }
  const { toModelOutput } = given;
  call.output =
    toModelOutput === undefined || call.termination !== undefined
      ? outputOf(content)
      : await toModelOutput({ toolCallId: call.id, input, output: content });
  return call.output;
}

const NOT_FIRST =
  "Not passed on: another call of the same answer ended the turn first. Do it again later if it is still needed.";

/**
 * The tool's own context, in which `inputRequired` waits like any other ending until the whole batch has settled:
 * a sibling that holds a question is answered first.
 */
function terminable(context: ToolContext, call: Call): ToolContext {
  const inputRequired = (prompt: string, { reason }: { reason?: string } = {}): InputRequired => {
    const { termination, ignored } = readResult({ terminate: { status: "input-required", message: prompt, reason } });
    if (ignored !== undefined || termination === undefined) throw new PromptInvalidError();
    call.termination = termination;
    return termination as InputRequired;
  };
  return Object.defineProperty(context, "inputRequired", { value: inputRequired });
}

/** A tool may give its result in versions: the last one counts. */
async function lastOf(given: unknown): Promise<unknown> {
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given)) return given;
  let last: unknown;
  for await (const version of given as AsyncIterable<unknown>) last = version;
  return last;
}

/** Whether an error is anything but how a question or its turn ended, or words for the client. */
const isNews = (error: unknown): boolean =>
  !(
    error instanceof PublicError ||
    error instanceof InterruptCancelledError ||
    error instanceof InputTimeoutError ||
    error instanceof TurnReleasedError
  );

/** What the model is told of a tool that failed: the same that the client is. */
function wordsFor(error: unknown): string {
  const own =
    error instanceof PublicError || error instanceof InterruptCancelledError || error instanceof InputTimeoutError;
  return own ? error.message : "The tool failed.";
}
