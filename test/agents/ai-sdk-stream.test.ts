import { tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";
import {
  type Answer,
  call,
  calls,
  finish,
  type Part,
  resultsIn,
  says,
  scripted,
  thoughts,
  usage,
  words,
} from "./models.ts";

const note = tool({ inputSchema: z.object({}), execute: () => "noted" });
const ask = tool({ inputSchema: z.object({}), execute: (_input, options) => contextOf(options).input("Sure?") });

/** The types of all events but the run's own. */
const shown = async (...answers: Part[][]) => {
  const run = await agentUnderTest(aiAgent({ model: scripted(...answers), tools: { note } })).run("go");
  expect(endOf(run)).toBe("success");
  return { run, types: typesOf(run).slice(1, -1) };
};

describe("what a model streams", () => {
  it("is one message for text in several parts, and a new one after anything else", async () => {
    const { run } = await shown(
      [...words("Hel"), ...words("lo"), ...call("a", "note", {}), ...words("after"), finish("tool-calls")],
      says("next"),
    );
    const messages = new Map<string, string>();
    for (const { type, messageId, delta } of run.events)
      if (type === "TEXT_MESSAGE_CONTENT") messages.set(messageId, (messages.get(messageId) ?? "") + delta);
    expect([...messages.values()]).toEqual(["Hello", "after", "next"]);
  });

  it("has no frame for text that is none", async () => {
    const { types } = await shown(says("", "a", ""));
    expect(types).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
    expect((await shown(says("", ""))).types).toEqual([]);
  });

  it("has its reasoning as reasoning, each stretch on its own", async () => {
    const { run, types } = await shown([...thoughts("Hm", "m"), ...thoughts("so"), ...words("Yes."), finish("stop")]);
    expect(types).toEqual([
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
    expect(run.events[2]?.messageId).not.toBe(run.events[8]?.messageId);
  });

  it("keeps what its provider wants to see again, and nothing of a provider's store", async () => {
    const { run } = await shown(
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "reasoning-end", id: "r", providerMetadata: { acme: { signature: "s1", itemId: "rs_1", n: 7 } } },
        { type: "reasoning-start", id: "hidden", providerMetadata: { acme: { redacted: "r2" } } },
        { type: "reasoning-end", id: "hidden" },
        {
          type: "tool-call",
          toolCallId: "a",
          toolName: "note",
          input: "{}",
          providerMetadata: { acme: { thought: "s3" } },
        },
        finish("tool-calls"),
      ],
      says("ok"),
    );
    const values = run.events.filter(({ type }) => type === "REASONING_ENCRYPTED_VALUE");
    expect(values.map(({ subtype, encryptedValue }) => [subtype, JSON.parse(encryptedValue)])).toEqual([
      ["message", { issuer: "acme", values: { acme: { signature: "s1" } } }],
      ["message", { issuer: "acme", values: { acme: { redacted: "r2" } } }],
      ["tool-call", { issuer: "acme", values: { acme: { thought: "s3" } } }],
    ]);
    expect(values[2]?.entityId).toBe("a");
    expect(run.raw).not.toContain("rs_1");
  });

  it("is the same to its provider in a later run", async () => {
    const { checkWithClient } = await import("../support/client-check.ts");
    const model = scripted(
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "reasoning-end", id: "r", providerMetadata: { acme: { signature: "s1" } } },
        {
          type: "tool-call",
          toolCallId: "a",
          toolName: "note",
          input: "{}",
          providerMetadata: { acme: { thought: "s3" } },
        },
        finish("tool-calls"),
      ],
      says("ok"),
      says("again"),
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { note } }));
    const run = await agent.run("go");
    const { messages } = await checkWithClient(run.raw, run.input);
    await agent.run({ messages: [...messages, { id: "next", role: "user", content: "and?" }] });
    expect(model.prompts[2]?.[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm.", providerOptions: { acme: { signature: "s1" } } },
        { type: "tool-call", toolCallId: "a", providerOptions: { acme: { thought: "s3" } } },
      ],
    });
  });

  it("has sources and files as activities, beside the text", async () => {
    const { run, types } = await shown([
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "See " },
      {
        type: "source",
        sourceType: "url",
        id: "s",
        url: "https://x.test/",
        title: "X",
        providerMetadata: { acme: { rank: 1 } },
      },
      { type: "text-delta", id: "t", delta: "here." },
      { type: "text-end", id: "t" },
      { type: "file", data: "aGk=", mediaType: "image/png" },
      finish("stop"),
    ]);
    expect(types).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "ACTIVITY_SNAPSHOT",
      "TEXT_MESSAGE_CONTENT",
      "ACTIVITY_SNAPSHOT",
      "TEXT_MESSAGE_END",
    ]);
    expect(run.events[3]).toMatchObject({
      activityType: "source",
      content: { sourceType: "url", url: "https://x.test/", title: "X" },
    });
    expect(run.events[3]?.content).not.toHaveProperty("providerMetadata");
    expect(run.events[5]).toMatchObject({
      activityType: "file",
      content: { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" } },
    });
  });

  it("has no file that no client could read", async () => {
    const data = "a".repeat(9 * 1024 * 1024 + 1);
    const agent = agentUnderTest(
      aiAgent({ model: scripted([{ type: "file", data, mediaType: "image/png" }, ...says("See.")]) }),
    );
    expect((await agent.run("go")).text).toBe("See.");
    expect(agent.warnings.map(({ code }) => code)).toEqual(["FILE_NOT_SHOWN"]);
  });

  it("has the calls that its provider runs itself, with their results", async () => {
    const { run } = await shown([
      { type: "tool-input-start", id: "w", toolName: "web_search", providerExecuted: true, dynamic: true },
      { type: "tool-input-delta", id: "w", delta: '{"q":"x"}' },
      { type: "tool-input-end", id: "w" },
      {
        type: "tool-call",
        toolCallId: "w",
        toolName: "web_search",
        input: '{"q":"x"}',
        providerExecuted: true,
        dynamic: true,
      },
      { type: "tool-result", toolCallId: "w", toolName: "web_search", result: { hits: 2 }, dynamic: true },
      {
        type: "tool-call",
        toolCallId: "v",
        toolName: "web_search",
        input: "{}",
        providerExecuted: true,
        dynamic: true,
      },
      ...words("Two."),
      finish("stop"),
    ]);
    const results = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    // The second never gave one: for a client it is answered all the same, and not its own to answer.
    expect(results.map(({ toolCallId, content }) => [toolCallId, content])).toEqual([
      ["w", '{"hits":2}'],
      ["v", ""],
    ]);
    expect(run.outcome).toEqual({ type: "success" });
  });
});

