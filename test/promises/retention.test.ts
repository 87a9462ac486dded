import { describe, expect, it, vi } from "vitest";
import { type AgentContext, createHandler, InputTimeoutError } from "../../src/index.ts";
import { createTestClock } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { createLateClock } from "../support/late-clock.ts";
import { exchange } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, twoInterrupts } from "../support/runs.ts";

/** An agent that tells what its question and its signal came to. */
function telling() {
  const seen: unknown[] = [];
  const agent = async (context: AgentContext) => {
    context.signal.addEventListener("abort", () => seen.push("abort", context.signal.reason));
    const gate = context.input("A?").catch((error) => {
      seen.push(error);
      throw error;
    });
    return gate.finally(() => seen.push("finally"));
  };
  return { agent, seen };
}

describe("a held turn whose time is up", () => {
  it("is released by a timer, without traffic: asks and signal tell InputTimeoutError, the thread is free at once", async () => {
    const { agent: told, seen } = telling();
    const agent = agentUnderTest({ agent: told, retention: { ttlMs: 1_000 } });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.expiresAt).toBe("2100-01-01T00:00:01.000Z");
    await agent.clock.advance(999);
    expect(agent.handler.stats()).toMatchObject({ held: 1, expired: 0 });
    expect(seen).toEqual([]);
    await agent.clock.advance(1);
    expect(seen).toEqual(["abort", expect.any(InputTimeoutError), expect.any(InputTimeoutError), "finally"]);
    expect(seen[1]).toBe(seen[2]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, expired: 1 });
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(endOf(await agent.run("a new turn"))).toBe("interrupt");
  });

  it("waits as long as the retention says from the interrupt on, whatever is sent meanwhile", async () => {
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs: 1_000 } });
    await agent.run("go");
    for (let i = 0; i < 9; i++) {
      await agent.clock.advance(100);
      await agent.run("plain");
    }
    await agent.clock.advance(99);
    expect(agent.handler.stats().held).toBe(1);
    await agent.clock.advance(1);
    expect(agent.handler.stats().held).toBe(0);
  });

  it("counts from the interrupt, not from the run's beginning", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      retention: { ttlMs: 1_000 },
      agent: async (context) => {
        await gate.promise;
        await context.input("A?");
      },
    });
    const running = agent.run("go");
    await agent.clock.advance(700);
    gate.resolve();
    expect(soleInterrupt(await running).expiresAt).toBe("2100-01-01T00:00:01.700Z");
  });

  it("rejects what it emits afterwards and what has not gone out yet", async () => {
    const paused = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      retention: { ttlMs: 1_000 },
      agent: async (context) => {
        const first = context.input("A?").catch((error) => seen.push(error.code));
        await paused.promise;
        const waiting = context.input("B?").catch((error) => seen.push(`waiting ${error.code}`));
        await Promise.all([first, waiting]);
        await context.text("Late").catch((error) => seen.push(`text ${error.code}`));
        await context.input("C?").catch((error) => seen.push(`ask ${error.code}`));
      },
    });
    await agent.run("go");
    paused.resolve();
    await agent.clock.advance(1_000);
    expect(seen).toEqual(["INPUT_TIMEOUT", "waiting TURN_RELEASED", "text INPUT_TIMEOUT", "ask INPUT_TIMEOUT"]);
  });

  it("is over on arrival too, when its timer has not fired yet (P79)", async () => {
    const clock = createLateClock();
    const { agent: told, seen } = telling();
    const agent = agentUnderTest({ agent: told, retention: { ttlMs: 1_000 }, clock });
    const interrupt = soleInterrupt(await agent.run("go"));
    clock.jump(999);
    expect(endOf(await agent.answer(interrupt, 5))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    clock.jump(1);
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(seen[1]).toBeInstanceOf(InputTimeoutError);
    expect(agent.handler.stats()).toMatchObject({ held: 0, expired: 1, answered: 0 });
  });

  it("does not stand in a plain run's way either", async () => {
    const clock = createLateClock();
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs: 1_000 }, clock });
    for (const identity of [null, "anna"]) {
      const first = soleInterrupt(await agent.run("go", { identity }));
      clock.jump(1_000);
      expect(soleInterrupt(await agent.run("go", { identity })).id).not.toBe(first.id);
    }
  });

  it("is let go in the order of its holding when many expire at once", async () => {
    const order: string[] = [];
    const agent = agentUnderTest({
      retention: { ttlMs: 1_000 },
      agent: async (context) => context.input("A?").catch(() => order.push(context.threadId)),
    });
    for (const threadId of ["a", "b", "c", "d"]) {
      await agent.run({ threadId });
      await agent.clock.advance(100);
    }
    await agent.clock.advance(700);
    expect(order).toEqual(["a", "b"]);
    await agent.clock.advance(10_000);
    expect(order).toEqual(["a", "b", "c", "d"]);
    expect(agent.clock.pending).toBe(0);
  });

  it("can have been answered with a millisecond to go", async () => {
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs: 1_000 } });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(999);
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
    await agent.clock.advance(10_000);
    expect(agent.handler.stats()).toMatchObject({ expired: 0, answered: 1, finished: 1 });
  });

  it("may be years away", async () => {
    const years = 10 * 365 * 24 * 3_600_000;
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs: years } });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(years - 1);
    expect(agent.handler.stats().held).toBe(1);
    expect(endOf(await agent.answer(interrupt, 5))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    await agent.clock.advance(1);
    expect(agent.handler.stats().held).toBe(0);
  });

  it("has a date even when it lies past the last one there is", async () => {
    const clock = createTestClock();
    const ttlMs = 8.64e15 - clock.now();
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs }, clock });
    await clock.advance(1_000);
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.expiresAt).toBe("+275760-09-13T00:00:00.000Z");
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });
});

