import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer, nextTurn } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

/** Each way in which a server learns that its client has left. */
const WAYS = ["the request's signal", "the cancelled body", "both"] as const;

/** A run that is left in one of these ways. */
async function leavable(agent: ReturnType<typeof agentUnderTest>, partial = {}) {
  const controller = new AbortController();
  const open = await openExchange(agent.handler.handle, partial, { signal: controller.signal });
  return {
    ...open,
    async leave(way: (typeof WAYS)[number], reason?: unknown) {
      if (way !== "the cancelled body") controller.abort(reason);
      if (way !== "the request's signal") await open.reader.cancel(reason);
      await agent.clock.advance(0);
    },
  };
}

/** What an agent sees that works, emits, and asks after its client left. */
function watching() {
  const seen: unknown[] = [];
  const gate = defer();
  const agent = agentUnderTest(async (context) => {
    if (context.userText === "next") return "next";
    context.signal.addEventListener("abort", () => seen.push("abort", context.signal.reason.code));
    await context.text("Working");
    await gate.promise;
    await context.text("x").catch((error) => seen.push(`text ${error.code}`));
    await context.custom("acme:x", 1).catch((error) => seen.push(`custom ${error.code}`));
    await context.input("A?").catch((error) => seen.push(`ask ${error.code}`));
    await context.toolCall("t", {}, () => seen.push("entered")).catch((error) => seen.push(`call ${error.code}`));
    seen.push("unwound");
  });
  return { agent, seen, gate };
}

describe("a client that leaves mid-run", () => {
  it.each(WAYS)(
    "releases the turn, as told by %s: signal, asks and emits say so, the thread is free at once (P30)",
    async (way) => {
      const { agent, seen, gate } = watching();
      const open = await leavable(agent);
      await open.read(3);
      await open.leave(way);
      expect(seen).toEqual(["abort", "TURN_RELEASED"]);
      expect(agent.handler.stats()).toMatchObject({ running: 1, held: 0 });
      expect((await agent.run("next")).result).toBe("next");
      gate.resolve();
      await agent.clock.advance(0);
      expect(seen.slice(2)).toEqual([
        "text TURN_RELEASED",
        "custom TURN_RELEASED",
        "ask TURN_RELEASED",
        "call TURN_RELEASED",
        "unwound",
      ]);
      expect(agent.handler.stats()).toMatchObject({ running: 0, finished: 2, failed: 0 });
      expect(agent.errors).toEqual([]);
    },
  );

  it.each([undefined, "bye", new Error("bye"), null, 5])("may give any reason: %s", async (reason) => {
    const { agent, seen, gate } = watching();
    const open = await leavable(agent);
    await open.leave("both", reason);
    gate.resolve();
    await agent.clock.advance(0);
    expect(seen.slice(0, 2)).toEqual(["abort", "TURN_RELEASED"]);
  });

  it("before its first event is read is heard", async () => {
    const { agent, seen } = watching();
    const open = await leavable(agent);
    await open.leave("the cancelled body");
    expect(seen).toEqual(["abort", "TURN_RELEASED"]);
  });

  it("twice, and again after the end, is heard once", async () => {
    const { agent, seen, gate } = watching();
    const open = await leavable(agent);
    await open.leave("both");
    await open.leave("both");
    gate.resolve();
    await agent.clock.advance(0);
    await open.leave("both");
    expect(seen.filter((word) => word === "abort")).toHaveLength(1);
  });

  it("finds the body closed where only the signal told", async () => {
    const { agent } = watching();
    const open = await leavable(agent);
    await open.read(3);
    await open.leave("the request's signal");
    expect(await open.reader.rest()).toEqual([]);
  });

  it("is told to a generator by its return()", async () => {
    const seen: string[] = [];
    const agent = agentUnderTest(async function* () {
      try {
        for (;;) {
          await nextTurn();
          yield { type: "CUSTOM", name: "acme:tick", value: 1 };
        }
      } finally {
        seen.push("returned");
      }
    });
    const open = await leavable(agent);
    await open.read(2);
    await open.leave("both");
    expect(seen).toEqual(["returned"]);
  });

  it("wakes an agent that waits for room, and its wait rejects", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      try {
        for (;;) await context.text("x".repeat(4_096));
      } catch (error) {
        seen.push((error as { code: string }).code);
      } finally {
        seen.push("finally");
      }
    });
    const open = await leavable(agent);
    await open.read(3);
    await agent.clock.advance(0);
    expect(seen).toEqual([]);
    await open.leave("both");
    expect(seen).toEqual(["TURN_RELEASED", "finally"]);
  });

  it("before it was admitted starts nothing", async () => {
    let entered = 0;
    const agent = agentUnderTest(async () => void entered++);
    const open = await openExchange(agent.handler.handle, {}, { signal: AbortSignal.abort() });
    expect(await open.reader.rest()).toEqual([]);
    expect([entered, agent.handler.stats().started]).toEqual([0, 0]);
  });

  it("before its answer was admitted delivers nothing, and the question stays open", async () => {
    const agent = agentUnderTest(async (context: AgentContext) => context.input("A?"));
    const interrupt = soleInterrupt(await agent.run("go"));
    const resume = [answerTo(interrupt, "of one who left")];
    const open = await openExchange(agent.handler.handle, { resume }, { signal: AbortSignal.abort() });
    expect(await open.reader.rest()).toEqual([]);
    expect(agent.handler.stats()).toMatchObject({ held: 1, answered: 0 });
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });
});