describe("what a model used", () => {
  it("is counted in the run in which it was called, whoever asks meanwhile", async () => {
    const model = scripted(
      [...call("q", "ask", {}), finish("tool-calls", usage(100, 10))],
      [...words("ok"), finish("stop", usage(200, 20))],
    );
    const agent = agentUnderTest(aiAgent({ model, tools: { ask } }));
    const asked = await agent.run("go");
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    const counts = [asked, answered].map(({ events }) => events.at(-1)?.usage);
    expect(counts).toEqual([
      [{ provider: "acme", model: "scripted", inputTokens: 100, outputTokens: 10, totalTokens: 110 }],
      [{ provider: "acme", model: "scripted", inputTokens: 200, outputTokens: 20, totalTokens: 220 }],
    ]);
  });

  it("is summed over the run's calls, its parts included, unknown ones left out", async () => {
    const detailed = {
      inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
      outputTokens: { total: 20, text: 15, reasoning: 5 },
    };
    const unknown = {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: Number.NaN, text: undefined, reasoning: undefined },
    };
    const model = scripted(
      [...call("a", "note", {}), finish("tool-calls", detailed)],
      [...words("ok"), finish("stop", usage(1, 2))],
    );
    const run = await agentUnderTest(aiAgent({ model, tools: { note } })).run("go");
    expect(run.events.at(-1)?.usage).toEqual([
      {
        provider: "acme",
        model: "scripted",
        inputTokens: 101,
        outputTokens: 22,
        totalTokens: 123,
        cachedInputTokens: 30,
        cacheWriteInputTokens: 10,
        reasoningTokens: 5,
      },
    ]);
    const nothing = await agentUnderTest(aiAgent({ model: scripted([...words("ok"), finish("stop", unknown)]) })).run(
      "go",
    );
    expect(nothing.events.at(-1)?.usage?.[0] ?? {}).not.toHaveProperty("outputTokens");
  });

  it("is told also when the run then fails", async () => {
    const model = scripted([...call("a", "note", {}), finish("tool-calls", usage(7, 3))], () => {
      throw new Error("down");
    });
    const run = await agentUnderTest(aiAgent({ model, tools: { note }, maxRetries: 0 })).run("go");
    expect(endOf(run)).toBe("AGENT_FAILED");
    expect(run.events.at(-1)?.usage).toMatchObject([{ totalTokens: 10 }]);
  });
});

