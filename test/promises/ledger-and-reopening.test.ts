import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

const idsOf = (run: { events: readonly Record<string, unknown>[] }, type: string, member = "messageId") =>
  run.events.filter((event) => event.type === type).map((event) => event[member]);

describe("before an interrupt", () => {
  it("closes what is open, innermost first, and nothing follows it", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hi" });
      await context.emit({ type: "STEP_STARTED", stepName: "outer" });
      await context.emit({ type: "STEP_STARTED", stepName: "inner" });
      await context.emit({ type: "REASONING_START", messageId: "r" });
      await context.emit({ type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" });
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" });
      await context.input("A?");
    });
    const run = await agent.run("go");
    expect(typesOf(run).slice(9)).toEqual([
      "TOOL_CALL_END",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "STEP_FINISHED",
      "STEP_FINISHED",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(idsOf(run, "STEP_FINISHED", "stepName")).toEqual(["inner", "outer"]);
  });
});

describe("before the end of a run", () => {
  it.each(["returns", "is stopped"] as const)("closes what its function left open when it %s", async (how) => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "STEP_STARTED", stepName: "s" });
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      if (how === "is stopped") context.stop();
    });
    const run = await agent.run("go");
    expect(typesOf(run).slice(4)).toEqual(["TOOL_CALL_END", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"]);
    expect(run.outcome).toEqual(
      how === "returns" ? { type: "success", pendingToolCallIds: ["c"] } : { type: "cancelled" },
    );
  });

  it("leaves it open when it throws: RUN_ERROR ends whatever is open", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      throw new Error("x");
    });
    expect(typesOf(await agent.run("go"))).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "RUN_ERROR"]);
  });

  it("names the calls without a result, in call order, and only of this run", async () => {
    const agent = agentUnderTest(async (context) => {
      for (const toolCallId of ["a", "b", "c"]) {
        await context.emit({ type: "TOOL_CALL_START", toolCallId, toolCallName: "t" });
        await context.emit({ type: "TOOL_CALL_END", toolCallId });
      }
      await context.emit({ type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "b", content: "done" });
      if (context.userText === "ask") await context.input("A?");
    });
    expect((await agent.run("go")).outcome).toEqual({ type: "success", pendingToolCallIds: ["a", "c"] });
    const answered = await agent.answer(soleInterrupt(await agent.run("ask")), "x");
    expect(answered.outcome).toEqual({ type: "success" });
  });
});

