import { hasToolCall, type LanguageModel, simulateReadableStream, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer, nextTurn, until, within } from "../support/promises.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";
import { call, calls, type Part, says, scripted, streamOf, words } from "./models.ts";

const note = tool({ inputSchema: z.object({}), execute: () => "noted" });
const noteEach = (n: number) => Array.from({ length: n }, (_, i) => calls(call(`n${i}`, "note", {})));

/** Enough of them for a model to have been called and to have said its first words. */
async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

/** A model that says something and then nothing, and hears that it is to stop. */
function stalled(more: Part[] = []): { model: MockLanguageModelV3; signals: AbortSignal[]; cancelled: unknown[] } {
  const signals: AbortSignal[] = [];
  const cancelled: unknown[] = [];
  const model = new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => {
      signals.push(abortSignal as AbortSignal);
      const parts: Part[] = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Well" },
        ...more,
      ];
      return {
        stream: new ReadableStream<Part>({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
          },
          cancel: (reason) => void cancelled.push(reason),
        }),
      };
    },
  });
  return { model, signals, cancelled };
}

describe("how often a model is called", () => {
  it("is at most maxSteps; a turn that needs more is cancelled, with all its calls answered", async () => {
    const model = scripted(...noteEach(5));
    const agent = agentUnderTest(aiAgent({ model, tools: { note }, maxSteps: 3 }));
    const run = await agent.run("go");
    expect(model.prompts).toHaveLength(3);
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(typesOf(run).filter((type) => type === "TOOL_CALL_RESULT")).toHaveLength(3);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["MAX_STEPS_REACHED"]);
  });

  it("is success when the last one allowed is enough", async () => {
    const agent = agentUnderTest(
      aiAgent({ model: scripted(...noteEach(2), says("done")), tools: { note }, maxSteps: 3 }),
    );
    const run = await agent.run("go");
    expect(run.text).toBe("done");
    expect(run.outcome).toEqual({ type: "success" });
    expect(agent.warnings).toEqual([]);
  });

  it("is 20 at most where nothing is said", async () => {
    const model = scripted(...noteEach(25));
    expect((await agentUnderTest(aiAgent({ model, tools: { note } })).run("go")).outcome).toEqual({
      type: "cancelled",
    });
    expect(model.prompts).toHaveLength(20);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("cannot be at most %d", (maxSteps) => {
    expect(() => aiAgent({ model: scripted(), maxSteps })).toThrow(RangeError);
  });

  it("is less where the application's own condition says so, and that is success", async () => {
    const model = scripted(...noteEach(5));
    const agent = agentUnderTest(aiAgent({ model, tools: { note }, stopWhen: [hasToolCall("note")] }));
    const run = await agent.run("go");
    expect(run.outcome).toEqual({ type: "success" });
    expect(model.prompts).toHaveLength(1);
    expect(agent.warnings).toEqual([]);
  });

  it("is once in each turn for a model that just answers", async () => {
    const model = scripted(says("one"), says("two"));
    const agent = agentUnderTest(aiAgent({ model }));
    expect((await agent.run("a")).text).toBe("one");
    expect((await agent.run("b")).text).toBe("two");
  });
});

describe("what streamText takes besides", () => {
  it("is passed through", async () => {
    const model = scripted(calls(call("a", "note", {})), says("ok"));
    const steps: number[] = [];
    const seen: string[] = [];
    const agent = agentUnderTest(
      aiAgent({
        model,
        tools: { note },
        turnControl: false,
        temperature: 0.3,
        maxOutputTokens: 77,
        seed: 5,
        stopSequences: ["END"],
        providerOptions: { acme: { cache: true } },
        headers: { "x-trace": "t1" },
        toolChoice: "auto",
        prepareStep: ({ stepNumber }) => {
          steps.push(stepNumber);
          return { temperature: stepNumber };
        },
        onStepFinish: ({ finishReason }) => void seen.push(`step ${finishReason}`),
        onFinish: ({ text }) => void seen.push(`finish ${text}`),
        onChunk: ({ chunk }) => void (chunk.type === "text-delta" && seen.push(chunk.text)),
      }),
    );
    await agent.run("go");
    expect(model.doStreamCalls[0]).toMatchObject({
      maxOutputTokens: 77,
      seed: 5,
      stopSequences: ["END"],
      providerOptions: { acme: { cache: true } },
      toolChoice: { type: "auto" },
    });
    expect(model.doStreamCalls[0]?.headers).toMatchObject({ "x-trace": "t1" });
    expect(model.doStreamCalls.map(({ temperature }) => temperature)).toEqual([0, 1]);
    expect(steps).toEqual([0, 1]);
    expect(seen).toEqual(["step tool-calls", "ok", "step stop", "finish ok"]);
  });

  it("may change the model from step to step: the other one is watched too", async () => {
    const first = scripted(calls(call("call_0", "note", {})));
    const second = new MockLanguageModelV3({
      provider: "other",
      modelId: "second",
      doStream: async () => streamOf(says("from the other")),
    });
    const agent = agentUnderTest(
      aiAgent({
        model: first,
        tools: { note },
        prepareStep: ({ stepNumber }) => (stepNumber === 0 ? {} : { model: second }),
      }),
    );
    const run = await agent.run("go");
    expect(run.text).toBe("from the other");
    expect(run.events.at(-1)?.usage.map(({ provider }: { provider: string }) => provider)).toEqual(["acme", "other"]);
  });

  it("may transform the stream before a client sees it", async () => {
    const agent = agentUnderTest(
      aiAgent({
        model: scripted(says("my key is sk-1", " indeed")),
        experimental_transform: () =>
          new TransformStream({
            transform(part, controller) {
              controller.enqueue(
                part.type === "text-delta" ? { ...part, text: part.text.replace(/sk-\d+/, "***") } : part,
              );
            },
          }),
      }),
    );
    const run = await agent.run("go");
    expect(run.text).toBe("my key is *** indeed");
    expect(run.raw).not.toContain("sk-1");
  });

  it("may repair a call", async () => {
    const seen: unknown[] = [];
    const echo = tool({ inputSchema: z.object({ n: z.number() }), execute: (args) => void seen.push(args) });
    const agent = agentUnderTest(
      aiAgent({
        model: scripted(calls(call("a", "echo", '{"n":1')), says("ok")),
        tools: { echo },
        experimental_repairToolCall: async ({ toolCall }) => ({ ...toolCall, toolCallId: "mine", input: '{"n":1}' }),
      }),
    );
    expect((await agent.run("go")).text).toBe("ok");
    expect(seen).toEqual([{ n: 1 }]);
  });

  it("may end the turn by a signal of the application's: the run is cancelled", async () => {
    const stop = new AbortController();
    const { model, signals } = stalled();
    const agent = agentUnderTest(aiAgent({ model, abortSignal: stop.signal }));
    const running = agent.run("go");
    await until(() => signals.length > 0, "the model's call");
    stop.abort();
    expect((await running).outcome).toEqual({ type: "cancelled" });
    expect(signals[0]?.aborted).toBe(true);
    expect(agent.errors).toEqual([]);
  });
});

describe("the tools of a turn", () => {
  it("may depend on who is calling, and share one execute between turns", async () => {
    const model = scripted(says("a"), says("b"));
    const agent = agentUnderTest(
      aiAgent({
        model,
        turnControl: false,
        tools: async ({ identity }: AgentContext) => (identity === "ada" ? { note } : {}),
      }),
    );
    await agent.run("go", { identity: "ada" });
    await agent.run("go", { identity: "bob" });
    expect(model.doStreamCalls.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([["note"], undefined]);
  });

  it("fail the run when they cannot be had", async () => {
    const agent = agentUnderTest(aiAgent({ model: scripted(), tools: () => Promise.reject(new Error("no database")) }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
  });
});

describe("a model of another kind", () => {
  it("may speak the AI SDK's version 2", async () => {
    const answers: object[][] = [
      [
        { type: "tool-call", toolCallId: "call_0", toolName: "note", input: "{}" },
        {
          type: "finish",
          finishReason: "tool-calls",
          usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7, reasoningTokens: 1 },
        },
      ],
      [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "ok" },
        { type: "text-end", id: "t" },
        { type: "finish", finishReason: "stop", usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 } },
      ],
    ];
    const model = {
      specificationVersion: "v2",
      provider: "old",
      modelId: "m",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("not this way")),
      doStream: async () => ({
        stream: simulateReadableStream({ chunks: answers.shift() ?? [], chunkDelayInMs: null }),
      }),
    } as unknown as LanguageModel;
    const run = await agentUnderTest(aiAgent({ model, tools: { note } })).run("go");
    expect(run.text).toBe("ok");
    expect(run.events.at(-1)?.usage).toEqual([
      { provider: "old", model: "m", inputTokens: 13, outputTokens: 24, totalTokens: 37, reasoningTokens: 1 },
    ]);
  });

  it("may be named for the AI SDK's default provider", async () => {
    const model = scripted(says("ok"));
    globalThis.AI_SDK_DEFAULT_PROVIDER = {
      languageModel: (name: string) => (name === "acme/one" ? model : undefined),
    } as never;
    try {
      expect((await agentUnderTest(aiAgent({ model: "acme/one" })).run("go")).text).toBe("ok");
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = undefined as never;
    }
  });

  it("is needed", () => {
    expect(() => aiAgent({} as never)).toThrow(TypeError);
  });
});

