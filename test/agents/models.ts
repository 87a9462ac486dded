/**
 * Models that say what a test wrote for them, one answer a call, and remember what they were told.
 */
import { simulateReadableStream } from "ai";
import { MockLanguageModelV3 } from "ai/test";

type Options = Parameters<MockLanguageModelV3["doStream"]>[0];
type Streamed = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>;
/** A piece of an answer, as a provider gives it to the AI SDK. */
export type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never;
type Usage = Extract<Part, { type: "finish" }>["usage"];
export type Prompt = Options["prompt"];

/** What a model says when it is called: its parts, or what gives them. */
export type Answer = Part[] | ((options: Options) => Part[] | Streamed | Promise<Part[] | Streamed>);

export interface ScriptedModel extends MockLanguageModelV3 {
  /** What the model was told at each of its calls. */
  readonly prompts: Prompt[];
}

/** A model that gives these answers in order. One call more fails the test. */
export function scripted(...answers: Answer[]): ScriptedModel {
  let called = 0;
  const model = new MockLanguageModelV3({
    provider: "acme",
    modelId: "scripted",
    async doStream(options) {
      const answer = answers[called++];
      if (answer === undefined) throw new Error(`The model was called ${called} times.`);
      const given = typeof answer === "function" ? await answer(options) : answer;
      return Array.isArray(given) ? streamOf(given) : given;
    },
  });
  return Object.defineProperty(model, "prompts", {
    get: () => model.doStreamCalls.map(({ prompt }) => prompt),
  }) as ScriptedModel;
}

export const streamOf = (parts: Part[]): Streamed => ({
  stream: simulateReadableStream({
    chunks: [{ type: "stream-start", warnings: [] }, ...parts],
    initialDelayInMs: null,
    chunkDelayInMs: null,
  }),
});

export const usage = (read: number, written: number): Usage => ({
  inputTokens: { total: read, noCache: read, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: written, text: written, reasoning: undefined },
});

type Reason = Extract<Part, { type: "finish" }>["finishReason"]["unified"];

export const finish = (unified: Reason, used: Usage = usage(10, 5)): Part => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage: used,
});

let texts = 0;

/** Text in pieces, without an end of the answer. */
export function words(...pieces: string[]): Part[] {
  const id = `text-${++texts}`;
  return [
    { type: "text-start", id },
    ...pieces.map((delta): Part => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

export function thoughts(...pieces: string[]): Part[] {
  const id = `thought-${++texts}`;
  return [
    { type: "reasoning-start", id },
    ...pieces.map((delta): Part => ({ type: "reasoning-delta", id, delta })),
    { type: "reasoning-end", id },
  ];
}

/** One call, its arguments streamed in pieces of `size` letters. */
export function call(toolCallId: string, toolName: string, args: unknown, size = 7): Part[] {
  const input = typeof args === "string" ? args : JSON.stringify(args);
  const pieces = Array.from({ length: Math.ceil(input.length / size) }, (_, i) =>
    input.slice(i * size, (i + 1) * size),
  );
  return [
    { type: "tool-input-start", id: toolCallId, toolName },
    ...pieces.map((delta): Part => ({ type: "tool-input-delta", id: toolCallId, delta })),
    { type: "tool-input-end", id: toolCallId },
    { type: "tool-call", toolCallId, toolName, input },
  ];
}

/** A whole answer of text. */
export const says = (...pieces: string[]): Part[] => [...words(...pieces), finish("stop")];

/** A whole answer of calls. */
export const calls = (...made: Part[][]): Part[] => [...made.flat(), finish("tool-calls")];

/** What a model was told of its calls: the result of each, in order. */
export function resultsIn(prompt: Prompt | undefined): [id: string, output: unknown][] {
  return (prompt ?? []).flatMap((message) =>
    message.role !== "tool"
      ? []
      : message.content.flatMap((part): [string, unknown][] =>
          part.type === "tool-result" ? [[part.toolCallId, part.output]] : [],
        ),
  );
}