describe("a question's own time", () => {
  const timed = (timeoutMs: number, ttlMs = 10_000) =>
    agentUnderTest({ retention: { ttlMs }, agent: async (context) => context.input("A?", { timeoutMs }) });

  it("counts from the ask, and the earlier of it and the retention is the deadline", async () => {
    expect(soleInterrupt(await timed(500).run("go")).expiresAt).toBe("2100-01-01T00:00:00.500Z");
    expect(soleInterrupt(await timed(60_000).run("go")).expiresAt).toBe("2100-01-01T00:00:10.000Z");
  });

  it("is over by a timer, and on arrival", async () => {
    const clock = createLateClock();
    const agent = agentUnderTest({ agent: async (context) => context.input("A?", { timeoutMs: 500 }), clock });
    const interrupt = soleInterrupt(await agent.run("go"));
    clock.jump(499);
    expect(endOf(await agent.answer(interrupt, 5))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    clock.jump(1);
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
    const other = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(500);
    expect(endOf(await agent.answer(other, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
  });

  it("may be longer than a timer's longest delay", async () => {
    const agent = timed(2 ** 31 + 1_000, 2 ** 33);
    await agent.run("go");
    await agent.clock.advance(2 ** 31 + 999);
    expect(agent.handler.stats().held).toBe(1);
    await agent.clock.advance(1);
    expect(agent.handler.stats()).toMatchObject({ held: 0, expired: 1 });
  });

  it("can be over before the question has gone out: then it never does", async () => {
    const paused = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const quick = paused.promise
        .then(() => context.input("Quick?", { timeoutMs: 100 }))
        .catch((error) => seen.push(error.code));
      await Promise.all([context.input("A?"), quick]);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    paused.resolve();
    await agent.clock.advance(100);
    expect(seen).toEqual(["INPUT_TIMEOUT"]);
    expect(endOf(await agent.answer(interrupt, "a"))).toBe("success");
  });

  it("that is over for the last open question leaves the turn unheard: its code goes on, its thread is free", async () => {
    const gate = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      if (context.userText !== "first") return "another turn";
      const waiting = gate.promise.then(() => context.input("B?")).catch((error) => seen.push(error.code));
      await context.input("A?", { timeoutMs: 1_000 }).catch((error) => seen.push(error.code));
      seen.push(context.signal.aborted, context.heard);
      seen.push(await context.text("dropped").then(() => "text resolved"));
      seen.push(await context.toolCall("work", {}, () => "worked"));
      await context.input("C?").catch((error) => seen.push(error.code));
      await waiting;
      seen.push("end");
    });
    const interrupt = soleInterrupt(await agent.run("first"));
    await agent.clock.advance(1_000);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 1, expired: 1 });
    expect((await agent.run("second")).result).toBe("another turn");
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
    gate.resolve();
    await agent.clock.advance(0);
    expect(seen).toEqual([
      "INPUT_TIMEOUT",
      false,
      false,
      "text resolved",
      "worked",
      "TURN_RELEASED",
      "TURN_RELEASED",
      "end",
    ]);
    expect(agent.handler.stats()).toMatchObject({ running: 0, finished: 2 });
  });

  it("rejects what waits behind the last open question, when that goes unheard", async () => {
    const paused = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await Promise.all([
        context.input("A?", { timeoutMs: 1_000 }).catch((error) => seen.push(`A ${error.code}`)),
        paused.promise.then(() => context.input("B?")).catch((error) => seen.push(`B ${error.code}`)),
      ]);
    });
    await agent.run("go");
    paused.resolve();
    await agent.clock.advance(1_000);
    expect(seen).toEqual(["A INPUT_TIMEOUT", "B TURN_RELEASED"]);
  });

  it("that is over for one of two leaves the turn held for the other", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all([context.input("A?", { timeoutMs: 100 }).catch(() => "late"), context.input("B?")]),
    );
    const [, b] = twoInterrupts(await agent.run("go"));
    await agent.clock.advance(100);
    expect((await agent.resume([answerTo(b, "b")])).result).toEqual(["late", "b"]);
  });
});