describe("a turn that is stopped while the model is at work", () => {
  it("stops the model when its client leaves, also one that ignores its signal", async () => {
    const { model, signals, cancelled } = stalled();
    const agent = agentUnderTest(aiAgent({ model }));
    const leave = new AbortController();
    const running = agent.handler.handle(
      new Request("http://agent.test/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "go" }] }),
        signal: leave.signal,
      }),
    );
    const reader = (await running).body?.getReader();
    await until(() => signals.length > 0, "the model's call");
    await reader?.read();
    leave.abort();
    await until(() => agent.handler.stats().running === 0, "the turn's end");
    expect(signals[0]?.aborted).toBe(true);
    await until(() => cancelled.length > 0, "the end of the model's stream");
    expect(agent.errors).toEqual([]);
  });

  it("ends as cancelled when the server stops it", async () => {
    const { model, signals } = stalled();
    const agent = agentUnderTest(aiAgent({ model }));
    const running = agent.run("go");
    await until(() => signals.length > 0, "the model's call");
    expect(await agent.handler.stop("thread-1")).toBe(true);
    expect((await running).outcome).toEqual({ type: "cancelled" });
    expect(agent.errors).toEqual([]);
  });

  it("is over only when its tools are, which hear it too", async () => {
    const [entered, released, left] = [defer<AbortSignal>(), defer(), defer()];
    const order: string[] = [];
    const long = tool({
      inputSchema: z.object({}),
      async execute(_input, { abortSignal }) {
        entered.resolve(abortSignal as AbortSignal);
        await released.promise;
        order.push("tool");
        return "late";
      },
    });
    const model = scripted(calls(call("a", "long", {})));
    const agent = agentUnderTest(aiAgent({ model, tools: { long } }));
    const running = agent.run("go").then((run) => {
      order.push("run");
      left.resolve();
      return run;
    });
    const signal = await entered.promise;
    const stopped = agent.handler.stop("thread-1");
    expect(signal.aborted).toBe(true);
    await turnsOfTheLoop();
    expect(order).toEqual([]);
    released.resolve();
    await within(5_000, stopped);
    const run = await running;
    expect(order).toEqual(["tool", "run"]);
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({ content: "late" });
    expect(model.prompts).toHaveLength(1);
  });

  it("is over only when its tools are also when the model's stream fails beside them", async () => {
    const [entered, released] = [defer(), defer()];
    const order: string[] = [];
    const long = tool({
      inputSchema: z.object({}),
      async execute() {
        entered.resolve();
        await released.promise;
        order.push("tool");
        return "late";
      },
    });
    const model = scripted([...calls(call("a", "long", {})), { type: "error", error: "broken" }]);
    const agent = agentUnderTest(aiAgent({ model, tools: { long } }));
    const running = agent.run("go").then((run) => {
      order.push("run");
      return run;
    });
    await entered.promise;
    await turnsOfTheLoop();
    expect(order).toEqual([]);
    released.resolve();
    const run = await running;
    expect(order).toEqual(["tool", "run"]);
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({ content: "late" });
    expect(endOf(run)).toBe("AGENT_FAILED");
  });

  it("calls no model that it was only preparing to call", async () => {
    const model = scripted();
    let stop = () => {};
    const agent = agentUnderTest(
      aiAgent({
        model,
        tools: (context) => {
          stop = () => context.stop();
          return {};
        },
        prepareStep: async () => {
          stop();
          return {};
        },
      }),
    );
    expect((await agent.run("go")).outcome).toEqual({ type: "cancelled" });
    expect(model.prompts).toEqual([]);
  });

  it("ends as cancelled when one of its tools stops it", async () => {
    const model = scripted(calls(call("a", "stop", {})));
    const stop = tool({
      inputSchema: z.object({}),
      execute: (_input, options) => {
        contextOf(options).stop();
        return "stopped";
      },
    });
    const run = await agentUnderTest(aiAgent({ model, tools: { stop } })).run("go");
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(model.prompts).toHaveLength(1);
  });
});

