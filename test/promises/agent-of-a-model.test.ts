import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { Agent, AgentContext, ToolContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { nextTurn } from "../support/promises.ts";
import { endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

/** Shows a call as a model would that streams its arguments. */
async function stream(context: AgentContext, toolCallId: string, pieces: string[]): Promise<void> {
  await context.emit({ type: "TOOL_CALL_START", toolCallId, toolCallName: "book" });
  for (const delta of pieces) await context.emit({ type: "TOOL_CALL_ARGS", toolCallId, delta });
  await context.emit({ type: "TOOL_CALL_END", toolCallId });
}

describe("a call that a model has shown already", () => {
  it("is not shown again, and answered once under its own id", async () => {
    const agent = agentUnderTest(async (context) => {
      await stream(context, "call_7", ['{"flight"', ':"LH441"}']);
      await context.toolCall("book", { flight: "LH441" }, ({ flight }) => `${flight} booked`, {
        toolCallId: "call_7",
        shown: true,
      });
    });
    const run = await agent.run("book");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(run.events[5]).toMatchObject({ toolCallId: "call_7", content: "LH441 booked" });
  });

  it("asks under its id, and tells with the result what it ran with when that was edited", async () => {
    const ran: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await stream(context, "call_7", ['{"flight":"LH441"}']);
      const run = ({ flight }: { flight: string }, tool: ToolContext) => {
        ran.push(tool.toolCallId, flight);
        return "booked";
      };
      await context.toolCall("book", { flight: "LH441" }, run, {
        toolCallId: "call_7",
        shown: true,
        approval: { allowEdits: true },
      });
    });
    const interrupt = soleInterrupt(await agent.run("book"));
    expect(interrupt.toolCallId).toBe("call_7");
    const done = await agent.answer(interrupt, { approved: true, editedArgs: { flight: "LH442" } });
    expect(ran).toEqual(["call_7", "LH442"]);
    expect(done.events[1]).toMatchObject({
      type: "TOOL_CALL_RESULT",
      content: "booked",
      metadata: { holdline: { editedArgs: { flight: "LH442" } } },
    });
    const plain = await agent.answer(soleInterrupt(await agent.run("book")), true);
    expect(plain.events[1]).not.toHaveProperty("metadata");
  });
});

describe("whether anybody may still hear a turn", () => {
  /** Asks two things, the first for a second only, and notes who was there to hear before, between and after. */
  function listening(second: boolean): { agent: Agent; heard: boolean[] } {
    const heard: boolean[] = [];
    const note = (context: AgentContext) => heard.push(context.heard);
    return {
      heard,
      agent: async (context) => {
        note(context);
        const first = context.input("First?", { timeoutMs: 1_000 }).catch(() => note(context));
        await Promise.all(second ? [first, context.input("Second?")] : [first]);
        note(context);
      },
    };
  }

  it("is no longer true once the last question died of its own deadline", async () => {
    const { agent, heard } = listening(false);
    const tested = agentUnderTest(agent);
    await tested.run("go");
    await tested.clock.advance(1_000);
    expect(heard).toEqual([true, false, false]);
  });

  it("stays true while another question is open, and once it is answered", async () => {
    const { agent, heard } = listening(true);
    const tested = agentUnderTest(agent);
    const [, second] = twoInterrupts(await tested.run("go"));
    await tested.clock.advance(1_000);
    await tested.answer(second, "yes");
    expect(heard).toEqual([true, true, true]);
  });

  it("is no longer true once the question was abandoned, the turn stopped, or its result decided", async () => {
    const { agent, heard } = listening(false);
    const tested = agentUnderTest(agent);
    await tested.resume([giveUp(soleInterrupt(await tested.run("go")))]);
    expect(heard).toEqual([true, false, false]);

    const after: boolean[] = [];
    await agentUnderTest(async (context) => {
      context.stop();
      after.push(context.heard);
    }).run("go");
    await agentUnderTest(async (context) => {
      context.inputRequired("Which one?");
      after.push(context.heard);
    }).run("go");
    expect(after).toEqual([false, false]);
  });
});

describe("what an agent tells its server", () => {
  it("goes to onWarning and onError with the run it happened in, and ends nothing", async () => {
    const failure = new Error("the mail server is down");
    const agent = agentUnderTest(async ({ warn, report, text }) => {
      warn("ACME_SKIPPED", "A picture was skipped.");
      report(failure);
      await text("done");
    });
    const run = await agent.run({ threadId: "t", runId: "r", messages: [] });
    expect(run.text).toBe("done");
    expect(agent.warnings).toEqual([
      { code: "ACME_SKIPPED", message: "A picture was skipped.", threadId: "t", runId: "r" },
    ]);
    expect(agent.errors).toEqual([{ error: failure, threadId: "t", runId: "r" }]);
  });
});

describe("an agent that keeps its questions itself", () => {
  const question: Interrupt = { id: "inner-1", reason: "confirmation", message: "Sure?", metadata: { node: "n7" } };
  const resumes: unknown[] = [];
  const keeper: Agent = Object.assign(
    async (context: AgentContext) => {
      resumes.push(context.run.resume);
      if (context.run.resume === undefined) {
        await context.text("One question.");
        return context.interrupted([question]);
      }
      await context.text("Thanks.");
    },
    { keepsInterrupts: true },
  );

  it("ends its run with them as they are, and gets the answers as they were sent", async () => {
    resumes.length = 0;
    const agent = agentUnderTest(keeper);
    const asked = await agent.run("go");
    expect(asked.interrupts).toEqual([question]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, finished: 1 });
    const resume = [{ interruptId: "inner-1", status: "resolved" as const, payload: { yes: true } }];
    const answered = await agent.run({ resume });
    expect(answered.text).toBe("Thanks.");
    expect(resumes).toEqual([undefined, resume]);
  });

  it("is given an answer only once the run before has ended", async () => {
    const order: string[] = [];
    const agent = agentUnderTest(
      Object.assign(
        async (context: AgentContext) => {
          order.push(`in ${context.runId}`);
          await nextTurn();
          order.push(`out ${context.runId}`);
        },
        { keepsInterrupts: true },
      ),
    );
    const resume = [{ interruptId: "inner-1", status: "cancelled" as const }];
    await Promise.all([agent.run({ runId: "a", messages: [] }), agent.run({ runId: "b", resume })]);
    expect(order).toEqual(["in a", "out a", "in b", "out b"]);
  });

  it("must say so: otherwise neither its interrupts nor its answers pass", async () => {
    const agent = agentUnderTest(async (context) => context.interrupted([question]));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors[0]?.error).toBeInstanceOf(TypeError);
    const resume = [{ interruptId: "inner-1", status: "resolved" as const }];
    expect(endOf(await agent.run({ resume }))).toBe("INTERRUPT_NOT_HELD (unknown)");
  });
});
