/** Where a question stands on the wire: the call and the subagent it came from, as long as they are there to come from. */
import { describe, expect, it } from "vitest";
import type { AgentContext, ToolContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { call } from "../support/emitting.ts";
import { soleInterrupt } from "../support/runs.ts";

describe("an interrupt", () => {
  it("names the call whose tool asks, and not one that has its result", async () => {
    const agent = agentUnderTest(async (context) => {
      let tool: ToolContext | undefined;
      await context.toolCall("lookup", {}, (_args, given) => {
        tool = given as ToolContext;
        return given.input("First?");
      });
      await tool?.input("Second?");
      return tool?.input("Third?");
    });
    const first = await agent.run("go");
    expect(soleInterrupt(first).toolCallId).toBe(first.events.find(({ toolCallId }) => toolCallId)?.toolCallId);
    const second = await agent.answer(soleInterrupt(first), "1");
    expect(soleInterrupt(second)).not.toHaveProperty("toolCallId");
    // Its result went out in an earlier run by now.
    const third = await agent.answer(soleInterrupt(second), "2");
    expect(soleInterrupt(third)).not.toHaveProperty("toolCallId");
    expect((await agent.answer(soleInterrupt(third), "3")).result).toBe("3");
  });

  it.each<[string, readonly object[], string | undefined]>([
    ["that is open", [call("START")], "c"],
    ["that waits for its result", [call("START"), call("END")], "c"],
    ["that nobody has shown here", [], "c"],
    ["that has its result", [call("START"), call("RESULT")], undefined],
    ["that had its result before it was shown", [call("RESULT"), call("START")], undefined],
    ["of the history that has its result", [call("RESULT")], undefined],
  ])("asked about a call %s names it, or does not", async (_what, events, toolCallId) => {
    const agent = agentUnderTest(async (context) => {
      for (const event of events) await context.emit(event as never);
      return context.ask({ reason: "about", message: "Sure?", toolCallId: "c" });
    });
    expect(soleInterrupt(await agent.run("go")).toolCallId).toBe(toolCallId);
  });

  it("names the subagent whose code asks, and not one that has ended", async () => {
    const agent = agentUnderTest(async (context) => {
      let clerk: AgentContext | undefined;
      await context.subagent({ name: "Clerk" }, async (given) => {
        clerk = given;
        await given.input("First?");
      });
      return clerk?.input("Second?");
    });
    const first = await agent.run("go");
    const announced = first.events.find(({ type }) => type === "SUBAGENT_STARTED");
    expect(soleInterrupt(first)).toMatchObject({ subagentRunId: announced?.subagentRunId });
    const second = await agent.answer(soleInterrupt(first), "1");
    expect(soleInterrupt(second)).not.toHaveProperty("subagentRunId");
    expect((await agent.answer(soleInterrupt(second), "2")).result).toBe("2");
  });

  it("names a subagent that is at work, though the call of it that asks has its result", async () => {
    const agent = agentUnderTest(async (context) =>
      context.subagent({ name: "Clerk" }, async (clerk) => {
        let tool: ToolContext | undefined;
        await clerk.toolCall("lookup", {}, (_args, given) => {
          tool = given as ToolContext;
        });
        return tool?.input("Sure?");
      }),
    );
    const asked = await agent.run("go");
    const announced = asked.events.find(({ type }) => type === "SUBAGENT_STARTED");
    expect(soleInterrupt(asked)).toMatchObject({ subagentRunId: announced?.subagentRunId });
    expect(soleInterrupt(asked)).not.toHaveProperty("toolCallId");
  });

  it("completes the arguments of an open call, which is not opened again for what is missing", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit(call("START") as never);
      await context.emit(call("ARGS", "c", { delta: "a\ud83d" }) as never);
      await context.input("Sure?");
    });
    const asked = await agent.run("go");
    const deltas = asked.events.flatMap(({ type, delta }) => (type === "TOOL_CALL_ARGS" ? [delta] : []));
    expect(deltas).toEqual(["a", "\ufffd"]);
  });
});