describe("a client that leaves around the question", () => {
  it.each(WAYS)("between the ask and the outcome releases the turn: %s", async (way) => {
    const seen: unknown[] = [];
    const leave = defer();
    const agent = agentUnderTest(async (context) => {
      await leave.promise;
      const asked = context.input("A?");
      controller.abort();
      await asked.catch((error) => seen.push(error.code));
    });
    const controller = new AbortController();
    const open = await openExchange(
      agent.handler.handle,
      {},
      way === "the cancelled body" ? {} : { signal: controller.signal },
    );
    await open.read(1);
    if (way !== "the request's signal") controller.signal.addEventListener("abort", () => void open.leave());
    leave.resolve();
    await agent.clock.advance(0);
    expect(seen).toEqual(["TURN_RELEASED"]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it.each(WAYS)("after the outcome went out leaves the turn held, read or unread: %s", async (way) => {
    for (const frames of [1, 2]) {
      const agent = agentUnderTest(async (context: AgentContext) => context.input("A?"));
      const open = await leavable(agent);
      await agent.clock.advance(0);
      const last = (await open.read(frames)).at(-1);
      await open.leave(way);
      expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0 });
      if (frames === 1) {
        // Nobody has read the proof, and nobody is identified: the thread waits for its deadline.
        expect(endOf(await agent.run("plain"))).toBe("INTERRUPT_NOT_COVERED");
        await agent.clock.advance(900_000);
        expect(endOf(await agent.run("plain"))).toBe("interrupt");
      } else {
        const [interrupt] = last?.outcome.interrupts ?? [];
        expect((await agent.answer(interrupt, "a")).result).toBe("a");
      }
    }
  });

  it("and of the run that asked, or of any earlier one, does not touch the run that answers", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context: AgentContext) => {
      const answer = await context.input("A?");
      await gate.promise;
      return [answer, context.signal.aborted];
    });
    const asking = await leavable(agent);
    const interrupt = soleInterrupt(await asking.rest());
    await asking.leave("both");
    const answering = await leavable(agent, { resume: [answerTo(interrupt, "a")] });
    await answering.read(1);
    await asking.leave("both");
    gate.resolve();
    expect((await answering.rest()).result).toEqual(["a", false]);
  });

  it("of the run that answers releases the turn, and the answer is spent", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context: AgentContext) => {
      seen.push(await context.input("A?"));
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      seen.push(context.signal.reason.code);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const answering = await leavable(agent, { resume: [answerTo(interrupt, "a")] });
    await answering.read(1);
    await answering.leave("both");
    expect(seen).toEqual(["a", "TURN_RELEASED"]);
    expect(endOf(await agent.answer(interrupt, "again"))).toBe("INTERRUPT_NOT_HELD (answered)");
  });
});

describe("a turn that unwinds long after its client left", () => {
  /** A first turn that was left and has not unwound, and what its thread does meanwhile. */
  async function leftBehind() {
    const [slow, work] = [defer(), defer()];
    const unwound: string[] = [];
    const agent = agentUnderTest({
      limits: { queuedRuns: 0 },
      agent: async (context) => {
        if (context.userText === "ask") return context.input("A?");
        await context.text("Working");
        await (context.userText === "slow" ? slow : work).promise;
        unwound.push(context.userText);
      },
    });
    const open = await leavable(agent, { messages: [{ id: "m", role: "user", content: "slow" }] });
    await open.leave("both");
    const unwind = async () => {
      slow.resolve();
      await agent.clock.advance(0);
      expect(unwound).toEqual(["slow"]);
    };
    return { agent, work, unwind };
  }

  it("leaves the one that runs in its thread by then active", async () => {
    const { agent, work, unwind } = await leftBehind();
    const running = await openExchange(agent.handler.handle);
    await running.read(2);
    await unwind();
    expect(endOf(await agent.run("another"))).toBe("THREAD_BUSY");
    work.resolve();
    expect(endOf(await running.rest())).toBe("success");
  });

  it("leaves the one that is held in its thread by then held", async () => {
    const { agent, unwind } = await leftBehind();
    const interrupt = soleInterrupt(await agent.run("ask"));
    await unwind();
    expect((await agent.answer(interrupt, "yes")).result).toBe("yes");
  });
});

describe("an agent that catches everything and asks again, for ever", () => {
  it.each<[string, (context: AgentContext) => Promise<unknown>]>([
    ["input", (context) => context.input("Again?")],
    ["approve", (context) => context.approve({ toolCallId: "c", toolName: "t", args: {} })],
  ])("does not keep others from running once its client has left: %s", async (_name, ask) => {
    let asked = 0;
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "other") return "served";
      while (asked < 100_000) {
        asked++;
        await ask(context).catch(() => {});
      }
    });
    const open = await openExchange(agent.handler.handle);
    await open.leave();
    await agent.clock.advance(0);
    expect((await agent.run("other")).result).toBe("served");
    expect(asked).toBeLessThan(1_000);
    const before = asked;
    await agent.clock.advance(1_000);
    expect(asked).toBe(before + 1);
  });
});
