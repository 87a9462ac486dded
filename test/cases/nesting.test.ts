import type { Message } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { Agent, AgentContext } from "../../src/index.ts";
import { ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { httpClient } from "../support/http-client.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("B39 a question asked inside a subagent's tool", () => {
  it("surfaces on the outer run, and inner and outer each go on once", async () => {
    const steps: string[] = [];
    const agent = agentUnderTest((context: AgentContext) =>
      context.toolCall("plan", {}, async (_plan, outer) => {
        steps.push("outer begins");
        const booked = await outer.subagent({ name: "Booker" }, (booker) =>
          booker.toolCall("book", {}, async (_book, inner) => {
            steps.push("inner begins");
            const answer = await inner.input("Book LH441?");
            steps.push(`inner got ${answer}`);
            return `booked: ${answer}`;
          }),
        );
        steps.push(`outer got ${booked}`);
        return "planned";
      }),
    );
    const asked = await agent.run("Plan");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "SUBAGENT_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "SUBAGENT_FINISHED",
      "RUN_FINISHED",
    ]);
    const [, outerCall, , , subagent, innerCall, , , suspended] = asked.events;
    const interrupt = soleInterrupt(asked);
    const { subagentRunId } = subagent as { subagentRunId?: string };
    expect(interrupt).toMatchObject({ toolCallId: innerCall?.toolCallId, subagentRunId });
    expect(suspended).toMatchObject({ subagentRunId, outcome: { type: "suspended", interruptIds: [interrupt.id] } });

    const answered = await agent.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "SUBAGENT_STARTED",
      "TOOL_CALL_RESULT",
      "SUBAGENT_FINISHED",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(answered.events.map(({ toolCallId }) => toolCallId).filter(Boolean)).toEqual([
      innerCall?.toolCallId,
      outerCall?.toolCallId,
    ]);
    expect(answered.events[1]).toMatchObject({ subagentRunId, name: "Booker" });
    expect(steps).toEqual(["outer begins", "inner begins", "inner got yes", "outer got booked: yes"]);
    expect(answered.result).toBe("planned");
  });
});

describe("B41 a frontend tool that is never called", () => {
  it("changes nothing in the stream", async () => {
    const tools = [{ name: "unused", description: "Nobody calls it.", parameters: { type: "object" } }];
    const plain: Agent = async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hello" });
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "own" });
      await context.emit({ type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "r", content: "done" });
    };
    const agent = agentUnderTest(plain);
    const without = await agent.run({ runId: "r" });
    expect((await agent.run({ runId: "r", tools })).raw).toBe(without.raw);
    const asked = await agentUnderTest(askingAgent().agent).run({ tools });
    expect(typesOf(asked)).toEqual(ASKED);
  });
});

describe("B42 a frontend tool and a question in one step", () => {
  function mixedAgent() {
    const seen: Message[][] = [];
    const agent: Agent = async (context) => {
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "front", toolCallName: "open_map" });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "front", delta: "{}" });
      await context.emit({ type: "TOOL_CALL_END", toolCallId: "front" });
      const answer = await context.toolCall("book", {}, (_args, tool) => tool.input("Book LH441?"), {
        toolCallId: "own",
      });
      seen.push(context.run.messages);
      return { answer, map: context.run.messages.find((message) => message.role === "tool")?.content ?? null };
    };
    return { agent, seen };
  }
  const tools = [{ name: "open_map", description: "Opens a map.", parameters: { type: "object" } }];

  it("the question covers itself only, and the agent sees both results", async () => {
    const { agent: mixed } = mixedAgent();
    const agent = agentUnderTest(mixed);
    const asked = await agent.run({ tools, messages: [{ id: "m", role: "user", content: "Go" }] });
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    const interrupt = soleInterrupt(asked);
    expect(interrupt.toolCallId).toBe("own");
    const { messages } = await checkWithClient(asked.raw, asked.input);
    const result: Message = { id: "front-result", role: "tool", toolCallId: "front", content: "map opened" };
    const answered = await agent.answer(interrupt, "yes", { messages: [...messages, result] as Message[] });
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(answered.events[1]).toMatchObject({ toolCallId: "own", content: "yes" });
    expect(answered.result).toEqual({ answer: "yes", map: "map opened" });
  });

  it("without its tool message the answer counts all the same, and no result is made up", async () => {
    const { agent: mixed } = mixedAgent();
    const agent = agentUnderTest(mixed);
    const interrupt = soleInterrupt(await agent.run({ tools }));
    const answered = await agent.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(answered.events[1]).toMatchObject({ toolCallId: "own" });
    expect(answered.result).toEqual({ answer: "yes", map: null });
  });
});

