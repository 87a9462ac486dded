import type { RunAgentInput } from "@ag-ui/core";
import { type Tool, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";
import { call, calls, finish, resultsIn, says, scripted } from "./models.ts";

const showMap = {
  name: "show_map",
  description: "Shows a map.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const go: Partial<RunAgentInput> = { messages: [{ id: "1", role: "user", content: "go" }], tools: [showMap] };

const note = tool({ inputSchema: z.object({}), execute: () => "noted" });
const ask = tool({
  inputSchema: z.object({}),
  execute: (_input, options) => contextOf(options).input("Sure?"),
});

describe("a tool of the client's", () => {
  it("is offered to the model as the client declares it", async () => {
    const model = scripted(says("ok"));
    await agentUnderTest(aiAgent({ model, tools: { note }, turnControl: false })).run(go);
    expect(model.doStreamCalls[0]?.tools).toMatchObject([
      { name: "note" },
      { name: "show_map", description: "Shows a map.", inputSchema: showMap.parameters },
    ]);
  });

  it("is called in a stream, left unanswered, and the run finishes at once", async () => {
    const model = scripted(calls(call("front", "show_map", { city: "Rome" })));
    const run = await agentUnderTest(aiAgent({ model })).run(go);
    expect(typesOf(run).filter((type) => type !== "TOOL_CALL_ARGS")).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
    expect(model.prompts).toHaveLength(1);
  });

  it("is pending exactly, in call order, beside tools of the server", async () => {
    const model = scripted(
      calls(
        call("f1", "show_map", { city: "Rome" }),
        call("s1", "note", {}),
        call("f2", "show_map", { city: "Oslo" }),
        call("s2", "note", {}),
      ),
    );
    const run = await agentUnderTest(aiAgent({ model, tools: { note } })).run(go);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["f1", "f2"] });
    const answered = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ toolCallId }) => toolCallId);
    expect(answered.sort()).toEqual(["s1", "s2"]);
  });

  it("goes on in the next run, with what the client gave", async () => {
    const model = scripted(says("There it is."));
    const agent = agentUnderTest(aiAgent({ model }));
    const run = await agent.run({
      ...go,
      messages: [
        { id: "1", role: "user", content: "go" },
        {
          id: "2",
          role: "assistant",
          toolCalls: [{ id: "f", type: "function", function: { name: "show_map", arguments: '{"city":"Rome"}' } }],
        },
        { id: "3", role: "tool", toolCallId: "f", content: "shown" },
      ],
    });
    expect(run.text).toBe("There it is.");
    expect(resultsIn(model.prompts[0])).toEqual([["f", { type: "text", value: "shown" }]]);
  });

  it("is given its arguments as the model wrote them, even when they are no JSON", async () => {
    const model = scripted(calls(call("front", "show_map", '{"city": Ro')));
    const run = await agentUnderTest(aiAgent({ model })).run(go);
    const shown = run.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta);
    expect(shown.join("")).toBe('{"city": Ro');
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
    expect(model.prompts).toHaveLength(1);
  });

  it("is not pending when the answer that called it was cut off", async () => {
    const model = scripted([...call("front", "show_map", '{"city": "Ro'), finish("length")]);
    expect((await agentUnderTest(aiAgent({ model })).run(go)).outcome).toEqual({ type: "cancelled" });
  });

  it("may be declared by the server, which does not run it", async () => {
    const model = scripted(calls(call("front", "show_map", { city: "Rome" })));
    const show_map = tool({ description: "Mine.", inputSchema: z.object({ city: z.string() }) }) as Tool;
    const run = await agentUnderTest(aiAgent({ model, tools: { show_map } })).run(go);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
    expect(model.doStreamCalls[0]?.tools).toMatchObject([{ description: "Mine." }, { name: "request_input" }]);
  });

  it("is the client's in this turn also where the server has one of the name, with a warning: nothing here answers it", async () => {
    const model = scripted(calls(call("a", "note", {}), call("b", "request_input", { prompt: "Which?" })));
    let ran = 0;
    const mine = tool({ inputSchema: z.object({}), execute: () => void ran++ });
    const agent = agentUnderTest(aiAgent({ model, tools: { note: mine } }));
    const run = await agent.run({
      ...go,
      tools: [
        { name: "note", description: "The client's." },
        { name: "request_input", description: "The client's, too." },
      ],
    });
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["a", "b"] });
    expect(run.result).toBeUndefined();
    expect(ran).toBe(0);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["TOOL_NAME_TAKEN", "TOOL_NAME_TAKEN"]);
    expect(model.doStreamCalls[0]?.tools).toMatchObject([
      { description: "The client's." },
      { description: "The client's, too." },
    ]);
  });

  it.each(["constructor", "__proto__", "toString"])("may be called %s", async (name) => {
    const model = scripted(calls(call("front", name, {})));
    const run = await agentUnderTest(aiAgent({ model })).run({ ...go, tools: [{ name, description: "Odd." }] });
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
  });

  it.each([undefined, true, "x", [1]])("may have no parameters to speak of (%j)", async (parameters) => {
    const model = scripted(calls(call("front", "show_map", "")));
    const tools = [{ name: "show_map", description: "Shows.", ...(parameters === undefined ? {} : { parameters }) }];
    const run = await agentUnderTest(aiAgent({ model })).run({ ...go, tools });
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["front"] });
  });
});

