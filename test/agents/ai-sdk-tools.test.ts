import { jsonSchema, type Tool, type ToolSet, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import { PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer, until } from "../support/promises.ts";
import { endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";
import { call, calls, resultsIn, says, scripted, words } from "./models.ts";

const bookFlight = (seen: unknown[] = []) =>
  tool({
    description: "Book a flight, once the traveller confirms it.",
    inputSchema: z.object({ flight: z.string() }),
    execute: async ({ flight }, options) => {
      const seat = Symbol("12C");
      const answer = await contextOf(options).input(`Book ${flight}? (yes/no)`);
      seen.push(seat.description, answer);
      return answer.trim().toLowerCase() === "yes" ? "Booked." : "Cancelled.";
    },
  });

describe("a tool of a model that asks", () => {
  it("streams its call, asks under the model's id, goes on where it asked, and answers once", async () => {
    const seen: unknown[] = [];
    const model = scripted(
      calls(words("Let me ", "see."), call("call_1", "book_flight", { flight: "LH441" })),
      says("All ", "set."),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { book_flight: bookFlight(seen) } }));

    const asked = await agent.run("Book LH441, please");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    expect(asked.events[5]).toMatchObject({
      toolCallId: "call_1",
      toolCallName: "book_flight",
      parentMessageId: asked.events[1]?.messageId,
    });
    const args = asked.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta);
    expect(args.join("")).toBe('{"flight":"LH441"}');
    const question = soleInterrupt(asked);
    expect(question).toMatchObject({ message: "Book LH441? (yes/no)", toolCallId: "call_1" });
    expect(model.prompts).toHaveLength(1);

    const answered = await agent.answer(question, "yes");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(answered.events[1]).toMatchObject({ toolCallId: "call_1", content: "Booked." });
    expect(answered.text).toBe("All set.");
    expect(seen).toEqual(["12C", "yes"]);
    expect(resultsIn(model.prompts[1])).toEqual([["call_1", { type: "text", value: "Booked." }]]);
  });

  it("asks together with what its siblings ask, and each gets its own answer", async () => {
    const model = scripted(
      calls(call("a", "book_flight", { flight: "LH441" }), call("b", "book_flight", { flight: "LH442" })),
      says("done"),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { book_flight: bookFlight() } }));
    const asked = await agent.run("both");
    const [first, second] = twoInterrupts(asked);
    expect([first.toolCallId, second.toolCallId]).toEqual(["a", "b"]);
    // One answer of the model is one message for the client, with all its calls.
    const starts = asked.events.filter(({ type }) => type === "TOOL_CALL_START");
    expect(new Set(starts.map(({ parentMessageId }) => parentMessageId)).size).toBe(1);

    const entry = (id: string, metadata: unknown, payload: string) =>
      ({ interruptId: id, status: "resolved", payload, metadata }) as never;
    await agent.resume([entry(second.id, second.metadata, "no"), entry(first.id, first.metadata, "yes")]);
    expect(resultsIn(model.prompts[1])).toEqual([
      ["a", { type: "text", value: "Booked." }],
      ["b", { type: "text", value: "Cancelled." }],
    ]);
  });

  it("asks in one outcome also when the client reads slowly between the calls", async () => {
    const long = "x".repeat(100_000);
    const model = scripted(
      calls(call("a", "book_flight", { flight: long }, 9_000), call("b", "book_flight", { flight: long }, 9_000)),
      says("done"),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { book_flight: bookFlight() } }));
    expect((await agent.run("both")).interrupts.map(({ toolCallId }) => toolCallId)).toEqual(["a", "b"]);
  });

  it("stops the model when its question is abandoned: the run is cancelled, the call answered", async () => {
    const model = scripted(calls(call("a", "book_flight", { flight: "LH441" })));
    const agent = agentUnderTest(aiAgent({ model, tools: { book_flight: bookFlight() } }));
    const given = await agent.resume([giveUp(soleInterrupt(await agent.run("go")))]);
    expect(given.outcome).toEqual({ type: "cancelled" });
    expect(given.events[1]).toMatchObject({ type: "TOOL_CALL_RESULT", content: "The client abandoned the question." });
    expect(model.prompts).toHaveLength(1);
    expect(agent.errors).toEqual([]);
  });

  it("stops the model even when the tool caught that it was abandoned", async () => {
    const model = scripted(calls(call("a", "ask", {})));
    const ask = tool({
      inputSchema: z.object({}),
      execute: (_input, options) =>
        contextOf(options)
          .input("Sure?")
          .catch(() => "never mind"),
    });
    const agent = agentUnderTest(aiAgent({ model, tools: { ask } }));
    const given = await agent.resume([giveUp(soleInterrupt(await agent.run("go")))]);
    expect(given.outcome).toEqual({ type: "cancelled" });
    expect(given.events[1]).toMatchObject({ content: "never mind" });
    expect(model.prompts).toHaveLength(1);
  });

  it.each([
    ["of the retention", {}, 900_000],
    ["of its own", { timeoutMs: 1_000 }, 1_000],
  ])("stops the model when its question dies of a deadline %s, caught or not", async (_what, options, afterMs) => {
    for (const caught of [true, false]) {
      const ended = defer();
      const model = scripted(calls(call("a", "ask", {})));
      const ask = tool({
        inputSchema: z.object({}),
        async execute(_input, given) {
          try {
            return await contextOf(given).input("Sure?", options);
          } catch (error) {
            if (!caught) throw error;
            return "never mind";
          } finally {
            ended.resolve();
          }
        },
      });
      const agent = agentUnderTest(aiAgent({ model, tools: { ask } }));
      soleInterrupt(await agent.run("go"));
      await agent.clock.advance(afterMs);
      await ended.promise;
      await until(() => agent.handler.stats().running === 0, "the turn's end");
      expect(agent.handler.stats()).toMatchObject({ finished: 1, failed: 0 });
      expect(model.prompts).toHaveLength(1);
      expect(agent.errors).toEqual([]);
    }
  });

  it("goes on after a mixed answer: somebody is there to hear it", async () => {
    const model = scripted(
      calls(call("a", "book_flight", { flight: "LH441" }), call("b", "book_flight", { flight: "LH442" })),
      says("half done"),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { book_flight: bookFlight() } }));
    const [first, second] = twoInterrupts(await agent.run("both"));
    const run = await agent.resume([
      giveUp(first),
      { interruptId: second.id, status: "resolved", payload: "yes", metadata: second.metadata ?? {} },
    ]);
    expect(run.text).toBe("half done");
    expect(resultsIn(model.prompts[1])).toEqual([
      ["a", { type: "error-text", value: "The client abandoned the question." }],
      ["b", { type: "text", value: "Booked." }],
    ]);
  });

  it("is told that its context is needed where there is none", () => {
    expect(() => contextOf({ toolCallId: "a", messages: [] })).toThrow(TypeError);
  });

  it("has its context also in a copy of its options", async () => {
    const model = scripted(calls(call("a", "who", {})), says("ok"));
    const who = tool({
      inputSchema: z.object({}),
      execute: (_input, options) => {
        const { toolCallId, toolName, threadId } = contextOf({ ...options });
        return { toolCallId, toolName, threadId };
      },
    });
    const run = await agentUnderTest(aiAgent({ model, tools: { who } })).run("go");
    const result = run.events.find(({ type }) => type === "TOOL_CALL_RESULT");
    expect(JSON.parse(result?.content)).toEqual({ toolCallId: "a", toolName: "who", threadId: "thread-1" });
  });
});

