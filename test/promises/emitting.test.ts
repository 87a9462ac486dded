import { describe, expect, it } from "vitest";
import { type AgentContext, type AgentEvent, EventRefusedError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer, nextTurn } from "../support/promises.ts";
import { typesOf } from "../support/runs.ts";

describe("emit", () => {
  it("takes the protocol's events with their type as it is spelled, in order", async () => {
    const events: AgentEvent[] = [
      { type: "CUSTOM", name: "acme:a", value: null },
      { type: "RAW", event: { provider: "x" }, source: "x" },
      { type: "STEP_STARTED", stepName: "s" },
      { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
      { type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value: 2 }] },
      { type: "MESSAGES_SNAPSHOT", messages: [] },
      { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "search", content: {} },
      { type: "ACTIVITY_DELTA", messageId: "a", activityType: "search", patch: [] },
      { type: "STEP_FINISHED", stepName: "s" },
    ];
    const agent = agentUnderTest(async (context) => {
      for (const event of events) await context.emit(event);
    });
    const run = await agent.run({});
    expect(run.events.slice(1, -1)).toEqual(events);
  });

  it.each<[string, unknown]>([
    ["no object", null],
    ["a string", "CUSTOM"],
    ["a list", []],
    ["no type", {}],
    ["a type that is no string", { type: 5 }],
    ["a type that is not the protocol's", { type: "THINKING_START" }],
    ["a type of Object's", { type: "toString" }],
    ["RUN_STARTED", { type: "RUN_STARTED", threadId: "t", runId: "r" }],
    ["RUN_FINISHED", { type: "RUN_FINISHED", threadId: "t", runId: "r" }],
    ["RUN_ERROR", { type: "RUN_ERROR", message: "x" }],
    ["a member missing", { type: "CUSTOM", name: "x" }],
    ["a member of the wrong kind", { type: "TEXT_MESSAGE_START", messageId: 5 }],
    ["content without its start", { type: "TEXT_MESSAGE_CONTENT", messageId: "x", delta: "x" }],
    ["an end without its start", { type: "STEP_FINISHED", stepName: "x" }],
    ["arguments of no call", { type: "TOOL_CALL_ARGS", toolCallId: "x", delta: "x" }],
    ["an end of no reasoning", { type: "REASONING_END", messageId: "x" }],
    ["an end of no subagent", { type: "SUBAGENT_FINISHED", subagentRunId: "x" }],
    ["a second start", { type: "TEXT_MESSAGE_START", messageId: "open" }],
    ["a second start of a step", { type: "STEP_STARTED", stepName: "open" }],
    ["a BigInt", { type: "CUSTOM", name: "x", value: 1n }],
    ["a state that JSON cannot say", { type: "STATE_SNAPSHOT", snapshot: { a: 1n } }],
    ["no snapshot", { type: "STATE_SNAPSHOT" }],
    ["a chunk that names nothing", { type: "TEXT_MESSAGE_CHUNK", delta: "x" }],
    ["a first chunk of a call without a name", { type: "TOOL_CALL_CHUNK", toolCallId: "x", delta: "x" }],
  ])("refuses %s when it is emitted, not when it is sent, and the stream stays sound", async (_what, event) => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "open" });
      await context.emit({ type: "STEP_STARTED", stepName: "open" });
      await context.emit(event as AgentEvent).catch((error) => seen.push(error));
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "open", delta: "on" });
    });
    const run = await agent.run("go");
    expect(seen).toEqual([expect.any(EventRefusedError)]);
    expect((seen[0] as EventRefusedError).code).toBe("EVENT_REFUSED");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "STEP_STARTED",
      "TEXT_MESSAGE_CONTENT",
      "STEP_FINISHED",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it("refuses without schemas as well what would break the stream", async () => {
    const agent = agentUnderTest({
      validate: false,
      agent: async (context) => {
        const codes: unknown[] = [];
        for (const event of [{ type: "NOPE" }, { type: "RUN_ERROR", message: "x" }, { type: "TEXT_MESSAGE_END" }]) {
          await context.emit(event as never).catch((error) => codes.push(error.code));
        }
        return codes;
      },
    });
    expect((await agent.run("go")).result).toEqual(["EVENT_REFUSED", "EVENT_REFUSED", "EVENT_REFUSED"]);
  });

  it("rewrites chunks as start, content and end", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_CHUNK", messageId: "m", delta: "Hel" });
      await context.emit({ type: "TEXT_MESSAGE_CHUNK", delta: "lo" });
      await context.emit({ type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "t", delta: "{}" });
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    expect(run.text).toBe("Hello");
  });
});