describe("a time limit", () => {
  // The AI SDK counts by the system's clock; the handler's is another one.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ["on a silence", { chunkMs: 20 }],
    ["on a call", { stepMs: 20 }],
    ["on all calls", { totalMs: 20 }],
    ["as a number", 20],
  ])("fails a model that stalls: %s", async (_what, timeout) => {
    const { model, signals } = stalled();
    const agent = agentUnderTest(aiAgent({ model, timeout }));
    const running = agent.run("go");
    await turnsOfTheLoop();
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(20);
    expect(endOf(await running)).toBe("AGENT_FAILED");
    expect(agent.errors[0]?.error).toMatchObject({ name: "TimeoutError" });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("stands still while a human thinks", async () => {
    const ask = tool({ inputSchema: z.object({}), execute: (_input, options) => contextOf(options).input("Sure?") });
    const model = scripted(calls(call("a", "ask", {})), says("ok"));
    const agent = agentUnderTest(
      aiAgent({ model, tools: { ask }, timeout: { totalMs: 100, stepMs: 100, chunkMs: 100 } }),
    );
    const question = soleInterrupt(await agent.run("go"));
    // A timer of the AI SDK's own would fire.
    await vi.advanceTimersByTimeAsync(150);
    const run = await agent.answer(question, "yes");
    expect(run.text).toBe("ok");
  });

  it("leaves no timer behind, nor a model at work, when the run fails", async () => {
    const before = vi.getTimerCount();
    const { model, signals, cancelled } = stalled([{ type: "error", error: "overloaded" }]);
    const agent = agentUnderTest(aiAgent({ model, timeout: { chunkMs: 60_000 }, maxRetries: 0 }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(signals[0]?.aborted).toBe(true);
    await turnsOfTheLoop();
    expect(cancelled).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(before);
  });

  it("leaves no timer behind when the model's stream ends early", async () => {
    const before = vi.getTimerCount();
    const agent = agentUnderTest(
      aiAgent({
        model: scripted([...words("a"), { type: "error", error: "x" }]),
        timeout: { chunkMs: 60_000 },
        maxRetries: 0,
      }),
    );
    await agent.run("go");
    expect(vi.getTimerCount()).toBe(before);
  });
});