describe("a model that fails", () => {
  const secret = new Error("key sk-123 refused at http://10.0.0.1");

  it.each<[string, Answer]>([
    ["before it says anything", () => Promise.reject<Part[]>(secret)],
    ["with an error in its stream", [...words("Well, "), { type: "error", error: secret }, finish("error")]],
    [
      "with a stream that breaks",
      () => ({ stream: new ReadableStream({ pull: (controller) => controller.error(secret) }) }),
    ],
  ])("%s ends the run as failed; its words stay here", async (_what, answer) => {
    const agent = agentUnderTest(aiAgent({ model: scripted(answer), maxRetries: 0 }));
    const run = await agent.run("go");
    expect(run.error).toMatchObject({ code: "AGENT_FAILED", message: "The agent failed." });
    expect(agent.errors.map(({ error }) => error)).toEqual([secret]);
    expect(run.raw).not.toContain("sk-123");
  });

  it.each<[string, Part[]]>([
    ["stops in the middle of its text", words("Half of")],
    ["stops in the middle of a call", call("a", "note", { n: 1 }).slice(0, -2)],
    ["stops behind a whole call", call("a", "note", {})],
    ["says that it ended in an error", [...words("Half of"), finish("error")]],
    ["ends a call in a way nobody knows", [...call("a", "note", {}), finish("other")]],
  ])("%s: the run fails, and nothing of it was run", async (_what, parts) => {
    let ran = 0;
    const counted = tool({ inputSchema: z.object({}), execute: () => void ran++ });
    const agent = agentUnderTest(aiAgent({ model: scripted(parts), tools: { note: counted } }));
    const run = await agent.run("go");
    expect(endOf(run)).toBe("AGENT_FAILED");
    expect(agent.errors).toHaveLength(1);
    expect(ran).toBe(0);
  });

  it("fails the run after an answer too, once, and what was done is not done again", async () => {
    let before = 0;
    let after = 0;
    const book = tool({
      inputSchema: z.object({}),
      async execute(_input, options) {
        before++;
        await contextOf(options).input("Sure?");
        after++;
        return "booked";
      },
    });
    const model = scripted(calls(call("a", "book", {})), () => Promise.reject<Part[]>(secret));
    const agent = agentUnderTest(aiAgent({ model, tools: { book }, maxRetries: 0 }));
    const question = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(question, "yes"))).toBe("AGENT_FAILED");
    expect(endOf(await agent.answer(question, "yes"))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect([before, after]).toEqual([1, 1]);
  });

  it("has answered when its provider has a word of its own for that", async () => {
    const run = await agentUnderTest(aiAgent({ model: scripted([...words("Done."), finish("other")]) })).run("go");
    expect(run.text).toBe("Done.");
    expect(run.outcome).toEqual({ type: "success" });
  });

  it("is called again by the AI SDK where that may help", async () => {
    const { APICallError } = await import("ai");
    const busy = new APICallError({
      message: "busy",
      url: "",
      requestBodyValues: {},
      statusCode: 429,
      responseHeaders: { "retry-after-ms": "1" },
    });
    const model = scripted(() => Promise.reject<Part[]>(busy), says("here"));
    expect((await agentUnderTest(aiAgent({ model })).run("go")).text).toBe("here");
    const never = scripted(() => Promise.reject<Part[]>(busy));
    expect(endOf(await agentUnderTest(aiAgent({ model: never, maxRetries: 0 })).run("go"))).toBe("AGENT_FAILED");
  });
});

describe("an answer that is cut off by a limit", () => {
  it("ends the run as cancelled, with a warning", async () => {
    const agent = agentUnderTest(aiAgent({ model: scripted([...words("Once upon a"), finish("length")]) }));
    const run = await agent.run("go");
    expect(run.text).toBe("Once upon a");
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(agent.warnings.map(({ code }) => code)).toEqual(["MODEL_CUT_OFF"]);
  });

  it("runs none of its calls, whole or not, and calls no model again", async () => {
    let ran = 0;
    const counted = tool({ inputSchema: z.object({ n: z.number() }), execute: () => void ran++ });
    for (const args of ['{"n":1}', '{"n":']) {
      const model = scripted([...call("a", "note", args), finish("length")]);
      const run = await agentUnderTest(aiAgent({ model, tools: { note: counted } })).run("go");
      expect(run.outcome).toEqual({ type: "cancelled" });
      expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toHaveLength(1);
      expect(model.prompts).toHaveLength(1);
    }
    expect(ran).toBe(0);
  });

  it("is the model's last word where a filter ended it", async () => {
    const agent = agentUnderTest(aiAgent({ model: scripted([...words("I cannot."), finish("content-filter")]) }));
    expect((await agent.run("go")).outcome).toEqual({ type: "success" });
    expect(agent.warnings.map(({ code }) => code)).toEqual(["MODEL_CUT_OFF"]);
  });
});

describe("what the model is told of what it was shown", () => {
  it("is a result for each call, in its order, however long each took", async () => {
    const model = scripted(calls(call("a", "ask", {}), call("b", "note", {})), says("ok"));
    const agent = agentUnderTest(aiAgent({ model, tools: { ask, note } }));
    await agent.answer(soleInterrupt(await agent.run("go")), "yes");
    expect(resultsIn(model.prompts[1]).map(([id]) => id)).toEqual(["a", "b"]);
  });
});