describe("after a resume", () => {
  it("starts steps and subagents that were open again, outermost first, before the run's next event", async () => {
    const agent = agentUnderTest(async (context) =>
      context.step("outer", () =>
        context.subagent({ name: "helper", description: "helps" }, (helper) =>
          helper.step("inner", async () => {
            const answer = await helper.input("A?");
            await helper.custom("acme:x", 1);
            return answer;
          }),
        ),
      ),
    );
    const asked = await agent.run("go");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "SUBAGENT_STARTED",
      "STEP_STARTED",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    const interrupt = soleInterrupt(asked);
    expect(asked.events[5]).toMatchObject({ outcome: { type: "suspended", interruptIds: [interrupt.id] } });
    expect(interrupt.subagentRunId).toBe(asked.events[2]?.subagentRunId);
    const answered = await agent.answer(interrupt, "a");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "SUBAGENT_STARTED",
      "STEP_STARTED",
      "CUSTOM",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(answered.events.slice(1, 4)).toEqual(asked.events.slice(1, 4));
    expect(answered.result).toBe("a");
  });

  it("does not start a step again that a run neither uses nor ends: it stays for the next", async () => {
    const agent = agentUnderTest(async (context) =>
      context.step("s", async () => {
        await context.input("A?");
        await context.input("B?");
        await context.text("now");
      }),
    );
    const second = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(typesOf(second)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(typesOf(await agent.answer(soleInterrupt(second), "b"))).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
  });

  it("opens messages and reasoning again, under their id, when they are next appended to", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m", role: "developer", name: "dev" });
      await context.emit({ type: "REASONING_START", messageId: "r" });
      await context.emit({ type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" });
      await context.input("A?");
      await context.emit({ type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "thought" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "said" });
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(
      answered.events.slice(1, -1).map(({ type, messageId, role, name }) => [type, messageId, role, name]),
    ).toEqual([
      ["REASONING_START", "r", undefined, undefined],
      ["REASONING_MESSAGE_START", "r", "reasoning", undefined],
      ["REASONING_MESSAGE_CONTENT", "r", undefined, undefined],
      ["TEXT_MESSAGE_START", "m", "developer", "dev"],
      ["TEXT_MESSAGE_CONTENT", "m", undefined, undefined],
      ["TEXT_MESSAGE_END", "m", undefined, undefined],
      ["REASONING_MESSAGE_END", "r", undefined, undefined],
      ["REASONING_END", "r", undefined, undefined],
    ]);
  });

  it("goes on with the context's open message under its id", async () => {
    const agent = agentUnderTest(async (context) => {
      const before = await context.text("Half a ");
      await context.input("A?");
      const after = await context.text("sentence.");
      return before === after;
    });
    const asked = await agent.run("go");
    const answered = await agent.answer(soleInterrupt(asked), "a");
    expect(answered.result).toBe(true);
    expect(idsOf(answered, "TEXT_MESSAGE_START")).toEqual(idsOf(asked, "TEXT_MESSAGE_START"));
    expect(answered.text).toBe("sentence.");
  });

  it("sends nothing for an END of what the interrupt closed and nobody used since", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      await context.emit({ type: "REASONING_START", messageId: "r" });
      await context.emit({ type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" });
      await context.input("A?");
      await context.emit({ type: "REASONING_MESSAGE_END", messageId: "r" });
      await context.emit({ type: "REASONING_END", messageId: "r" });
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
      await context.emit({ type: "TOOL_CALL_END", toolCallId: "c" });
      const again = context.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
      return again.catch((error) => error.code);
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(answered.result).toBe("EVENT_REFUSED");
  });

  it("never starts a tool call again: further ARGS are refused, its result has its original id", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"a":' });
      await context.input("A?");
      await context
        .emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "1}" })
        .catch((error) => seen.push(error.code));
      await context
        .emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" })
        .catch((error) => seen.push(error.code));
      await context.emit({ type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: "done" });
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(seen).toEqual(["EVENT_REFUSED", "EVENT_REFUSED"]);
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(answered.events[1]).toMatchObject({ toolCallId: "c", content: "done" });
  });

  it("begins the next ledger the moment the previous run ends: kept events are whole by themselves", async () => {
    const agent = agentUnderTest(async (context) => {
      const asked = context.step("s", async () => {
        await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
        return context.input("A?");
      });
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "kept" });
      return asked;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(0);
    expect(typesOf(await agent.answer(interrupt, "a"))).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "STEP_FINISHED",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it("of a turn that is given up closes what it started again, too", async () => {
    const agent = agentUnderTest(async (context) =>
      context.step("s", async () => {
        await context.input("A?").catch(() => {});
        await context.text("Pity.");
      }),
    );
    const run = await agent.resume([giveUp(soleInterrupt(await agent.run("go")))]);
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(endOf(run)).toBe("cancelled");
  });

  it("says for each suspended subagent which interrupts are its own, and none for its ancestors", async () => {
    const agent = agentUnderTest(async (context: AgentContext) =>
      context.subagent({ name: "outer" }, (outer) =>
        Promise.all([
          outer.subagent({ name: "one" }, (one) => one.input("One?")),
          outer.subagent({ name: "two" }, (two) => two.input("Two?")),
        ]),
      ),
    );
    const asked = await agent.run("go");
    const [one, two] = twoInterrupts(asked);
    const ends = asked.events.filter(({ type }) => type === "SUBAGENT_FINISHED");
    expect(ends.map(({ outcome }) => outcome.interruptIds ?? [])).toEqual([[two.id], [one.id], []]);
    expect((await agent.resume([answerTo(two, "2"), answerTo(one, "1")])).result).toEqual(["1", "2"]);
  });
});