describe("a turn that fails by a question's time while another is open", () => {
  it("is reported: somebody was still to answer", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all([context.input("A?", { timeoutMs: 100 }), context.input("B?")]),
    );
    const [, b] = twoInterrupts(await agent.run("go"));
    await agent.clock.advance(100);
    expect(agent.errors).toMatchObject([{ error: { code: "INPUT_TIMEOUT" } }]);
    expect(endOf(await agent.resume([answerTo(b, "b")]))).toBe("INTERRUPT_NOT_HELD (ended)");
    expect(agent.handler.stats()).toMatchObject({ failed: 1, held: 0, running: 0 });
  });
});

describe("the timers", () => {
  it("never keep the process alive", async () => {
    const spy = vi.spyOn(globalThis, "setTimeout");
    const handler = createHandler({ agent: async (context) => context.input("A?", { timeoutMs: 60_000 }) });
    await exchange((request) => handler.handle(request));
    const ours = spy.mock.calls.flatMap(([, ms], index) => ((ms ?? 0) >= 2_000 ? [spy.mock.results[index]] : []));
    spy.mockRestore();
    expect(ours.length).toBeGreaterThanOrEqual(2);
    for (const result of ours) expect((result as { value: NodeJS.Timeout }).value.hasRef()).toBe(false);
    await handler.close();
  });

  it("are forgotten when what they were for is over", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?", { timeoutMs: 60_000 }));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(agent.clock.pending).toBe(2);
    await agent.answer(interrupt, "a");
    expect(agent.clock.pending).toBe(0);
  });

  it("read the injected clock and no other", async () => {
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), clock: createTestClock(0) });
    const running = agent.run("go");
    expect(soleInterrupt(await running).expiresAt).toBe("1970-01-01T00:15:00.000Z");
    const again = agent.run({ threadId: "other" });
    expect(await isSettled(again)).toBe(true);
  });
});
