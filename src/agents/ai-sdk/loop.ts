/**
 * One turn of an agent with a model. `streamText` calls the model again and again while its calls are
 * answered; here is decided when it must not: the turn was ended by a tool, nobody is left to hear
 * it, its steps are used up, its answer was cut off, or the client has to answer first.
 */
import { type ModelMessage, type StepResult, streamText, type ToolModelMessage, type ToolSet } from "ai";
import type { AgentContext } from "../../index.ts";
import { Calls } from "./batch.ts";
import { toToolOutput } from "./content.ts";
import { discreet } from "./discreet.ts";
import { type History, type HistoryRules, toHistory } from "./history.ts";
import { findModel, watchModel } from "./model.ts";
import { ModelTime } from "./model-time.ts";
import type { AiAgentSettings } from "./options.ts";
import { type Offer, offerTools, type Workshop } from "./tools.ts";
import { Translator } from "./translate.ts";

/** How often one run warns of parts that were left out. */
const FEW = 3;

/** Runs the turn; what it gives back is the run's result. */
export async function runTurn(context: AgentContext, settings: AiAgentSettings): Promise<unknown> {
  const { model, passed } = settings;
  const { provider } = findModel(model);
  const rules: HistoryRules = { accepts: settings.accepts, skipped: skipping(context), provider };
  const history = toHistory(context.run.messages, rules);
  if (history.messages.length === 0) {
    context.warn("NOTHING_TO_ANSWER", "The run has no message that a model could answer; it was not called.");
    return undefined;
  }
  const calls = new Calls(context.signal, usedIds(context));
  const workshop: Workshop = { context, calls, running: new Set() };
  const offer = offerTools(await settings.tools(context), settings.turnControl, workshop);
  const translator = new Translator(context, calls, offer, provider);
  const time = new ModelTime(settings.timeout);
  // Ends what is still under way when this function is left by an error: reading no further would not.
  const leave = new AbortController();
  const signal = signalOf(passed, context, leave);
  const loop = new Loop({ context, settings, calls, offer, translator, time, rules, signal });
  try {
    return await loop.run(await systemOf(context, settings, history), history.messages);
  } catch (error) {
    calls.batch.fail(error);
    leave.abort(error);
    // Whatever broke because the turn was stopped is not what went wrong.
    throw context.signal.aborted ? context.signal.reason : discreet(error);
  } finally {
    time.end();
    // Its tools hear the signal; a turn is over when the last of them is.
    await Promise.allSettled(workshop.running);
  }
}

interface LoopParts {
  readonly context: AgentContext;
  readonly settings: AiAgentSettings;
  readonly calls: Calls;
  readonly offer: Offer;
  readonly translator: Translator;
  readonly time: ModelTime;
  readonly rules: HistoryRules;
  readonly signal: AbortSignal;
}