describe("a tool's result", () => {
  const give = (result: () => unknown): ToolSet => ({ give: tool({ inputSchema: z.object({}), execute: result }) });

  it.each([
    ["a text", () => "four", "four", { type: "text", value: "four" }],
    ["nothing", () => undefined, "", { type: "text", value: "" }],
    ["null", () => null, "", { type: "text", value: "" }],
    ["an empty text", () => "", "", { type: "text", value: "" }],
    ["false", () => false, "false", { type: "json", value: false }],
    [
      "an object",
      () => ({ n: 4, at: new Date(0) }),
      '{"n":4,"at":"1970-01-01T00:00:00.000Z"}',
      { type: "json", value: { n: 4, at: "1970-01-01T00:00:00.000Z" } },
    ],
  ])("is the same to the client and the model: %s", async (_what, result, shown, told) => {
    const model = scripted(calls(call("a", "give", {})), says("ok"));
    const run = await agentUnderTest(aiAgent({ model, tools: give(result) })).run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe(shown);
    expect(resultsIn(model.prompts[1])).toEqual([["a", told]]);
  });

  it("is what the tool makes of it for the model, content parts included", async () => {
    const model = scripted(calls(call("a", "look", {})), says("ok"));
    const look = tool({
      inputSchema: z.object({}),
      execute: () => ({ png: "aGk=" }),
      toModelOutput: ({ output }) => ({
        type: "content",
        value: [
          { type: "text", text: "A picture:" },
          { type: "image-data", data: output.png, mediaType: "image/png" },
        ],
      }),
    });
    const run = await agentUnderTest(aiAgent({ model, tools: { look } })).run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toEqual([
      { type: "text", text: "A picture:" },
      { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" } },
    ]);
    expect(resultsIn(model.prompts[1])[0]?.[1]).toMatchObject({ type: "content", value: [{}, { type: "image-data" }] });
  });

  it.each<[string, Awaited<ReturnType<NonNullable<Tool["toModelOutput"]>>>, unknown]>([
    ["an error in words", { type: "error-text", value: "No seat." }, "No seat."],
    ["JSON that is a text", { type: "json", value: "12C" }, "12C"],
    ["an error in JSON", { type: "error-json", value: { code: 4 } }, '{"code":4}'],
    ["a denial with its reason", { type: "execution-denied", reason: "Not today." }, "Not today."],
    ["a denial without one", { type: "execution-denied" }, ""],
    ["no part at all", { type: "content", value: [] }, ""],
    ["what only its provider can read", { type: "content", value: [{ type: "file-id", fileId: "f1" }] as never }, ""],
    [
      "media of all kinds",
      {
        type: "content",
        value: [
          { type: "media", data: "aGk=", mediaType: "audio/wav" },
          { type: "file-data", data: "aGk=", mediaType: "video/mp4" },
          { type: "image-url", url: "https://x.test/a" },
          { type: "file-url", url: "https://x.test/b" },
        ],
      },
      [
        { type: "audio", source: { type: "data", value: "aGk=", mimeType: "audio/wav" } },
        { type: "video", source: { type: "data", value: "aGk=", mimeType: "video/mp4" } },
        { type: "image", source: { type: "url", value: "https://x.test/a" } },
        { type: "document", source: { type: "url", value: "https://x.test/b" } },
      ],
    ],
  ])("reaches the client as %s", async (_what, output, shown) => {
    const model = scripted(calls(call("a", "look", {})), says("ok"));
    const look = tool({ inputSchema: z.object({}), execute: () => "raw", toModelOutput: () => output });
    const run = await agentUnderTest(aiAgent({ model, tools: { look } })).run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toEqual(shown);
    expect(resultsIn(model.prompts[1])[0]?.[1]).toMatchObject({ type: output.type });
  });

  it("is the last of its versions", async () => {
    const model = scripted(calls(call("a", "count", {})), says("ok"));
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield "one";
        yield "two";
      },
    });
    const run = await agentUnderTest(aiAgent({ model, tools: { count } })).run("go");
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content)).toEqual(["two"]);
    expect(resultsIn(model.prompts[1])).toEqual([["a", { type: "text", value: "two" }]]);
  });

  it.each([
    ["an error", () => new Error("postgres://u:p@h"), "The tool failed.", 1],
    ["an error meant for the client", () => new PublicError("No seats are left."), "No seats are left.", 0],
    ["a BigInt", () => 4n, "The tool failed.", 1],
  ])(
    "is in words meant for the client when it fails with %s, and the model goes on",
    async (_what, make, told, reported) => {
      const model = scripted(calls(call("a", "fail", {})), says("I could not."));
      const fail = tool({
        inputSchema: z.object({}),
        execute: () => {
          const made = make();
          if (made instanceof Error) throw made;
          return made;
        },
      });
      const agent = agentUnderTest(aiAgent({ model, tools: { fail } }));
      const run = await agent.run("go");
      expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe(told);
      expect(run.text).toBe("I could not.");
      expect(resultsIn(model.prompts[1])).toEqual([["a", { type: "error-text", value: told }]]);
      expect(agent.errors).toHaveLength(reported);
      expect(run.raw).not.toContain("postgres");
    },
  );
});

