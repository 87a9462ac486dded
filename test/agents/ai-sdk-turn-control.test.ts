import type { RunAgentInput } from "@ag-ui/core";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import type { TraceEvent } from "../../src/index.ts";
import type { TestRun } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";
import { call, calls, finish, type Part, resultsIn, says, scripted, words } from "./models.ts";

const asks = (prompt: string, reason?: string, id = "ask") =>
  call(id, "request_input", { prompt, ...(reason === undefined ? {} : { reason }) }, 3);

const results = ({ events }: TestRun) =>
  events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ toolCallId, content }) => [toolCallId, content]);

/** What a client holds after a run, as it sends it with its next message. */
async function historyOf(run: TestRun): Promise<RunAgentInput["messages"]> {
  return (await checkWithClient(run.raw, run.input as RunAgentInput)).messages;
}

describe("a model that ends its turn with a question", () => {
  it("is asked no further: the call is answered, the prompt is a message, the result says so", async () => {
    const model = scripted(calls(asks("  Afternoon or evening?  ")));
    const run = await agentUnderTest(aiAgent({ model })).run("a flight, please");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(results(run)).toEqual([["ask", "Afternoon or evening?"]]);
    expect(run.text).toBe("Afternoon or evening?");
    expect(run.result).toEqual({ status: "input-required", message: "Afternoon or evening?" });
    expect(run.outcome).toEqual({ type: "success" });
    expect(model.prompts).toHaveLength(1);
  });

  it("goes on with the user's next message, its history as any provider wants it", async () => {
    const model = scripted(calls(words("Two are left."), asks("Which?"), call("b", "note", {})), says("LH429 it is."));
    const note = tool({ inputSchema: z.object({}), execute: () => "noted" });
    const agent = agentUnderTest(aiAgent({ model, tools: { note } }));
    const messages = await historyOf(await agent.run("a flight, please"));
    const run = await agent.run({ messages: [...messages, { id: "next", role: "user", content: "the evening one" }] });
    expect(run.text).toBe("LH429 it is.");
    expect(model.prompts[1]?.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(resultsIn(model.prompts[1]).map(([id]) => id)).toEqual(["ask", "b"]);
    expect(model.prompts[1]?.[3]?.content).toMatchObject([{ type: "text", text: "Which?" }]);
  });

  it("tells its reason to the application and to nobody else", async () => {
    const traces: TraceEvent[] = [];
    const secret = "the budget is a guess";
    for (const args of [asks("Which?", secret), call("ask", "request_input", { reason: secret, prompt: "Which?" })]) {
      const agent = agentUnderTest({
        agent: aiAgent({ model: scripted(calls(args)) }),
        onTrace: (event) => traces.push(event),
      });
      const run = await agent.run("go");
      expect(run.raw).not.toContain(secret.slice(0, 12));
      expect(run.events[2]).toMatchObject({ type: "TOOL_CALL_ARGS", delta: '{"prompt":"Which?"}' });
      expect(JSON.stringify(await historyOf(run))).not.toContain("budget");
    }
    expect(traces).toEqual([
      { type: "input-required", prompt: "Which?", reason: secret, threadId: "thread-1", runId: "run-1" },
      { type: "input-required", prompt: "Which?", reason: secret, threadId: "thread-1", runId: "run-1" },
    ]);
  });

  it.each([
    ["an empty prompt", { prompt: "", reason: "hidden" }],
    ["a prompt of blanks", { prompt: " \n ", reason: "hidden" }],
    ["a prompt of 2001 characters", { prompt: "x".repeat(2001), reason: "hidden" }],
    ["no prompt", { reason: "hidden" }],
    ["a prompt that is no text", { prompt: 7, reason: "hidden" }],
    ["arguments that are no object", "null"],
    ["arguments that are not JSON", '{"reason":"hidden","prompt":'],
  ])("may correct itself after %s, whose reason stays hidden too", async (_what, args) => {
    const model = scripted(calls(call("bad", "request_input", args)), calls(asks("Which?")));
    const run = await agentUnderTest(aiAgent({ model })).run("go");
    expect(results(run)).toEqual([
      ["bad", expect.stringContaining("1 to 2000 characters")],
      ["ask", "Which?"],
    ]);
    expect(run.result).toEqual({ status: "input-required", message: "Which?" });
    expect(run.raw).not.toContain("hidden");
  });

  it.each([1, 2000])("may use %i characters once trimmed", async (length) => {
    const prompt = "x".repeat(length);
    const model = scripted(calls(call("ask", "request_input", { prompt: ` ${prompt}\n` }, 500)));
    const run = await agentUnderTest(aiAgent({ model })).run("go");
    expect(run.result).toEqual({ status: "input-required", message: prompt });
  });

  it("is offered the tool with words about when to use it, which can be others, or not at all", async () => {
    const offered = async (turnControl?: boolean | { requestInputDescription: string }) => {
      const model = scripted(says("ok"));
      await agentUnderTest(aiAgent({ model, ...(turnControl === undefined ? {} : { turnControl }) })).run("go");
      return model.doStreamCalls[0]?.tools;
    };
    expect(await offered()).toMatchObject([
      { name: "request_input", description: expect.stringMatching(/Do not use it/) },
    ]);
    expect(await offered(true)).toHaveLength(1);
    expect(await offered({ requestInputDescription: "Frag nach." })).toMatchObject([{ description: "Frag nach." }]);
    expect(await offered(false)).toBeUndefined();
  });

  it("is not confused with a tool of the application's that has the name", async () => {
    const request_input = tool({ inputSchema: z.object({}), execute: () => "mine" });
    const agent = agentUnderTest(aiAgent({ model: scripted(), tools: { request_input } }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors[0]?.error).toBeInstanceOf(TypeError);
    const model = scripted(calls(call("a", "request_input", {})), says("ok"));
    const run = await agentUnderTest(aiAgent({ model, tools: { request_input }, turnControl: false })).run("go");
    expect(run.text).toBe("ok");
    expect(results(run)).toEqual([["a", "mine"]]);
  });
});

describe("what stands beside a question that ends the turn", () => {
  const slow = (order: string[]) =>
    tool({
      inputSchema: z.object({}),
      async execute(_input, options) {
        const answer = await contextOf(options).input("Sure?");
        order.push(answer);
        return `held: ${answer}`;
      },
    });

  it("is answered first when it holds a question of its own, and is not cancelled", async () => {
    for (const made of [
      [asks("Which?"), call("s", "slow", {})],
      [call("s", "slow", {}), asks("Which?")],
    ]) {
      const order: string[] = [];
      const agent = agentUnderTest(aiAgent({ model: scripted(calls(...made)), tools: { slow: slow(order) } }));
      const asked = await agent.run("go");
      const question = soleInterrupt(asked);
      expect(question.toolCallId).toBe("s");
      expect(asked.text).toBe("");
      const run = await agent.answer(question, "yes");
      expect(order).toEqual(["yes"]);
      expect([...results(asked), ...results(run)].map(([id]) => id).sort()).toEqual(["ask", "s"]);
      expect(run.text).toBe("Which?");
      expect(run.result).toEqual({ status: "input-required", message: "Which?" });
    }
  });

  it("may fail without stopping it", async () => {
    const fail = tool({
      inputSchema: z.object({}),
      execute: (): string => {
        throw new Error("down");
      },
    });
    const model = scripted(calls(call("f", "fail", {}), asks("Which?")));
    const run = await agentUnderTest(aiAgent({ model, tools: { fail } })).run("go");
    expect(results(run)).toContainEqual(["f", "The tool failed."]);
    expect(run.result?.status).toBe("input-required");
  });

  it("gets a result that says so when it is another of its kind: the first in the model's order is asked", async () => {
    const model = scripted(
      calls(asks("First?", undefined, "a"), asks("Second?", undefined, "b"), asks("Third?", undefined, "c")),
    );
    const run = await agentUnderTest(aiAgent({ model })).run("go");
    expect(results(run)).toEqual([
      ["a", "First?"],
      ["b", expect.stringContaining("Not passed on")],
      ["c", expect.stringContaining("Not passed on")],
    ]);
    expect(run.text).toBe("First?");
    expect(run.result).toEqual({ status: "input-required", message: "First?" });
  });

  it("gives way to the next when the first is no question at all", async () => {
    const model = scripted(calls(asks("", undefined, "a"), asks("Second?", undefined, "b")));
    const run = await agentUnderTest(aiAgent({ model })).run("go");
    expect(run.result).toEqual({ status: "input-required", message: "Second?" });
  });

  it("yields to one before it in the model's order even when that one is slower", async () => {
    const finalize = tool({
      inputSchema: z.object({}),
      async execute(_input, options) {
        await contextOf(options).input("Really finish?");
        return { content: "filed", terminate: { status: "completed", message: "All filed." } };
      },
    });
    const model = scripted(calls(call("f", "finalize", {}), asks("Which?")));
    const agent = agentUnderTest(aiAgent({ model, tools: { finalize } }));
    const run = await agent.answer(soleInterrupt(await agent.run("go")), "yes");
    expect(results(run)).toEqual([
      ["f", "filed"],
      ["ask", expect.stringContaining("Not passed on")],
    ]);
    expect(run.result).toEqual({ status: "completed", message: "All filed." });
  });

  it("may be the client's to answer: the call stays pending, exactly", async () => {
    const model = scripted(calls(call("front", "show_map", {}), asks("Which?")));
    const agent = agentUnderTest(aiAgent({ model }));
    const run = await agent.run({
      messages: [{ id: "1", role: "user", content: "go" }],
      tools: [{ name: "show_map", description: "Shows a map." }],
    });
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
    expect(run.result).toEqual({ status: "input-required", message: "Which?" });
  });
});

describe("a tool of the application that ends the turn", () => {
  const ending = (result: unknown) => ({ end: tool({ inputSchema: z.object({}), execute: () => result }) });
  const oneCall = (...more: Part[][]) => scripted(calls(call("e", "end", {})), ...more);

  it.each(["input-required", "completed"])("does so as %s, with its message as the assistant's", async (status) => {
    const model = oneCall();
    const tools = ending({ content: { saved: 3 }, terminate: { status, message: " Saved three. " } });
    const run = await agentUnderTest(aiAgent({ model, tools })).run("go");
    expect(results(run)).toEqual([["e", '{"saved":3}']]);
    expect(run.text).toBe("Saved three.");
    expect(run.result).toEqual({ status, message: "Saved three." });
    expect(model.prompts).toHaveLength(1);
  });

  it("may leave the result's content to its message", async () => {
    const run = await agentUnderTest(
      aiAgent({ model: oneCall(), tools: ending({ terminate: { status: "completed", message: "Done." } }) }),
    ).run("go");
    expect(results(run)).toEqual([["e", "Done."]]);
  });

  it.each([
    ["another status", { content: "x", terminate: { status: "failed", message: "no" } }, "x"],
    ["no message", { content: "x", terminate: { status: "completed" } }, "x"],
    ["an empty message", { content: "x", terminate: { status: "input-required", message: " " } }, "x"],
    [
      "a question of 2001 characters",
      { content: "x", terminate: { status: "input-required", message: "y".repeat(2001) } },
      "x",
    ],
    ["a word of its own", { terminate: true, pid: 7 }, '{"terminate":true,"pid":7}'],
  ])("is a tool like any other when it gives %s, with a warning", async (_what, result, shown) => {
    const agent = agentUnderTest(aiAgent({ model: oneCall(says("went on")), tools: ending(result) }));
    const run = await agent.run("go");
    expect(results(run)).toEqual([["e", shown]]);
    expect(run.text).toBe("went on");
    expect(run.result).toBeUndefined();
    expect(agent.warnings.map(({ code }) => code)).toEqual(["TERMINATE_IGNORED"]);
  });

  it("may do it by its context's inputRequired, which waits for its siblings too", async () => {
    const traces: TraceEvent[] = [];
    const order: string[] = [];
    const model = scripted(calls(call("e", "end", {}), call("s", "slow", {})));
    const agent = agentUnderTest({
      onTrace: (event) => traces.push(event),
      agent: aiAgent({
        model,
        tools: {
          end: tool({
            inputSchema: z.object({}),
            execute: (_input, options) => contextOf(options).inputRequired(" Which? ", { reason: "two fit" }),
          }),
          slow: tool({
            inputSchema: z.object({}),
            async execute(_input, options) {
              order.push(await contextOf(options).input("Sure?"));
              return "slow";
            },
          }),
        },
      }),
    });
    const asked = await agent.run("go");
    const run = await agent.answer(soleInterrupt(asked), "yes");
    expect(order).toEqual(["yes"]);
    expect(results(asked)).toEqual([["e", "Which?"]]);
    expect(run.text).toBe("Which?");
    expect(run.result).toEqual({ status: "input-required", message: "Which?" });
    expect(traces).toMatchObject([{ prompt: "Which?", reason: "two fit", runId: "run-2" }]);
    expect(run.raw + asked.raw).not.toContain("two fit");
  });

  it("is told at once that a prompt is none", async () => {
    const caught: unknown[] = [];
    const end = tool({
      inputSchema: z.object({}),
      execute: (_input, options) => {
        try {
          return contextOf(options).inputRequired(" ");
        } catch (error) {
          caught.push((error as { code: string }).code);
          return "instead";
        }
      },
    });
    const run = await agentUnderTest(aiAgent({ model: oneCall(says("ok")), tools: { end } })).run("go");
    expect(caught).toEqual(["PROMPT_INVALID"]);
    expect(run.text).toBe("ok");
  });

  it("does not end it when it then fails", async () => {
    const end = tool({
      inputSchema: z.object({}),
      execute: (_input, options): string => {
        contextOf(options).inputRequired("Which?");
        throw new Error("down");
      },
    });
    const run = await agentUnderTest(aiAgent({ model: oneCall(says("ok")), tools: { end } })).run("go");
    expect(run.result).toBeUndefined();
    expect(run.text).toBe("ok");
  });
});

describe("turn control, whatever the words", () => {
  const random = () =>
    Array.from({ length: 12 }, () => "abcdefghijklmnopqrstuvwxyzäß東 "[Math.floor(Math.random() * 30)])
      .join("")
      .trim() || "x";
  const name = () => `t_${Math.random().toString(36).slice(2)}`;

  it.each(Array.from({ length: 12 }, (_, i) => [i]))(
    "behaves the same for a model and tools of any words (%i)",
    async () => {
      const [prompt, reason, before, own, other] = [random(), random(), random(), name(), name()];
      const plain = tool({ description: random(), inputSchema: z.object({}), execute: () => random() });
      const made = [asks(prompt, `why-${reason}`), call(name(), own, {}), call(name(), other, {})];
      if (Math.random() < 0.5) made.reverse();
      const model = scripted(calls(words(before), ...made));
      const traces: TraceEvent[] = [];
      const agent = agentUnderTest({
        agent: aiAgent({
          model,
          instructions: random(),
          tools: { [own]: plain, [other]: plain },
          turnControl: { requestInputDescription: random() },
        }),
        onTrace: (event) => traces.push(event),
      });
      const run = await agent.run(random());
      expect(run.result, `${prompt} ${reason}`).toEqual({ status: "input-required", message: prompt.trim() });
      expect(run.text).toBe(before + prompt.trim());
      expect(results(run)).toHaveLength(3);
      expect(run.outcome).toEqual({ type: "success" });
      expect(run.raw).not.toContain(`why-${reason}`);
      expect(traces).toMatchObject([{ prompt: prompt.trim(), reason: `why-${reason}` }]);
      expect(model.prompts).toHaveLength(1);
    },
  );
});

describe("a question that is cut off", () => {
  it.each([
    ["in the middle of its arguments", call("ask", "request_input", '{"prompt":"Afternoon or ev')],
    ["before its arguments were over", call("ask", "request_input", '{"prompt":"Aft').slice(0, -2)],
    ["right behind its arguments", asks("Afternoon or evening?")],
  ])("%s is not asked, nor is the model again: the run is cancelled, the call answered", async (_what, parts) => {
    const model = scripted([...words("There are two."), ...parts, finish("length")]);
    const agent = agentUnderTest(aiAgent({ model }));
    const run = await agent.run("go");
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(run.result).toBeUndefined();
    expect(run.text).toBe("There are two.");
    expect(results(run)).toHaveLength(1);
    expect(model.prompts).toHaveLength(1);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["MODEL_CUT_OFF"]);
  });
});