/** The rule of providers that take a list of messages: the calls of an assistant message are answered right behind it, each once. */
function checkPairing(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.delete(message.toolCallId)) throw new Error(`${message.toolCallId} answers no call before it.`);
      continue;
    }
    if (open.size > 0) throw new Error(`${[...open]} have no result before a ${message.role} message.`);
    if (message.role === "assistant") open = new Set(message.toolCalls?.map(({ id }) => id));
  }
  if (open.size > 0) throw new Error(`${[...open]} have no result at the end.`);
}

/** The rule of providers whose roles alternate: results are the next user turn's, all of one assistant turn in one. */
function checkAlternating(messages: readonly Message[]): void {
  let calls: string[] = [];
  let results: string[] = [];
  const settle = () => {
    if (JSON.stringify([...calls].sort()) !== JSON.stringify([...results].sort()))
      throw new Error(`The turn called ${calls} and was answered ${results}.`);
    calls = [];
    results = [];
  };
  for (const message of messages) {
    if (message.role === "assistant") {
      settle();
      calls = message.toolCalls?.map(({ id }) => id) ?? [];
    } else if (message.role === "tool") results.push(message.toolCallId);
  }
  settle();
}

describe("B101 a turn that ends with a question", () => {
  const requesting: Agent = async (context) => {
    if (context.userText === "LH441") return `booked after ${context.run.messages.length} messages`;
    await context.text("Let me see.");
    const sibling = context.toolCall("weather", {}, async () => "sunny");
    await context.toolCall("request_input", {}, async (_args, tool) => tool.inputRequired("  Which flight?  "));
    await sibling;
    return "not the result";
  };

  it("is over: its result says so, nothing is held, and every call that was shown is answered", async () => {
    const { handler } = agentUnderTest(requesting);
    const client = httpClient({ post: handler.fetch });
    const run = await client.say("Book");
    expect(run.result).toEqual({ status: "input-required", message: "Which flight?" });
    expect(run.outcome).toEqual({ type: "success" });
    expect(run.text).toBe("Let me see.Which flight?");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(handler.stats()).toMatchObject({ held: 0, running: 0 });
    const calls = run.events.filter(({ type }) => type === "TOOL_CALL_START").map(({ toolCallId }) => toolCallId);
    const results = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ toolCallId }) => toolCallId);
    expect(results.toSorted()).toEqual(calls.toSorted());
    checkPairing(client.agent.messages);
    checkAlternating(client.agent.messages);

    const next = await client.say("LH441");
    checkPairing(next.input.messages);
    checkAlternating(next.input.messages);
    expect(next.result).toBe("booked after 8 messages");
  });

  it("the checkers of pairing can fail", () => {
    const call = (id: string) => ({ id, type: "function" as const, function: { name: "f", arguments: "{}" } });
    const dangling: Message[] = [
      { id: "a", role: "assistant", toolCalls: [call("1"), call("2")] },
      { id: "t", role: "tool", toolCallId: "1", content: "" },
      { id: "u", role: "user", content: "Well?" },
    ];
    expect(() => checkPairing(dangling)).toThrow("2 have no result before a user message.");
    expect(() => checkAlternating(dangling)).toThrow("The turn called 1,2 and was answered 1.");
  });
});

describe("B102 the same through the official client", () => {
  it("its message is complete, nothing is pending, and the user's next message goes out at once", async () => {
    const agent = agentUnderTest(async (context) => {
      if (context.userText !== "tomorrow") return context.inputRequired("When?", { reason: "no date" });
      await context.text("Booked.");
      return undefined;
    });
    const client = httpClient({ post: agent.handler.fetch });
    const asked = await client.say("Book");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(client.agent.pendingInterrupts).toEqual([]);
    expect(client.agent.isRunning).toBe(false);
    expect(client.agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "When?" });
    expect(asked.raw).not.toContain("no date");
    const next = await client.say("tomorrow");
    expect([endOf(next), next.text]).toEqual(["success", "Booked."]);
  });
});
