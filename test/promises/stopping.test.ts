import { describe, expect, it } from "vitest";
import { type AgentContext, TurnReleasedError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("stop, of a running turn", () => {
  it("ends its run as cancelled once it has unwound; what is emitted meanwhile still goes out", async () => {
    const seen: unknown[] = [];
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "next") return "next";
      await context.text("Working");
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      seen.push(context.signal.reason);
      await context.text(" no more");
      await context.input("A?").catch((error) => seen.push(error));
      await unwinding.promise;
      return "ignored";
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const stopped = agent.handler.stop("thread-1");
    await agent.clock.advance(0);
    const waits = agent.run("next");
    expect([await isSettled(running), await isSettled(stopped), await isSettled(waits)]).toEqual([false, false, false]);
    unwinding.resolve();
    expect(await stopped).toBe(true);
    const run = await running;
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect([run.outcome, run.result, run.text]).toEqual([{ type: "cancelled" }, undefined, "Working no more"]);
    expect(seen).toEqual([expect.any(TurnReleasedError), expect.any(TurnReleasedError)]);
    expect((await waits).result).toBe("next");
    expect(agent.handler.stats()).toMatchObject({ finished: 2, failed: 0 });
  });

  it("closes whatever is open, innermost first", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.step("plan", () =>
        context.toolCall("work", {}, async (_args, tool) => {
          await tool.text("Half a sen");
          await new Promise<void>((resolve) => tool.signal.addEventListener("abort", () => resolve()));
          throw new Error("stopped in the middle");
        }),
      );
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    await agent.handler.stop("thread-1");
    const run = await running;
    expect(typesOf(run).slice(-5)).toEqual([
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_RESULT",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(endOf(run)).toBe("cancelled");
  });

  it("is cancelled also when the agent throws because of it, and that is no failure to report", async () => {
    const agent = agentUnderTest(async (context) => {
      await new Promise<void>((_resolve, reject) =>
        context.signal.addEventListener("abort", () => reject(context.signal.reason)),
      );
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    await agent.handler.stop("thread-1");
    expect(endOf(await running)).toBe("cancelled");
    expect(agent.errors).toEqual([]);
    expect(agent.handler.stats()).toMatchObject({ finished: 1, failed: 0 });
  });

  it("reaches an agent that looks at its signal only afterwards", async () => {
    const gate = defer();
    let context: AgentContext | undefined;
    const agent = agentUnderTest(async (given) => {
      context = given;
      await gate.promise;
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const stopped = agent.handler.stop("thread-1");
    expect(context?.signal.aborted).toBe(true);
    gate.resolve();
    await Promise.all([stopped, running]);
  });

  it("gives up on an agent that ignores it after closeTimeoutMs, and names the thread", async () => {
    const late = defer();
    let context: AgentContext | undefined;
    const agent = agentUnderTest({
      closeTimeoutMs: 2_000,
      agent: async (given) => {
        if (given.userText === "next") return "next";
        context = given;
        await late.promise;
        return "too late";
      },
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const stopped = agent.handler.stop("thread-1");
    await agent.clock.advance(1_999);
    expect(await isSettled(stopped)).toBe(false);
    expect(agent.warnings).toEqual([]);
    await agent.clock.advance(1);
    expect([await stopped, endOf(await running)]).toEqual([true, "cancelled"]);
    expect(agent.warnings).toEqual([
      { code: "TURN_NOT_UNWOUND", message: expect.stringContaining('"thread-1"'), threadId: "thread-1" },
    ]);
    await expect(context?.text("nothing follows the end")).rejects.toMatchObject({ code: "TURN_ENDED" });
    expect((await agent.run("next")).result).toBe("next");
    late.resolve();
    await agent.clock.advance(60_000);
    expect(agent.handler.stats()).toMatchObject({ finished: 2, running: 0 });
  });

  it("does not wait longer when it is called again", async () => {
    const agent = agentUnderTest({ closeTimeoutMs: 2_000, agent: () => new Promise(() => {}) });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const first = agent.handler.stop("thread-1");
    await agent.clock.advance(1_500);
    const second = agent.handler.stop("thread-1");
    await agent.clock.advance(500);
    expect([await first, await second, endOf(await running)]).toEqual([true, true, "cancelled"]);
    expect(agent.warnings).toHaveLength(1);
  });

  it("between the ask and the outcome releases the question: it never goes out", async () => {
    const agent = agentUnderTest(async (context) => {
      const asked = context.input("A?");
      void agent.handler.stop("thread-1");
      await asked;
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(endOf(run)).toBe("cancelled");
    expect(agent.handler.stats().held).toBe(0);
  });
});

describe("stop, of a held turn", () => {
  it("releases it: its questions reject, its answers are refused, its thread is busy until it has unwound", async () => {
    const seen: unknown[] = [];
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "next") return "next";
      await context.input("A?").catch((error) => seen.push(error));
      await context.text("to nobody").then(() => seen.push("accepted"));
      await unwinding.promise;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const stopped = agent.handler.stop("thread-1");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 1 });
    const next = agent.run("next");
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (stopped)");
    expect(await isSettled(next)).toBe(false);
    unwinding.resolve();
    expect(await stopped).toBe(true);
    expect((await next).result).toBe("next");
    expect(seen).toEqual([expect.any(TurnReleasedError), "accepted"]);
  });

  it("knows whether there was one", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?"));
    const { stop } = agent.handler;
    expect(await stop("thread-1")).toBe(false);
    await agent.run("go");
    expect(await stop("thread-2")).toBe(false);
    expect(await stop("thread-1", { identity: "anna" })).toBe(false);
    expect(await stop("thread-1")).toBe(true);
    expect(await stop("thread-1")).toBe(false);
  });
});

describe("context.stop", () => {
  it("ends the turn as cancelled, from wherever it is called", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await context.text("Budget spent.");
      await context.toolCall("look", {}, (_args, tool) => tool.stop());
      seen.push(context.signal.aborted, context.signal.reason.code);
      await context.input("A?").catch((error) => seen.push(error.code));
      return "not a result";
    });
    const run = await agent.run("go");
    expect([run.outcome, run.result, run.text]).toEqual([{ type: "cancelled" }, undefined, "Budget spent."]);
    expect(seen).toEqual([true, "TURN_RELEASED", "TURN_RELEASED"]);
  });

  it("works while the turn is held", async () => {
    const gate = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      void gate.promise.then(() => context.stop());
      await context.input("A?").catch((error) => seen.push(error.code));
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    gate.resolve();
    await agent.clock.advance(0);
    expect(seen).toEqual(["TURN_RELEASED"]);
    expect(endOf(await agent.resume([answerTo(interrupt, "late")]))).toBe("INTERRUPT_NOT_HELD (stopped)");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("after the end does nothing", async () => {
    let context: AgentContext | undefined;
    const agent = agentUnderTest(async (given) => {
      context = given;
      return 1;
    });
    await agent.run("go");
    context?.stop();
    expect(context?.signal.aborted).toBe(false);
    expect((await agent.run("go")).result).toBe(1);
  });
});
