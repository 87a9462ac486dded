import { describe, expect, it } from "vitest";
import { InterruptCancelledError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

describe("a resume that gives every open interrupt up", () => {
  it("ends the turn: asks and signal tell InterruptCancelledError, what is emitted still goes out", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      context.signal.addEventListener("abort", () => seen.push("abort", context.signal.reason));
      await Promise.allSettled([context.input("A?"), context.input("B?")]).then((all) => seen.push(...all));
      await context.text("As you wish.");
      await context.input("C?").catch((error) => seen.push(error.code));
      return "no result";
    });
    const [a, b] = twoInterrupts(await agent.run("go"));
    const run = await agent.resume([giveUp(b), giveUp(a)]);
    expect([run.outcome, run.result, run.text]).toEqual([{ type: "cancelled" }, undefined, "As you wish."]);
    const reason = seen[1];
    expect(reason).toBeInstanceOf(InterruptCancelledError);
    expect(seen).toEqual([
      "abort",
      reason,
      { status: "rejected", reason: expect.any(InterruptCancelledError) },
      { status: "rejected", reason: expect.any(InterruptCancelledError) },
      "INTERRUPT_CANCELLED",
    ]);
    expect(agent.errors).toEqual([]);
    expect(agent.handler.stats()).toMatchObject({ abandoned: 2, finished: 1, failed: 0, held: 0 });
  });

  it("does not hand its payload over, nor looks at it", async () => {
    let validated = 0;
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const schema = {
        "~standard": {
          version: 1 as const,
          vendor: "test",
          validate: (value: unknown) => {
            validated++;
            return { value };
          },
        },
      };
      await context.input("A?", { schema, jsonSchema: {} }).then(
        (answer) => seen.push(answer),
        (error) => seen.push(error.code),
      );
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.resume([{ ...giveUp(interrupt), payload: { approved: true } }]);
    expect(seen).toEqual(["INTERRUPT_CANCELLED"]);
    expect(validated).toBe(0);
  });

  it("ends as cancelled also when the agent throws the question's error, or another", async () => {
    for (const thrown of ["own", "another"]) {
      const agent = agentUnderTest(async (context) => {
        await context.input("A?").catch((error) => {
          throw thrown === "own" ? error : new Error("cleanup failed");
        });
      });
      expect(endOf(await agent.abandon(soleInterrupt(await agent.run("go"))))).toBe("cancelled");
      expect(agent.errors).toHaveLength(thrown === "own" ? 0 : 1);
    }
  });

  it("keeps the run open, and the thread busy, until the agent has unwound", async () => {
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "next") return "next";
      await context.input("A?").catch(() => unwinding.promise);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const abandoning = agent.abandon(interrupt, { messages: [] });
    await agent.clock.advance(0);
    const next = agent.run("next");
    expect([await isSettled(abandoning), await isSettled(next)]).toEqual([false, false]);
    unwinding.resolve();
    expect(endOf(await abandoning)).toBe("cancelled");
    expect((await next).result).toBe("next");
  });

  it("ends at the latest after closeTimeoutMs, with a warning that names the thread", async () => {
    const agent = agentUnderTest({
      closeTimeoutMs: 5_000,
      agent: async (context) => {
        await context.input("A?").catch(() => new Promise(() => {}));
      },
    });
    const interrupt = soleInterrupt(await agent.run({ threadId: "stuck" }));
    const abandoning = agent.abandon(interrupt);
    await agent.clock.advance(4_999);
    expect(await isSettled(abandoning)).toBe(false);
    await agent.clock.advance(1);
    expect(endOf(await abandoning)).toBe("cancelled");
    expect(agent.warnings).toEqual([
      { code: "TURN_NOT_UNWOUND", message: expect.stringContaining('"stuck"'), threadId: "stuck" },
    ]);
  });

  it("counts only what is still open: one that timed out before need not be given up", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.allSettled([context.input("A?"), context.input("B?", { timeoutMs: 1_000 })]),
    );
    const [a] = twoInterrupts(await agent.run("go"));
    await agent.clock.advance(1_000);
    expect(endOf(await agent.resume([giveUp(a)]))).toBe("cancelled");
  });

  it("also shows what was kept while the turn was paused", async () => {
    const paused = defer();
    const agent = agentUnderTest(async (context) => {
      const asked = context.input("A?");
      await paused.promise;
      await context.text("Kept");
      await asked;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    paused.resolve();
    await agent.clock.advance(0);
    const run = await agent.abandon(interrupt);
    expect([run.text, run.outcome?.type]).toEqual(["Kept", "cancelled"]);
  });

  it("whose client leaves while the agent unwinds releases the thread", async () => {
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "next") return "next";
      await context.input("A?").catch(() => unwinding.promise);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const abandoning = await openExchange(agent.handler.handle, { resume: [giveUp(interrupt)] });
    await abandoning.read(1);
    const next = agent.run("next");
    expect(await isSettled(next)).toBe(false);
    await abandoning.leave();
    expect((await next).result).toBe("next");
    expect(agent.handler.stats()).toMatchObject({ running: 1, finished: 1 });
    unwinding.resolve();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ running: 0, finished: 2 });
  });
});

describe("a mixed resume", () => {
  it("goes on, and an uncaught abandoned question then ends it as cancelled, once calls that run have settled", async () => {
    const working = defer();
    const agent = agentUnderTest(async (context) => {
      const work = context.toolCall("work", {}, async (_args, tool) => {
        await tool.input("B?");
        await working.promise;
        await tool.text("Worked on.");
        return "done";
      });
      void work;
      await context.input("A?");
    });
    const { interrupts } = await agent.run("go");
    const b = interrupts.find(({ message }) => message === "B?") ?? interrupts[0];
    const a = interrupts.find(({ message }) => message === "A?") ?? interrupts[0];
    const running = agent.resume([giveUp(a as never), answerTo(b as never, "b")]);
    expect(await isSettled(running)).toBe(false);
    working.resolve();
    const run = await running;
    expect(endOf(run)).toBe("cancelled");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(run.events.at(-2)).toMatchObject({ content: "done" });
    expect(agent.errors).toEqual([]);
  });

  it("whose abandoned question ends it does not wait for such calls for ever, nor lets them ask", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      closeTimeoutMs: 1_000,
      agent: async (context) => {
        void context.toolCall("work", {}, async (_args, tool) => {
          await tool.input("B?");
          await Promise.resolve();
          await Promise.resolve();
          await new Promise((resolve) => setImmediate(resolve));
          await tool.input("C?").catch((error) => seen.push(error.code));
          await new Promise(() => {});
        });
        await context.input("A?");
      },
    });
    const { interrupts } = await agent.run("go");
    const [b, a] = interrupts;
    const running = agent.resume([giveUp(a as never), answerTo(b as never, "b")]);
    await agent.clock.advance(999);
    expect(await isSettled(running)).toBe(false);
    expect(seen).toEqual(["TURN_RELEASED"]);
    await agent.clock.advance(1);
    expect(endOf(await running)).toBe("cancelled");
  });

  it("whose agent catches what was given up ends as it says", async () => {
    const agent = agentUnderTest(async (context) => {
      const [a, b] = await Promise.allSettled([context.input("A?"), context.input("B?")]);
      return [a.status, b.status, context.signal.aborted];
    });
    const [a, b] = twoInterrupts(await agent.run("go"));
    const run = await agent.resume([answerTo(a, "a"), giveUp(b)]);
    expect(run.result).toEqual(["fulfilled", "rejected", false]);
    expect(agent.handler.stats()).toMatchObject({ answered: 1, abandoned: 1 });
  });
});
