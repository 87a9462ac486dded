import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, giveUp, soleInterrupt, typesOf } from "../support/runs.ts";

const custom = (context: AgentContext, value: unknown) => context.custom("acme:kept", value);
const valuesOf = (run: { events: readonly { type: string; value?: unknown }[] }) =>
  run.events.filter(({ type }) => type === "CUSTOM").map(({ value }) => value);

/** An agent that asks, and works on meanwhile once `paused` is settled. */
function paused(work: (context: AgentContext, log: unknown[]) => Promise<unknown>, limits = {}) {
  const log: unknown[] = [];
  const gate = defer();
  const agent = agentUnderTest({
    limits,
    agent: async (context) => {
      const asked = context.input("A?").then(
        (answer) => log.push(`answer ${answer}`),
        (error) => log.push(error.code),
      );
      await gate.promise;
      await work(context, log);
      await asked;
    },
  });
  const go = async () => {
    gate.resolve();
    await agent.clock.advance(0);
  };
  return { agent, log, go };
}

describe("what a turn emits while it is paused", () => {
  it("is kept, in order, and sent first on resume, before the answer is delivered", async () => {
    const { agent, log, go } = paused(async (context) => {
      for (let i = 0; i < 5; i++) await custom(context, i);
      await context.text("Meanwhile");
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    const run = await agent.answer(interrupt, "a");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      ...Array(5).fill("CUSTOM"),
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(valuesOf(run)).toEqual([0, 1, 2, 3, 4]);
    expect(log).toEqual(["answer a"]);
  });

  it("comes ahead of what the answer leads to, and that ahead of emits that waited for room", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      limits: { keptEvents: 2 },
      agent: async (context) => {
        await Promise.all([
          context.input("A?").then(() => custom(context, "from the answer")),
          gate.promise.then(async () => {
            await custom(context, 1);
            await custom(context, 2);
            await custom(context, "after the wait");
          }),
        ]);
      },
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    gate.resolve();
    await agent.clock.advance(0);
    expect(valuesOf(await agent.answer(interrupt, "a"))).toEqual([1, 2, "from the answer", "after the wait"]);
  });

  it("waits at keptEvents: the emit that fills the room resolves when there is a run again", async () => {
    const { agent, log, go } = paused(
      async (context, log) => {
        for (let i = 1; i <= 5; i++) {
          await custom(context, i);
          log.push(i);
        }
      },
      { keptEvents: 3 },
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    expect(log).toEqual([1, 2]);
    const run = await agent.answer(interrupt, "a");
    expect(valuesOf(run)).toEqual([1, 2, 3, 4, 5]);
    expect(log).toEqual([1, 2, "answer a", 3, 4, 5]);
  });

  it("waits at 1 MiB", async () => {
    const { agent, log, go } = paused(async (context, log) => {
      for (let i = 1; i <= 20; i++) {
        await custom(context, "x".repeat(100_000));
        log.push(i);
      }
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    expect(log).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
    expect(valuesOf(await agent.answer(interrupt, "a"))).toHaveLength(20);
  });

  it("is not sent to an owner who is asked again, but with the answer", async () => {
    const { agent, go } = paused((context) => custom(context, "kept"));
    const anna = { identity: "anna" };
    await agent.run("go", anna);
    await go();
    const again = await agent.run("hello?", anna);
    expect(typesOf(again)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(valuesOf(await agent.answer(soleInterrupt(again), "a"))).toEqual(["kept"]);
  });

  it("is not lost to a refused resume", async () => {
    const { agent, go } = paused((context) => custom(context, "kept"));
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    const bad = await agent.answer(interrupt, 5);
    expect(typesOf(bad)).toEqual(["RUN_ERROR"]);
    expect(valuesOf(await agent.answer(interrupt, "a"))).toEqual(["kept"]);
  });

  it.each(["expired", "evicted", "stopped"] as const)(
    "wakes its writer when the turn is %s instead, and that is told",
    async (how) => {
      const log: unknown[] = [];
      const agent = agentUnderTest({
        limits: { keptEvents: 1 },
        retention: { maxHeld: 1, ttlMs: 1_000 },
        agent: async (context) => {
          if (context.threadId !== "thread-1") return context.input("Other?");
          void context.input("A?").catch((error) => log.push(error.code));
          await new Promise((resolve) => setImmediate(resolve));
          await custom(context, 1).then(
            () => log.push("accepted"),
            (error) => log.push(`emit ${error.code}`),
          );
        },
      });
      await agent.run("go");
      await agent.clock.advance(0);
      expect(log).toEqual([]);
      if (how === "expired") await agent.clock.advance(1_000);
      if (how === "evicted") await agent.run({ threadId: "another" });
      if (how === "stopped") await agent.handler.stop("thread-1");
      await agent.clock.advance(0);
      expect(log).toEqual(
        {
          expired: ["INPUT_TIMEOUT", "emit INPUT_TIMEOUT"],
          evicted: ["TURN_RELEASED", "emit TURN_RELEASED"],
          stopped: ["TURN_RELEASED", "accepted"],
        }[how],
      );
      expect(agent.handler.stats().running).toBe(0);
    },
  );

  it("wakes its writer when the question goes unheard", async () => {
    const log: unknown[] = [];
    const agent = agentUnderTest({
      limits: { keptEvents: 1 },
      agent: async (context) => {
        void context.input("A?", { timeoutMs: 1_000 }).catch((error) => log.push(error.code));
        await new Promise((resolve) => setImmediate(resolve));
        await custom(context, 1).then(() => log.push("resolved"));
        await custom(context, 2).then(() => log.push("dropped"));
      },
    });
    await agent.run("go");
    await agent.clock.advance(1_000);
    expect(log).toEqual(["INPUT_TIMEOUT", "resolved", "dropped"]);
  });

  it("goes out with a resume that gives up, too", async () => {
    const { agent, log, go } = paused((context) => custom(context, "kept"));
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    const run = await agent.resume([giveUp(interrupt)]);
    expect(valuesOf(run)).toEqual(["kept"]);
    expect(log).toEqual(["INTERRUPT_CANCELLED"]);
  });

  it("is checked like what goes out at once", async () => {
    const log: unknown[] = [];
    const { agent, go } = paused(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "unknown" }).catch((error) => log.push(error.code));
      await context.emit({ type: "NOPE" } as never).catch((error) => log.push(error.code));
      await custom(context, "fine");
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await go();
    expect(log).toEqual(["EVENT_REFUSED", "EVENT_REFUSED"]);
    expect(valuesOf(await agent.answer(interrupt, "a"))).toEqual(["fine"]);
  });

  it("asks again when a sibling's question waits: both runs are whole", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context) => {
      await Promise.all([
        context.input("A?"),
        gate.promise.then(async () => {
          await context.text("Before B");
          await context.input("B?");
          await context.text("After B");
        }),
      ]);
    });
    const a = soleInterrupt(await agent.run("go"));
    gate.resolve();
    await agent.clock.advance(0);
    const second = await agent.answer(a, "a");
    expect([second.text, endOf(second)]).toEqual(["Before B", "interrupt"]);
    expect((await agent.answer(soleInterrupt(second), "b")).text).toBe("After B");
  });
});

describe("at the end of a run", () => {
  it("every emit that waits for room resolves: no sibling depends on a reader that stopped at the question", async () => {
    const log: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const writing = (async () => {
        for (let i = 0; i < 50; i++) await context.text("x".repeat(4_096));
        log.push("written");
      })();
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([writing, context.input("A?").then((answer) => log.push(answer))]);
    });
    const open = await openExchange(agent.handler.handle);
    await agent.clock.advance(0);
    // Nobody has read a byte, and yet the writer is done.
    expect(log).toEqual(["written"]);
    expect(agent.handler.stats().held).toBe(1);
    const asked = await open.rest();
    const answered = await agent.resume([answerTo(soleInterrupt(asked), "a")], { threadId: "thread-1" });
    expect(asked.text.length + answered.text.length).toBe(50 * 4_096);
    expect(log).toEqual(["written", "a"]);
  });
});
