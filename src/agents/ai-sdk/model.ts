/**
 * A model as the loop watches it: its calls get ids that are unique in the conversation, what it
 * used is counted in the run that is open, it stops when nobody is left to hear it, it is given
 * nothing it said it cannot take, and time that passes while a human thinks is not its time.
 */
import { tokenUsageFromAiSdkUsage } from "@ag-ui/core";
import { gateway, type LanguageModel, UnsupportedFunctionalityError } from "ai";
import { type AgentContext, TurnReleasedError } from "../../index.ts";
import type { Call, Calls } from "./batch.ts";
import type { ModelTime } from "./model-time.ts";

type Model = Extract<Exclude<LanguageModel, string>, { specificationVersion: "v3" }>;
type CallOptions = Parameters<Model["doStream"]>[0];
type Prompt = CallOptions["prompt"];
type Streamed = Awaited<ReturnType<Model["doStream"]>>;
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never;

/** A model named by a string is the AI SDK's to find. */
export function findModel(model: LanguageModel): Model {
  if (typeof model !== "string") return model as Model;
  return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) as Model;
}

export interface Watch {
  readonly context: AgentContext;
  readonly calls: Calls;
  readonly time: ModelTime;
}

/** The same model, watched. One of the AI SDK's version 2 stays one; only its parts pass through here. */
export function watchModel(given: LanguageModel, { context, calls, time }: Watch): LanguageModel {
  const model = findModel(given);
  const watched = {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (options: CallOptions) => model.doGenerate(options),
    async doStream(options: CallOptions): Promise<Streamed> {
      if (!context.heard) throw context.signal.aborted ? context.signal.reason : new TurnReleasedError();
      const timer = time.start(options.abortSignal);
      try {
        const prompt = withEdits(options.prompt, calls.edited);
        const asked = callModel(model, { ...options, prompt, abortSignal: timer.signal }, context);
        const streamed = await unlessAborted(asked, timer.signal);
        const watching = watchStream(model, { context, calls, time }, timer);
        return { ...streamed, stream: streamed.stream.pipeThrough(watching, { signal: timer.signal }) };
      } catch (error) {
        timer.end();
        throw error;
      }
    },
  };
  return watched as LanguageModel;
}

/** Passes a stream on, its calls under their own ids. A stream that ends before its answer has is an error. */
function watchStream(
  { provider, modelId }: Model,
  { context, calls }: Watch,
  timer: ReturnType<ModelTime["start"]>,
): TransformStream<Part, Part> {
  const batch = calls.begin();
  /** By the provider's ids, which another call may take over once one is whole. */
  const open = new Map<string, Call>();
  const whole = new Map<string, Call>();
  let finished = false;
  const callOf = (id: string, name: string): Call => {
    const call = open.get(id) ?? calls.add(id, name);
    open.set(id, call);
    return call;
  };
  return new TransformStream({
    transform(part, controller) {
      timer.touch();
      switch (part.type) {
        case "tool-input-start":
          controller.enqueue({ ...part, id: callOf(part.id, part.toolName).id });
          return;
        case "tool-input-delta":
        case "tool-input-end":
          controller.enqueue({ ...part, id: open.get(part.id)?.id ?? part.id });
          return;
        case "tool-call": {
          const call = callOf(part.toolCallId, part.toolName);
          open.delete(part.toolCallId);
          whole.set(part.toolCallId, call);
          batch.expect(call, part.input);
          controller.enqueue({ ...part, toolCallId: call.id });
          return;
        }
        case "tool-result":
        case "tool-approval-request":
          // Of a call of this answer, or of an earlier one, which the provider then knows by the id it was given.
          controller.enqueue({ ...part, toolCallId: whole.get(part.toolCallId)?.id ?? part.toolCallId });
          return;
        case "finish": {
          finished = true;
          timer.end();
          // Here and not when the step is over: until then a tool of it may have asked, and another run be open.
          const entry = tokenUsageFromAiSdkUsage(asUsage(part.usage), { provider, model: modelId });
          if (entry !== undefined) context.usage(entry);
          batch.complete();
          controller.enqueue(part);
          return;
        }
        default:
          controller.enqueue(part);
      }
    },
    flush(controller) {
      timer.end();
      if (!finished) controller.error(new Error("The model's stream ended before its answer was finished."));
    },
  });
}

/** Counts as the AI SDK hands them to applications; those of a version 2 model come that way. */
function asUsage(usage: Extract<Part, { type: "finish" }>["usage"]): unknown {
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens !== "object" || inputTokens === null) return usage;
  const [read, written] = [inputTokens.total, outputTokens.total];
  return {
    inputTokens: read,
    outputTokens: written,
    totalTokens: read === undefined && written === undefined ? undefined : (read ?? 0) + (written ?? 0),
    inputTokenDetails: { cacheReadTokens: inputTokens.cacheRead, cacheWriteTokens: inputTokens.cacheWrite },
    outputTokenDetails: { reasoningTokens: outputTokens.reasoning },
  };
}

/** A call that was edited ran with other arguments than the model wrote: it is told those. */
function withEdits(prompt: Prompt, edited: ReadonlyMap<string, object>): Prompt {
  if (edited.size === 0) return prompt;
  return prompt.map((message) =>
    message.role === "assistant"
      ? {
          ...message,
          content: message.content.map((part) =>
            part.type === "tool-call" && edited.has(part.toolCallId)
              ? { ...part, input: edited.get(part.toolCallId) }
              : part,
          ),
        }
      : message,
  );
}

/** Calls it; media that its provider refuses before anything is sent is left out, and the call made again. */
async function callModel(model: Model, options: CallOptions, context: AgentContext): Promise<Streamed> {
  let { prompt } = options;
  for (;;) {
    try {
      return await model.doStream({ ...options, prompt });
    } catch (error) {
      if (!UnsupportedFunctionalityError.isInstance(error)) throw error;
      const types = mediaTypes(prompt);
      const named = [...types].filter((type) => error.message.includes(type));
      const refused = named.length > 0 ? new Set(named) : types;
      if (refused.size === 0) throw error;
      context.warn(
        "CONTENT_SKIPPED",
        `${model.provider} takes no ${[...refused].join(", ")}: left out (${error.message})`,
      );
      prompt = withoutMedia(prompt, refused);
    }
  }
}

function mediaTypes(prompt: Prompt): Set<string> {
  const types = new Set<string>();
  for (const message of prompt)
    if (message.role === "user")
      for (const part of message.content) if (part.type === "file") types.add(part.mediaType);
  return types;
}

function withoutMedia(prompt: Prompt, refused: ReadonlySet<string>): Prompt {
  return prompt.map((message) => {
    if (message.role !== "user") return message;
    const content = message.content.filter((part) => part.type !== "file" || !refused.has(part.mediaType));
    return { ...message, content: content.length > 0 ? content : [{ type: "text", text: UNREADABLE }] };
  });
}

/** What stands for a user message of which the model could take nothing. */
const UNREADABLE = "[Content this model cannot read]";

/** Also for a model that ignores its signal. */
function unlessAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener("abort", abort);
        resolve(value);
      },
      (error) => {
        signal.removeEventListener("abort", abort);
        reject(error);
      },
    );
  });
}
