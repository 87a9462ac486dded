import { describe, expect, it } from "vitest";
import { type AgentContext, PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

describe("step", () => {
  it("is finished however its function ends, and gives back what that gives", async () => {
    const agent = agentUnderTest(async (context) => {
      const value = await context.step("fine", () => 5);
      const failure = await context
        .step("fails", async () => {
          throw new Error("x");
        })
        .catch((error) => error.message);
      return [value, failure];
    });
    const run = await agent.run("go");
    expect(run.events.slice(1, -1).map(({ type, stepName }) => `${type} ${stepName}`)).toEqual([
      "STEP_STARTED fine",
      "STEP_FINISHED fine",
      "STEP_STARTED fails",
      "STEP_FINISHED fails",
    ]);
    expect(run.result).toEqual([5, "x"]);
  });

  it("may overlap with others, but not with one of its own name and owner", async () => {
    const agent = agentUnderTest(async (context) => {
      await Promise.all([context.step("a", () => Promise.resolve()), context.step("b", () => Promise.resolve())]);
      return context.step("a", () => context.step("a", () => "never entered").catch((error) => error.code));
    });
    const run = await agent.run("go");
    expect(run.result).toBe("EVENT_REFUSED");
    expect(typesOf(run).filter((type) => type === "STEP_STARTED")).toHaveLength(3);
  });

  it("is not entered once nothing may go out any more", async () => {
    let entered = 0;
    const agent = agentUnderTest(async (context) => {
      context.inputRequired("A?");
      await context.step("late", () => entered++).catch(() => {});
    });
    await agent.run("go");
    expect(entered).toBe(0);
  });
});

describe("subagent", () => {
  it("is announced, what its context emits carries its id, and it is finished", async () => {
    const agent = agentUnderTest(async (context) =>
      context.subagent({ name: "helper", description: "helps" }, async (helper) => {
        await helper.text("Hello");
        await helper.reasoning("hm");
        await helper.step("s", () => helper.toolCall("t", {}, () => 1));
        await helper.custom("acme:x", 1);
        return "helped";
      }),
    );
    const run = await agent.run("go");
    const inner = run.events.slice(1, -1);
    const subagentRunId = inner[0]?.subagentRunId;
    expect(inner[0]).toMatchObject({ type: "SUBAGENT_STARTED", name: "helper", description: "helps" });
    expect(subagentRunId).toEqual(expect.any(String));
    // What continues a call says whose it is by the call's id.
    const begun = inner.filter(({ type }) => type !== "TOOL_CALL_ARGS" && type !== "TOOL_CALL_END");
    for (const event of begun) expect(event.subagentRunId).toBe(subagentRunId);
    expect(inner.at(-1)?.type).toBe("SUBAGENT_FINISHED");
    expect(run.events.at(-1)?.subagentRunId).toBeUndefined();
    expect(run.result).toBe("helped");
  });

  it("nests, and says who spawned it", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("delegate", {}, (_args, tool) =>
        tool.subagent({ name: "outer" }, (outer) => outer.subagent({ name: "inner" }, (inner) => inner.text("deep"))),
      ),
    );
    const run = await agent.run("go");
    const [outer, inner] = run.events.filter(({ type }) => type === "SUBAGENT_STARTED");
    expect(outer).toMatchObject({ name: "outer", parentToolCallId: run.events[1]?.toolCallId });
    expect(inner).toMatchObject({ name: "inner", parentSubagentRunId: outer?.subagentRunId });
    expect(endOf(run)).toBe("success");
  });

  it("that throws ends as SUBAGENT_ERROR in generic words, rejects with the same error, and the run goes on", async () => {
    const failure = new Error("postgres://secret");
    const tooLong = new PublicError("x".repeat(9 * 1024 * 1024));
    const agent = agentUnderTest(async (context) => {
      const fails = (error: Error) =>
        context
          .subagent({ name: "fails" }, async (helper) => {
            await helper.text("Half");
            throw error;
          })
          .catch((rejected) => rejected === error);
      return [await fails(failure), await fails(new PublicError("Out of luck.")), await fails(tooLong)];
    });
    const run = await agent.run("go");
    const errors = run.events.filter(({ type }) => type === "SUBAGENT_ERROR").map(({ message }) => message);
    expect(errors).toEqual(["The subagent failed.", "Out of luck.", "The subagent failed."]);
    expect([run.result, endOf(run)]).toEqual([[true, true, true], "success"]);
    expect(run.raw).not.toContain("secret");
  });

  it("has a message of its own beside the turn's and other subagents'", async () => {
    const agent = agentUnderTest(async (context: AgentContext) => {
      await Promise.all(
        ["a", "b"].map((name) =>
          context.subagent({ name }, async (helper) => {
            for (let i = 0; i < 3; i++) {
              await helper.text(`${name}${i} `);
              await new Promise((resolve) => setImmediate(resolve));
            }
          }),
        ),
      );
    });
    const run = await agent.run("go");
    const starts = run.events.filter(({ type }) => type === "TEXT_MESSAGE_START");
    expect(starts).toHaveLength(2);
    for (const { messageId, subagentRunId } of starts) {
      const own = run.events.filter((e) => e.type === "TEXT_MESSAGE_CONTENT" && e.messageId === messageId);
      expect(own.map(({ delta }) => delta[0])).toEqual(Array(3).fill(own[0]?.delta[0]));
      expect(new Set(own.map((e) => e.subagentRunId))).toEqual(new Set([subagentRunId]));
    }
  });

  it("asks for itself: its interrupts say whose they are, answers reach the one that asked", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all(
        ["a", "b"].map((name) =>
          context.subagent({ name }, (helper) => helper.toolCall(name, {}, (_args, tool) => tool.input(`${name}?`))),
        ),
      ),
    );
    const asked = await agent.run("go");
    const [a, b] = twoInterrupts(asked);
    const started = asked.events.filter(({ type }) => type === "SUBAGENT_STARTED");
    expect([a.subagentRunId, b.subagentRunId]).toEqual(started.map(({ subagentRunId }) => subagentRunId));
    const run = await agent.resume([answerTo(b, "to b"), answerTo(a, "to a")]);
    expect(run.result).toEqual(["to a", "to b"]);
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "SUBAGENT_STARTED",
      "SUBAGENT_STARTED",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_RESULT",
      "SUBAGENT_FINISHED",
      "SUBAGENT_FINISHED",
      "RUN_FINISHED",
    ]);
  });

  it("that was stopped in the middle is closed by whoever ends the run", async () => {
    const agent = agentUnderTest(async (context) =>
      context.subagent({ name: "helper" }, async (helper) => {
        await helper.text("Half");
        helper.stop();
        await helper.input("A?");
      }),
    );
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "SUBAGENT_ERROR",
      "RUN_FINISHED",
    ]);
    expect(endOf(run)).toBe("cancelled");
  });

  it("goes on after its question with the message it had open", async () => {
    const agent = agentUnderTest(async (context) =>
      context.subagent({ name: "helper" }, async (helper) => {
        const before = await helper.text("Half a ");
        await helper.input("A?");
        return before === (await helper.text("sentence."));
      }),
    );
    const run = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "SUBAGENT_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(run.result).toBe(true);
  });
});
