import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Clock, createHandler } from "../../src/index.ts";
import { ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { build, report } from "../support/child.ts";
import { exchange, openExchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";

beforeAll(build, 240_000);

describe("B47 how many turns are held", () => {
  it("never more than may be: the one held longest goes, the newest stays, a running one is not touched", async () => {
    const gate = defer();
    const released: string[] = [];
    const agent = agentUnderTest({
      agent: async (context) => {
        try {
          await context.input("?");
          await gate.promise;
          return context.threadId;
        } catch (error) {
          released.push(`${context.threadId}: ${(error as { code: string }).code}`);
          throw error;
        }
      },
      retention: { maxHeld: 3 },
    });
    const a = await agent.run({ threadId: "a" });
    const running = await openExchange(agent.handler.fetch, {
      threadId: "a",
      resume: [answerTo(soleInterrupt(a), "yes")],
    });
    await running.read(1);
    const runs = [];
    for (const threadId of ["b", "c", "d", "e", "f"]) {
      runs.push(await agent.run({ threadId }));
      expect(agent.handler.stats().held).toBeLessThanOrEqual(3);
    }
    expect(released).toEqual(["b: TURN_RELEASED", "c: TURN_RELEASED"]);
    expect(agent.handler.inspect().map(({ threadId }) => threadId)).toEqual(["d", "e", "f"]);
    expect(agent.warnings.map(({ code, threadId }) => `${code} ${threadId}`)).toEqual([
      "TURN_EVICTED b",
      "TURN_EVICTED c",
    ]);
    const [b, , , , f] = runs.map(soleInterrupt);
    expect(endOf(await agent.answer(b as never, "yes"))).toBe("INTERRUPT_NOT_HELD (evicted)");
    gate.resolve();
    expect(await running.rest()).toMatchObject({ result: "a" });
    expect((await agent.answer(f as never, "yes")).result).toBe("f");
  });

  it("five thousand that ask and are left: memory is that of the hundred held", async () => {
    const { grown, most, evicted, stats, first, last } = await report("evictions.mjs");
    expect({ most, evicted, first, last }).toEqual({
      most: 100,
      evicted: 4_900,
      first: "thread 4900",
      last: "thread 4999",
    });
    expect(stats).toMatchObject({ held: 100, running: 0, evicted: 4_900 });
    // A leak of what each of four thousand turns had would be 160 MB.
    expect(grown).toBeLessThan(4_000_000);
  }, 240_000);
});

describe("B49 what a held turn keeps", () => {
  it("nothing of the exchange that asked, and nothing at all once it has expired", async () => {
    const { whileHeld, afterwards, expired, grown } = await report("collectable.mjs");
    expect(whileHeld).toMatchObject({ held: 1_000, requests: 0, responses: 0, signals: 0, contexts: 1_000 });
    // Its input's ten thousand characters, and a few KB.
    expect(whileHeld.bytesEach).toBeLessThan(20_000);
    expect(afterwards).toEqual({ held: 0, contexts: 0, timers: 0 });
    expect(expired).toBe(2_000);
    // Why each of a thousand ended is remembered; one turn kept would be its input's ten thousand characters.
    expect(grown).toBeLessThan(1_000_000);
  }, 240_000);
});

describe("B51 a held question", () => {
  it("keeps no process alive, and neither does a stream that was left", async () => {
    const { code, lingeredMs, interrupts } = await report("exits.mjs");
    expect({ code, interrupts }).toEqual({ code: 0, interrupts: 1 });
    expect(lingeredMs).toBeLessThan(1_000);
  }, 240_000);
});

describe("B52 when a question stops being answerable", () => {
  it("is told in ISO 8601: the retention from the interrupt, or the caller's own time from the ask", async () => {
    const agent = agentUnderTest({
      agent: async (context) => {
        await Promise.all([
          context.input("A?"),
          context.input("B?", { timeoutMs: 500 }),
          context.input("C?", { timeoutMs: 5_000 }),
        ]);
      },
      retention: { ttlMs: 2_000 },
    });
    const { interrupts } = await agent.run("Ask");
    const now = agent.clock.now();
    for (const { expiresAt } of interrupts) expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(interrupts.map(({ expiresAt }) => Date.parse(expiresAt as string) - now)).toEqual([2_000, 500, 2_000]);
  });

  it("is looked at when the answer arrives, whether or not its timer has fired", async () => {
    let now = 0;
    const noTimers: Clock = { now: () => now, setTimeout: () => 0, clearTimeout() {} };
    const asking = askingAgent();
    const { fetch } = createHandler({ agent: asking.agent, retention: { ttlMs: 200 }, clock: noTimers });
    const interrupt = soleInterrupt(await exchange(fetch));
    now = 200;
    const late = await exchange(fetch, { resume: [answerTo(interrupt, "yes")] });
    expect(endOf(late)).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(asking).toMatchObject({ after: 0, rejections: [{ code: "INPUT_TIMEOUT" }] });
    const again = soleInterrupt(await exchange(fetch));
    now = 399;
    expect(endOf(await exchange(fetch, { resume: [answerTo(again, "yes")] }))).toBe("success");
  });

  it("holds by the system's clock too, with the event loop blocked past it", async () => {
    const asking = askingAgent();
    const { fetch } = createHandler({ agent: asking.agent, retention: { ttlMs: 100 } });
    const interrupt = soleInterrupt(await exchange(fetch));
    const expiresAt = Date.parse(interrupt.expiresAt as string);
    expect(Math.abs(expiresAt - Date.now() - 100)).toBeLessThan(1_000);
    // No timer can fire meanwhile, and the answer is on its way in the same turn of the event loop.
    while (Date.now() < expiresAt) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    const late = await exchange(fetch, { resume: [answerTo(interrupt, "yes")] });
    expect(endOf(late)).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(asking.answers).toEqual([]);
  });
});

describe("B55 closing", () => {
  it("a held question rejects, its function's `finally` runs, and its answer is told where to go", async () => {
    let cleaned = 0;
    const asking = askingAgent(async (tool) => {
      try {
        return await tool.input("Book LH441?");
      } finally {
        cleaned++;
      }
    });
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    await agent.handler.close();
    expect(cleaned).toBe(1);
    expect(asking.rejections).toMatchObject([{ code: "TURN_RELEASED" }]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect(agent.clock.pending).toBe(0);
    await expect(agent.answer(interrupt, "yes")).rejects.toMatchObject({ code: "SERVER_CLOSING", status: 503 });
    expect(asking.answers).toEqual([]);
  });

  it("a stream that is open ends as cancelled, well formed", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.step("writing", async () => {
        await context.text("Hello");
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
        await context.text(", goodbye");
      });
    });
    const open = await openExchange(agent.handler.fetch);
    await open.read(4);
    await agent.handler.close();
    const run = await open.rest();
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
  });
});

describe("B99 creating a handler", () => {
  it("takes no timer, no random bytes and no look at the world: all that waits for the first request", async () => {
    const timers: number[] = [];
    const clock: Clock = {
      now: () => Date.now(),
      setTimeout: (_callback, ms) => timers.push(ms),
      clearTimeout() {},
    };
    const drawn = vi.spyOn(crypto, "getRandomValues");
    const named = vi.spyOn(crypto, "randomUUID");
    const looked: string[] = [];
    const { env } = process;
    const watched = new Proxy(env, {
      get(target, name) {
        looked.push(String(name));
        return Reflect.get(target, name);
      },
    });
    try {
      process.env = watched;
      const handler = createHandler({ agent: askingAgent().agent, clock });
      expect([timers, drawn.mock.calls, named.mock.calls, looked]).toEqual([[], [], [], []]);
      process.env = env;
      expect(typesOf(await exchange(handler.fetch))).toEqual(ASKED);
      expect(timers).not.toEqual([]);
      expect(drawn).toHaveBeenCalled();
    } finally {
      process.env = env;
      vi.restoreAllMocks();
    }
  });
});
