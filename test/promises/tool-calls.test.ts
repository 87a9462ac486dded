import { describe, expect, it } from "vitest";
import { type AgentContext, PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, giveUp, soleInterrupt, typesOf } from "../support/runs.ts";

const CALL = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];

describe("toolCall", () => {
  it("shows the call, runs it, shows its result, and resolves to what it gave", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("add", { a: 1, b: 2 }, ({ a, b }, tool) => ({
        sum: a + b,
        id: tool.toolCallId,
        name: tool.toolName,
      })),
    );
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", ...CALL, "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    const [, start, args, , result] = run.events;
    expect(start).toMatchObject({ toolCallName: "add" });
    expect(args?.delta).toBe('{"a":1,"b":2}');
    expect(run.result).toEqual({ sum: 3, id: start?.toolCallId, name: "add" });
    expect(result).toMatchObject({ toolCallId: start?.toolCallId, role: "tool", content: JSON.stringify(run.result) });
    expect(run.outcome).toEqual({ type: "success" });
  });

  it.each<[string, unknown, unknown]>([
    ["a string", "as it is", "as it is"],
    ["an empty string", "", ""],
    ["undefined", undefined, ""],
    ["null", null, ""],
    ["a number", 0, "0"],
    ["a boolean", false, "false"],
    ["an object", { a: [1, null] }, '{"a":[1,null]}'],
    ["a list", [1, "x"], '[1,"x"]'],
    ["an empty list", [], "[]"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["content parts", [{ type: "text", text: "hi" }], [{ type: "text", text: "hi" }]],
    ["parts that are none", [{ type: "hologram" }], '[{"type":"hologram"}]'],
    ["a function", () => {}, ""],
  ])("always has a result that is a string or content parts: %s", async (_what, value, content) => {
    const agent = agentUnderTest(async (context) => {
      await context.toolCall("t", {}, () => value);
    });
    const result = (await agent.run("go")).events.find(({ type }) => type === "TOOL_CALL_RESULT");
    expect(result?.content).toEqual(content);
  });

  it.each<[string, unknown, string]>([
    ["an error", new Error("postgres://secret"), "The tool failed."],
    ["a string", "secret", "The tool failed."],
    ["nothing", undefined, "The tool failed."],
    ["a PublicError", new PublicError("No seats left.", { code: "NO_SEATS" }), "No seats left."],
    ["a PublicError too long for a frame", new PublicError("x".repeat(9 * 1024 * 1024)), "The tool failed."],
  ])("that throws %s has a result that says so, and rejects with the same error", async (_what, error, content) => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await context
        .toolCall("t", {}, () => {
          throw error;
        })
        .catch((rejected) => seen.push(rejected));
    });
    const run = await agent.run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe(content);
    expect(run.raw).not.toContain("secret");
    expect(seen).toEqual([error]);
    expect(endOf(run)).toBe("success");
  });

  it("whose value JSON cannot say has a result all the same, and rejects", async () => {
    const agent = agentUnderTest(async (context) => context.toolCall("t", {}, () => 1n).catch((error) => error.name));
    const run = await agent.run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe("The tool failed.");
    expect(run.result).toBe("TypeError");
  });

  it.each<[string, object]>([
    ["aproval", { aproval: true }],
    ["needsApproval", { needsApproval: true }],
  ])("with an option that there is none of is not shown, and not run: %s", async (name, options) => {
    let ran = 0;
    const agent = agentUnderTest(async (context) =>
      context.toolCall("delete_database", {}, () => ran++, options).catch((error) => [error.name, error.message]),
    );
    const run = await agent.run("go");
    expect(run.result).toEqual(["TypeError", expect.stringContaining(`toolCall has no option "${name}"`)]);
    expect([typesOf(run), ran]).toEqual([["RUN_STARTED", "RUN_FINISHED"], 0]);
  });

  it("without a function that runs the tool is not shown", async () => {
    const agent = agentUnderTest(async (context) =>
      (context.toolCall as (...given: unknown[]) => Promise<unknown>)("t", {}).catch((error) => error.message),
    );
    const run = await agent.run("go");
    expect(run.result).toBe("toolCall needs a function that runs the tool.");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it.each<[unknown]>([
    [[{ type: "document", title: "Invoice 7" }]],
    [[{ type: "image", id: "3" }]],
    [[{ type: "text", text: "a", extra: 1 }]],
    [[{ type: "image", source: { type: "alien", value: "https://a.test/x.png" } }]],
    [[{ type: "text", text: "a" }, null]],
    [[]],
  ])("whose value only looks like content parts is told as the data it is: %j", async (value) => {
    const agent = agentUnderTest(async (context) => context.toolCall("search", {}, () => value));
    const run = await agent.run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe(JSON.stringify(value));
    expect(run.result).toEqual(value);
    expect(agent.warnings).toEqual([]);
  });

  it("whose value is content parts shows them", async () => {
    const parts = [
      { type: "text", text: "Here" },
      { type: "image", source: { type: "url", value: "https://a.test/x.png" } },
    ];
    const agent = agentUnderTest(async (context) => context.toolCall("draw", {}, () => parts));
    const run = await agent.run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toEqual(parts);
  });

  it("that throws what throws when it is looked at has a result all the same", async () => {
    const agent = agentUnderTest(async (context) => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      await context
        .toolCall("t", {}, () => {
          throw proxy;
        })
        .catch(() => {});
    });
    const run = await agent.run("go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe("The tool failed.");
    expect(endOf(run)).toBe("success");
  });

  it("whose arguments JSON cannot say is not shown, and not run", async () => {
    let ran = 0;
    const agent = agentUnderTest(async (context) =>
      context.toolCall("t", { a: 1n }, () => ran++).catch((error) => error.name),
    );
    expect(typesOf(await agent.run("go"))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(ran).toBe(0);
  });

  it("may have an id that a model chose", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("t", {}, (_args, tool) => tool.toolCallId, { toolCallId: "call-of-a-model" }),
    );
    const run = await agent.run("go");
    expect(run.result).toBe("call-of-a-model");
    expect(run.events[1]?.toolCallId).toBe("call-of-a-model");
  });

  it.each<[string, (context: AgentContext) => Promise<unknown>, string]>([
    [
      "another call has",
      (context) => context.toolCall("t", {}, () => "first", { toolCallId: "c" }),
      'The call "c" was shown already: give `shown: true`, or another toolCallId.',
    ],
    [
      "its model's stream has shown",
      async (context) => {
        await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
        await context.emit({ type: "TOOL_CALL_END", toolCallId: "c" });
      },
      'The call "c" was shown already: give `shown: true`, or another toolCallId.',
    ],
    ["the history has", async () => {}, 'TOOL_CALL_START: "c" is a call of the history; a new call takes a new id.'],
  ])("with an id that %s is refused, shows and ends nothing, and is not run", async (what, before, message) => {
    let ran = 0;
    const agent = agentUnderTest(async (context) => {
      await before(context);
      await context.text("Let me ");
      const told = await context.toolCall("t", {}, () => ran++, { toolCallId: "c" }).catch((error) => error.message);
      await context.text("see.");
      return told;
    });
    const given = { id: "c", type: "function" as const, function: { name: "t", arguments: "{}" } };
    const messages = [
      { id: "a", role: "assistant" as const, toolCalls: [given] },
      { id: "r", role: "tool" as const, toolCallId: "c", content: "old" },
    ];
    const run = await agent.run(what === "the history has" ? { messages } : "go");
    expect(run.result).toBe(message);
    expect(typesOf(run).slice(-5, -1)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
    expect(ran).toBe(0);
  });

  it("with the id of a call that was shown before a question needs `shown` after it", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{}" });
      await context.input("A?");
      const told = await context.toolCall("t", {}, () => "ran", { toolCallId: "c" }).catch((error) => error.message);
      return [told, await context.toolCall("t", {}, () => "ran", { toolCallId: "c", shown: true })];
    });
    const run = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(run.result).toEqual(['The call "c" was shown already: give `shown: true`, or another toolCallId.', "ran"]);
    expect(typesOf(run)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
  });

  it("gives its tool a context with the same members", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("t", {}, async (_args, tool) => {
        const same = (["threadId", "runId", "run", "request", "identity", "locals", "userText", "signal"] as const).map(
          (member) => tool[member] === context[member],
        );
        await tool.setState({ set: "by the tool" });
        await tool.step("inside", () => tool.custom("acme:x", 1));
        return [...same, context.state, await tool.toolCall("nested", {}, (_none, inner) => inner.toolName)];
      }),
    );
    const run = await agent.run("go");
    expect(run.result).toEqual([...Array(8).fill(true), { set: "by the tool" }, "nested"]);
  });

  it("has its questions carry its id, and those of a nested call the nested one's", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall(
        "outer",
        {},
        async (_args, outer) => [
          await outer.toolCall("inner", {}, (_none, inner) => inner.input("A?"), { toolCallId: "inner-call" }),
          await outer.input("B?"),
        ],
        { toolCallId: "outer-call" },
      ),
    );
    const a = soleInterrupt(await agent.run("go"));
    const b = soleInterrupt(await agent.answer(a, "a"));
    expect([a.toolCallId, b.toolCallId]).toEqual(["inner-call", "outer-call"]);
    const run = await agent.answer(b, "b");
    expect(run.result).toEqual(["a", "b"]);
    expect(typesOf(run)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
  });

  it("whose question is given up, or times out, has a result that says so", async () => {
    const agent = agentUnderTest(async (context: AgentContext) =>
      Promise.allSettled([
        context.toolCall("a", {}, (_args, tool) => tool.input("A?")),
        context.toolCall("b", {}, (_args, tool) => tool.input("B?", { timeoutMs: 1_000 })),
        context.toolCall("c", {}, (_args, tool) => tool.input("C?")),
      ]).then((all) => all.map(({ status }) => status)),
    );
    const asked = await agent.run("go");
    await agent.clock.advance(1_000);
    const [a, , c] = asked.interrupts;
    const run = await agent.resume([
      giveUp(a as never),
      { interruptId: c?.id as string, status: "resolved", payload: "c", metadata: c?.metadata ?? {} },
    ]);
    const contents = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content);
    expect(contents).toEqual([
      "Nobody answered the question before its deadline.",
      "The client abandoned the question.",
      "c",
    ]);
    expect(run.result).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("may run beside others: each has its own result", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all(
        [3, 1, 2].map((n) =>
          context.toolCall(`t${n}`, { n }, async () => {
            for (let i = 0; i < n * 3; i++) await Promise.resolve();
            return n;
          }),
        ),
      ),
    );
    const run = await agent.run("go");
    expect(run.result).toEqual([3, 1, 2]);
    const starts = new Map(
      run.events.filter((e) => e.type === "TOOL_CALL_START").map((e) => [e.toolCallId, e.toolCallName]),
    );
    const results = run.events.filter((e) => e.type === "TOOL_CALL_RESULT");
    expect(results.map(({ toolCallId, content }) => `${starts.get(toolCallId)} ${content}`)).toEqual([
      "t1 1",
      "t2 2",
      "t3 3",
    ]);
  });

  it("that is not waited for by a turn that ends is answered for, is still settled, and shows nothing more", async () => {
    let settled: unknown;
    const agent = agentUnderTest(async (context) => {
      void context
        .toolCall("slow", {}, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return "late";
        })
        .then((value) => {
          settled = value;
        });
      return "done";
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", ...CALL, "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(run.events.at(-2)).toMatchObject({ content: "The turn ended before the tool did." });
    // Named as pending it would be taken for the client's to answer.
    expect(run.outcome).toEqual({ type: "success" });
    await agent.clock.advance(0);
    expect(settled).toBe("late");
  });

  it("that runs when turn control decides goes on to its end, and the prompt comes after its result", async () => {
    const done: string[] = [];
    const agent = agentUnderTest(async (context) => {
      void context.toolCall("lookup", {}, async () => {
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        done.push("looked up");
        return "found";
      });
      return context.inputRequired("Where to?");
    });
    const run = await agent.run("go");
    expect(done).toEqual(["looked up"]);
    const words = run.events.map(({ content, delta }) => content ?? delta).filter((said) => said !== undefined);
    expect(words).toEqual(["{}", "found", "Where to?"]);
    expect(run.result).toEqual({ status: "input-required", message: "Where to?" });
    expect(run.outcome).toEqual({ type: "success" });
  });

  it("that never settles does not keep a turn that was decided, once its client has left", async () => {
    const agent = agentUnderTest(async (context) => {
      void context.toolCall("hang", {}, () => new Promise(() => {}));
      return context.inputRequired("Where to?");
    });
    const leaving = new AbortController();
    const run = agent.run("go", { signal: leaving.signal });
    const gone = expect(run).rejects.toThrow();
    await agent.clock.advance(0);
    leaving.abort();
    await gone;
    expect(agent.handler.stats()).toMatchObject({ started: 1, running: 0 });
  });
});