describe("a call that cannot be run", () => {
  const tools = { book_flight: tool({ inputSchema: z.object({ flight: z.string() }), execute: () => "Booked." }) };

  it.each([
    ["of a tool that is not there", "fly", "{}"],
    ["of what every object has", "constructor", "{}"],
    ["with arguments that are not JSON", "book_flight", '{"flight": LH'],
    ["with arguments its schema refuses", "book_flight", '{"flight": 7}'],
  ])("%s is shown as written, answered, and the model corrects it", async (_what, name, args) => {
    const model = scripted(calls(call("a", name, args)), says("Sorry."));
    const run = await agentUnderTest(aiAgent({ model, tools })).run("go");
    const shown = run.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta);
    expect(shown.join("")).toBe(args);
    expect(run.raw).not.toContain("Available tools");
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toHaveLength(1);
    expect(run.text).toBe("Sorry.");
    expect(run.outcome).toEqual({ type: "success" });
    expect(resultsIn(model.prompts[1])[0]?.[1]).toMatchObject({ type: "error-text" });
  });

  it("without arguments is run with none, and shown with none in JSON", async () => {
    const model = scripted(calls(call("a", "now", "")), says("ok"));
    const now = tool({ inputSchema: z.object({}), execute: (input) => JSON.stringify(input) });
    const run = await agentUnderTest(aiAgent({ model, tools: { now } })).run("go");
    expect(typesOf(run).slice(1, 5)).toEqual([
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
    ]);
    expect(run.events[2]?.delta).toBe("{}");
    expect(run.events[4]?.content).toBe("{}");
  });

  it("that was not streamed is shown whole", async () => {
    const whole = call("a", "book_flight", { flight: "LH441" }).filter(({ type }) => type === "tool-call");
    const model = scripted(calls(whole), says("ok"));
    const run = await agentUnderTest(aiAgent({ model, tools })).run("go");
    expect(run.events[2]).toMatchObject({ type: "TOOL_CALL_ARGS", delta: '{"flight":"LH441"}' });
  });
});