describe("custom, activity and usage", () => {
  it("are shown, and an activity is patched under its id", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.custom("acme:progress", undefined);
      const messageId = await context.activity({ activityType: "search", content: { found: 0 } });
      const patch = [{ op: "replace" as const, path: "/found", value: 3 }];
      return [messageId, await context.activity({ activityType: "search", messageId, patch })];
    });
    const run = await agent.run("go");
    const [, custom, snapshot, delta] = run.events;
    expect(custom).toEqual({ type: "CUSTOM", name: "acme:progress", value: null });
    expect(snapshot).toMatchObject({ type: "ACTIVITY_SNAPSHOT", activityType: "search", content: { found: 0 } });
    expect(delta).toMatchObject({ type: "ACTIVITY_DELTA", messageId: snapshot?.messageId });
    expect(run.result).toEqual([snapshot?.messageId, snapshot?.messageId]);
  });

  it("counts usage for the run that is open, per provider and model, and only what can be counted", async () => {
    const agent = agentUnderTest(async (context) => {
      context.usage({ provider: "p", model: "m", inputTokens: 3, outputTokens: 4 });
      context.usage({ provider: "p", model: "m", inputTokens: 5, outputTokens: Number.NaN });
      await context.input("A?");
      context.usage({ model: "n", inputTokens: 1, cachedInputTokens: 0.5 });
    });
    const asked = await agent.run("go");
    expect(asked.events.at(-1)?.usage).toMatchObject([{ provider: "p", model: "m", inputTokens: 8 }]);
    const [interrupt] = asked.interrupts;
    const answered = await agent.answer(interrupt as never, "a");
    expect(answered.events.at(-1)?.usage).toEqual([{ model: "n", inputTokens: 1 }]);
  });
});

describe("back-pressure", () => {
  /** An agent that emits by the given means until it is stopped, and how often it could. */
  const filling = (fill: (context: AgentContext) => Promise<unknown>) => {
    const filled = { times: 0 };
    const agent = agentUnderTest(async (context) => {
      while (filled.times < 200) {
        await fill(context);
        filled.times++;
      }
    });
    return { agent, filled };
  };

  it.each<[string, (context: AgentContext) => Promise<unknown>]>([
    ["emit", (context) => context.emit({ type: "CUSTOM", name: "x", value: "x".repeat(1_024) })],
    ["text", (context) => context.text("x".repeat(1_024))],
    ["reasoning", (context) => context.reasoning("x".repeat(1_024))],
    ["custom", (context) => context.custom("x", "x".repeat(1_024))],
    ["setState", (context) => context.setState("x".repeat(1_024))],
    ["activity", (context) => context.activity({ activityType: "x", content: { x: "x".repeat(1_024) } })],
    ["toolCall", (context) => context.toolCall("t", {}, () => "x".repeat(1_024))],
  ])("reaches whoever awaits %s: a reader that stalls stops the agent, one that goes on lets it", async (_by, fill) => {
    const { agent, filled } = filling(fill);
    const open = await openExchange(agent.handler.handle);
    await open.read(2);
    await agent.clock.advance(0);
    const stalled = filled.times;
    expect(stalled).toBeLessThan(60);
    await agent.clock.advance(1_000);
    expect(filled.times).toBe(stalled);
    const run = await open.rest();
    expect(filled.times).toBe(200);
    expect(run.outcome).toEqual({ type: "success" });
  });

  it("neither loses nor reorders", async () => {
    const agent = agentUnderTest(async (context) => {
      for (let i = 0; i < 10_000; i++) await context.text(`${i} `);
    });
    const open = await openExchange(agent.handler.handle);
    await open.read(10);
    await agent.clock.advance(0);
    const { text } = await open.rest();
    expect(text).toBe(Array.from({ length: 10_000 }, (_, i) => `${i} `).join(""));
  });
});

describe("the frames", () => {
  it("that are ready by the end of the current turn of the event loop are joined into one write", async () => {
    const first = defer();
    const agent = agentUnderTest(async (context) => {
      await first.promise;
      for (let i = 0; i < 5; i++) void context.custom("acme:one", i);
      await nextTurn();
      await nextTurn();
      for (let i = 0; i < 5; i++) void context.custom("acme:two", i);
    });
    const response = await agent.handler.handle(
      new Request("http://agent.test/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ threadId: "t", runId: "r", messages: [] }),
      }),
    );
    const chunks: string[] = [];
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async () => {
      const { value } = await reader.read();
      chunks.push(new TextDecoder().decode(value));
    };
    await read();
    expect(chunks[0]).toBe('data: {"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}\n\n');
    first.resolve();
    await read();
    await read();
    expect(chunks.slice(1).map((chunk) => chunk.split("\n\n").length - 1)).toEqual([5, 6]);
    expect((await reader.read()).done).toBe(true);
  });

  it("are one data line each, LF, and hold no line separator of any kind", async () => {
    const odd = 'a\u2028b\u2029c\u0085d\r\ne\u0000f\ufeffg"h\\i';
    const agent = agentUnderTest(async (context) => {
      await context.text(odd);
      await context.reasoning(odd);
      await context.custom(odd, { [odd]: odd });
      await context.toolCall(odd, { odd }, () => odd);
      await context.step(odd, () => {});
      await context.setState({ [odd]: odd });
      return odd;
    });
    const run = await agent.run({ threadId: odd, runId: odd });
    expect(run.raw).not.toMatch(/[\u2028\u2029\u0085\r]/);
    expect(run.raw.split("\n\n").every((block) => block === "" || /^data: \{.*\}$/.test(block))).toBe(true);
    expect([run.text, run.result, run.events[0]?.threadId]).toEqual([odd, odd, odd]);
  });
});