class Loop {
  readonly #parts: LoopParts;
  /** What the model has answered in this turn, over all calls of `streamText`. */
  readonly #steps: StepResult<ToolSet>[] = [];
  #usedUp = false;
  /** Calls that a human has approved, of which their provider was not told. */
  #unsent = false;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  async run(system: string, history: ModelMessage[]): Promise<unknown> {
    let messages = history;
    for (;;) {
      await this.#stream(system, messages);
      const further = await this.#further();
      if (further === undefined) return this.#conclude();
      messages = [...messages, ...(this.#steps.at(-1)?.response.messages ?? []), further];
    }
  }

  async #stream(system: string, messages: ModelMessage[]): Promise<void> {
    const { settings, context, calls, offer, translator, time, signal } = this.#parts;
    const { prepareStep, onStepFinish, experimental_repairToolCall: repair, ...passed } = settings.passed;
    const before = [...this.#steps];
    const watch = { context, calls, time };
    const { fullStream } = streamText({
      // Addresses that a client sends are the provider's to fetch, or nobody's: never this server's.
      experimental_download: async (requests) => requests.map(() => null),
      onError: () => {},
      ...passed,
      ...(system === "" ? {} : { system }),
      model: watchModel(settings.model, watch),
      tools: offer.tools,
      messages,
      abortSignal: signal,
      stopWhen: ({ steps }) => this.#mustStop([...before, ...steps]),
      async prepareStep(options) {
        const steps = [...before, ...options.steps];
        const prepared = await prepareStep?.({ ...options, steps, stepNumber: steps.length });
        return prepared?.model === undefined ? prepared : { ...prepared, model: watchModel(prepared.model, watch) };
      },
      onStepFinish: async (step) => {
        this.#steps.push(step);
        await onStepFinish?.(step);
      },
      async experimental_repairToolCall(given) {
        const { toolCallId, toolName } = given.toolCall;
        const repaired = await repair?.(given);
        // It stays the call that was shown.
        if (repaired) return { ...repaired, toolCallId };
        // A client's arguments are the client's to read: nobody here may say to the model that they are wrong.
        return offer.isFrontend(toolName) ? { ...given.toolCall, input: "{}" } : null;
      },
    });
    for await (const part of fullStream) await translator.take(part);
  }

  /** Asked when every call of the last answer has been answered, and the model would be called again. */
  async #mustStop(steps: StepResult<ToolSet>[]): Promise<boolean> {
    const { settings, context, calls } = this.#parts;
    if (!context.heard || calls.batch.terminating !== undefined) return true;
    // Even calls that could not be run count as answered: a model that is cut off again and again would not end.
    if (isCut(this.#parts.translator.end?.finishReason)) return true;
    const conditions = [settings.stopWhen ?? []].flat();
    for (const condition of conditions) if (await condition({ steps })) return true;
    this.#usedUp = steps.length >= settings.maxSteps;
    return this.#usedUp;
  }

  /** What the model may go on with after all, once `streamText` has stopped: answers from outside. */
  async #further(): Promise<ToolModelMessage | undefined> {
    const { context, calls, translator, rules, settings } = this.#parts;
    if (!context.heard || translator.aborted || calls.batch.terminating !== undefined) return undefined;
    if (isCut(translator.end?.finishReason)) return undefined;
    const approvals = translator.approvals.splice(0);
    const { pending } = translator;
    if (approvals.length === 0 && pending.length === 0) return undefined;
    // Before anybody is asked: a yes must be of use.
    this.#usedUp = this.#steps.length >= settings.maxSteps;
    if (this.#usedUp) return undefined;
    // Decided together: one outcome, however many there are. A provider runs its call as it made it: there is nothing to edit.
    const responses = await Promise.all(
      approvals.map(async ({ approvalId, toolCall: { toolCallId, toolName, input } }) => {
        const { approved } = await context.approve({ toolCallId, toolName, args: input, allowEdits: false });
        return { type: "tool-approval-response" as const, approvalId, approved, providerExecuted: true };
      }),
    );
    // While a question beside them was answered, the client may have run its own tools: the answer's history tells.
    const results = pending.flatMap(({ id, name }) => {
      const message = context.run.messages.find((one) => one.role === "tool" && one.toolCallId === id);
      if (message?.role !== "tool") return [];
      const output = toToolOutput(message.content, message.error, rules);
      return [{ type: "tool-result" as const, toolCallId: id, toolName: name, output }];
    });
    if (results.length < pending.length || !context.heard) {
      this.#unsent = responses.length > 0;
      return undefined;
    }
    return { role: "tool", content: [...results, ...responses] };
  }

  /** The turn is over: nothing is left unanswered that is this server's to answer. */
  async #conclude(): Promise<unknown> {
    const { context, calls, translator, settings } = this.#parts;
    const { finishReason = "error", rawFinishReason } = translator.end ?? {};
    const cut = isCut(finishReason);
    if (!context.heard) return undefined;
    const named = rawFinishReason ?? finishReason;
    const unrun = translator.unanswered.length > 0;
    const unsent = this.#unsent ? UNSENT : "";
    await translator.answerRest(cut ? `Not run: the answer was cut off (${finishReason}).` : unsent);
    const { terminating } = calls.batch;
    if (translator.aborted) return context.stop();
    if (terminating?.termination !== undefined) {
      const { status, message, reason } = terminating.termination;
      if (status === "input-required") return context.inputRequired(message, reason === undefined ? {} : { reason });
      await context.text(message, { newMessage: true });
      return { status, message };
    }
    if (this.#usedUp) {
      context.warn(
        "MAX_STEPS_REACHED",
        `The model was called ${settings.maxSteps} times (maxSteps); the turn was ended.`,
      );
      return context.stop();
    }
    if (finishReason === "length") {
      context.warn("MODEL_CUT_OFF", `The model's answer was cut off (${named}); the turn was ended.`);
      // A limit ended the run before it was complete (AG-UI cancelled runs).
      return context.stop();
    }
    if (finishReason === "content-filter")
      context.warn("MODEL_CUT_OFF", `The model's answer was ended by a filter (${named}).`);
    // Whatever else a provider calls it, an answer without calls that were passed over is an answer.
    else if (finishReason === "error" || (cut && unrun)) throw new Error(`The model's answer ended with ${named}.`);
    return undefined;
  }
}

const UNSENT =
  "Not run: a call of the client's in the same answer had no result when this one was decided on. Call it again by itself.";

/** Whether an answer ended in another way than by being complete: then nothing it called for was run. */
const isCut = (finishReason: string | undefined): boolean => finishReason !== "stop" && finishReason !== "tool-calls";

/** The turn's end, ours, and the application's. */
function signalOf(
  { abortSignal }: AiAgentSettings["passed"],
  context: AgentContext,
  leave: AbortController,
): AbortSignal {
  const signals = [context.signal, leave.signal];
  return AbortSignal.any(abortSignal === undefined ? signals : [...signals, abortSignal]);
}

/** Ids that the client's history and the thread know. */
function usedIds({ run }: AgentContext): string[] {
  return run.messages.flatMap((message) => {
    if (message.role === "tool") return [message.toolCallId];
    return message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
  });
}

function skipping(context: AgentContext): (what: string) => void {
  let times = 0;
  return (what) => {
    if (times++ < FEW) context.warn("CONTENT_SKIPPED", `The model was not given ${what}.`);
  };
}

/** One text: several system messages, or one past the first place, are more than some providers take. */
async function systemOf(
  context: AgentContext,
  { instructions }: AiAgentSettings,
  { system }: History,
): Promise<string> {
  const own = typeof instructions === "function" ? await instructions(context) : instructions;
  const entries = context.run.context.map(({ description, value }) => `${description}:\n${value}`);
  const given = entries.length === 0 ? [] : [`What the application tells:\n\n${entries.join("\n\n")}`];
  return [own ?? "", ...given, ...system].filter((text) => text !== "").join("\n\n");
}