describe("an agent with a model inside a tool of another", () => {
  it("is a subagent: what it asks comes out, its answer goes in, and ids of either are its own", async () => {
    const inner = scripted(calls(call("call_0", "book_flight", { flight: "LH441" })), says("Inner done."));
    const helper = aiAgent({ model: inner, tools: { book_flight: bookFlight() } });
    const outer = scripted(calls(call("call_0", "delegate", {})), says("Outer done."));
    const delegate = tool({
      inputSchema: z.object({}),
      execute: async (_input, options) => {
        await contextOf(options).subagent({ name: "helper" }, (context) => helper(context) as Promise<unknown>);
        return "delegated";
      },
    });
    const agent = agentUnderTest(aiAgent({ model: outer, tools: { delegate } }));
    const asked = await agent.run("go");
    const question = soleInterrupt(asked);
    const [outerCall, innerCall] = asked.events.filter(({ type }) => type === "TOOL_CALL_START");
    expect(outerCall?.toolCallId).toBe("call_0");
    expect(innerCall?.toolCallId).not.toBe("call_0");
    expect(innerCall?.subagentRunId).toBe(question.subagentRunId);
    expect(question.toolCallId).toBe(innerCall?.toolCallId);
    const run = await agent.answer(question, "yes");
    expect(run.text).toBe("Inner done.Outer done.");
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content)).toEqual([
      "Booked.",
      "delegated",
    ]);
    expect([inner.prompts.length, outer.prompts.length]).toEqual([2, 2]);
  });
});

describe("an id that comes again", () => {
  const echo = tool({ inputSchema: jsonSchema<{ n: number }>({ type: "object" }), execute: ({ n }) => `n=${n}` });

  it("is another call's own: in one answer, in the next, and in the history", async () => {
    const model = scripted(
      calls(call("call_0", "echo", { n: 1 }), call("call_0", "echo", { n: 2 })),
      calls(call("call_0", "echo", { n: 3 })),
      says("done"),
      calls(call("call_0", "echo", { n: 4 })),
      says("done again"),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { echo } }));
    const first = await agent.run("go");
    const ids = (run: typeof first) =>
      run.events.filter(({ type }) => type === "TOOL_CALL_START").map(({ toolCallId }) => toolCallId);
    const results = first.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(ids(first)[0]).toBe("call_0");
    expect(new Set(ids(first)).size).toBe(3);
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual(
      ids(first).map((id, i) => [id, `n=${i + 1}`]),
    );
    expect(resultsIn(model.prompts[2]).map(([id]) => id)).toEqual(ids(first));

    const messages = [
      { id: "m1", role: "user" as const, content: "go" },
      {
        id: "m2",
        role: "assistant" as const,
        toolCalls: [{ id: "call_0", type: "function" as const, function: { name: "echo", arguments: '{"n":1}' } }],
      },
      { id: "m3", role: "tool" as const, toolCallId: "call_0", content: "n=1" },
      { id: "m4", role: "user" as const, content: "again" },
    ];
    const second = await agent.run({ messages });
    expect(ids(second)).toHaveLength(1);
    expect(ids(second)[0]).not.toBe("call_0");
    expect(endOf(second)).toBe("success");
  });
});