describe("a client's tool beside a question", () => {
  const model = () =>
    scripted(calls(call("front", "show_map", { city: "Rome" }), call("q", "ask", {})), says("Both done."));
  const shown = { id: "9", role: "tool" as const, toolCallId: "front", content: "shown" };
  const assistant = {
    id: "2",
    role: "assistant" as const,
    toolCalls: [
      { id: "front", type: "function" as const, function: { name: "show_map", arguments: '{"city":"Rome"}' } },
      { id: "q", type: "function" as const, function: { name: "ask", arguments: "{}" } },
    ],
  };

  it("shows both calls, and the interrupt covers the question alone", async () => {
    const asked = await agentUnderTest(aiAgent({ model: model(), tools: { ask } })).run(go);
    expect(soleInterrupt(asked).toolCallId).toBe("q");
    expect(typesOf(asked).filter((type) => type === "TOOL_CALL_END")).toHaveLength(2);
    expect(asked.events.some(({ type }) => type === "TOOL_CALL_RESULT")).toBe(false);
  });

  it("goes on with both when the answer brings the client's result along, and invents none", async () => {
    const scriptedModel = model();
    const agent = agentUnderTest(aiAgent({ model: scriptedModel, tools: { ask } }));
    const question = soleInterrupt(await agent.run(go));
    const run = await agent.answer(question, "yes", { messages: [...(go.messages ?? []), assistant, shown] });
    expect(run.text).toBe("Both done.");
    expect(run.outcome).toEqual({ type: "success" });
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ toolCallId }) => toolCallId)).toEqual([
      "q",
    ]);
    expect(resultsIn(scriptedModel.prompts[1])).toEqual([
      ["q", { type: "text", value: "yes" }],
      ["front", { type: "text", value: "shown" }],
    ]);
  });

  it("finishes without the model when the answer does not bring it, and goes on when the next run does", async () => {
    const scriptedModel = model();
    const agent = agentUnderTest(aiAgent({ model: scriptedModel, tools: { ask } }));
    const question = soleInterrupt(await agent.run(go));
    const run = await agent.resume([answerTo(question, "yes")]);
    expect(endOf(run)).toBe("success");
    expect(scriptedModel.prompts).toHaveLength(1);
    const result = run.events.find(({ type }) => type === "TOOL_CALL_RESULT");
    expect(result).toMatchObject({ toolCallId: "q", content: "yes" });
    const answer = { id: "8", role: "tool" as const, toolCallId: "q", content: "yes" };
    const last = await agent.run({ ...go, messages: [...(go.messages ?? []), assistant, shown, answer] });
    expect(last.text).toBe("Both done.");
  });

  it("counts the further answers against maxSteps, and prepareStep sees the ones before", async () => {
    const seen: number[] = [];
    const scriptedModel = model();
    const agent = agentUnderTest(
      aiAgent({
        model: scriptedModel,
        tools: { ask },
        maxSteps: 2,
        prepareStep: ({ stepNumber, steps }) => {
          seen.push(stepNumber, steps.length);
          return undefined;
        },
      }),
    );
    const question = soleInterrupt(await agent.run(go));
    await agent.answer(question, "yes", { messages: [...(go.messages ?? []), assistant, shown] });
    expect(seen).toEqual([0, 0, 1, 1]);

    const one = model();
    const limited = agentUnderTest(aiAgent({ model: one, tools: { ask }, maxSteps: 1 }));
    const run = await limited.answer(soleInterrupt(await limited.run(go)), "yes", {
      messages: [...(go.messages ?? []), assistant, shown],
    });
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(one.prompts).toHaveLength(1);
  });
});
