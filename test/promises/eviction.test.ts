import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer } from "../support/promises.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");
const heldBy = (agent: ReturnType<typeof agentUnderTest>) => agent.handler.inspect().map(({ threadId }) => threadId);

describe("holding one turn too many", () => {
  it("releases the one held longest, never the one just held, and says so", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 2 } });
    const a = soleInterrupt(await agent.run({ threadId: "a" }));
    for (const threadId of ["b", "c"]) await agent.run({ threadId });
    expect(heldBy(agent)).toEqual(["b", "c"]);
    expect(agent.warnings).toEqual([{ code: "TURN_EVICTED", message: expect.stringContaining('"a"'), threadId: "a" }]);
    expect(agent.handler.stats()).toMatchObject({ held: 2, evicted: 1, expired: 0 });
    expect(endOf(await agent.answer(a, "late"))).toBe("INTERRUPT_NOT_HELD (evicted)");
    expect(heldBy(agent)).toEqual(["b", "c"]);
  });

  it("with room for one keeps the newest", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 1 } });
    await agent.run({ threadId: "a" });
    const b = soleInterrupt(await agent.run({ threadId: "b" }));
    expect((await agent.answer(b, "b")).result).toBe("b");
  });

  it("tells the evicted: asks reject and the signal aborts with TurnReleasedError, emits reject, the thread is free", async () => {
    const seen: unknown[] = [];
    const paused = defer();
    const agent = agentUnderTest({
      retention: { maxHeld: 1 },
      agent: async (context) => {
        if (context.threadId !== "a") return context.input("A?");
        context.signal.addEventListener("abort", () => seen.push(context.signal.reason.code));
        void paused.promise.then(() => context.input("Waiting?")).catch((error) => seen.push(`waiting ${error.code}`));
        await context.input("A?").catch((error) => seen.push(`ask ${error.code}`));
        await context.text("x").catch((error) => seen.push(`text ${error.code}`));
        await context.custom("acme:x", 1).catch((error) => seen.push(`custom ${error.code}`));
        seen.push("unwound");
      },
    });
    await agent.run({ threadId: "a" });
    paused.resolve();
    await agent.clock.advance(0);
    await agent.run({ threadId: "b" });
    await agent.clock.advance(0);
    expect(seen).toEqual([
      "TURN_RELEASED",
      "ask TURN_RELEASED",
      "waiting TURN_RELEASED",
      "text TURN_RELEASED",
      "custom TURN_RELEASED",
      "unwound",
    ]);
    expect(endOf(await agent.run({ threadId: "a" }))).toBe("interrupt");
  });

  it("never releases a turn that was resumed and runs", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      retention: { maxHeld: 1 },
      agent: async (context) => {
        const answer = await context.input("A?");
        if (context.threadId === "a") await gate.promise;
        return answer;
      },
    });
    const a = soleInterrupt(await agent.run({ threadId: "a" }));
    const running = agent.answer(a, "a");
    await agent.clock.advance(0);
    for (const threadId of ["b", "c", "d"]) await agent.run({ threadId });
    gate.resolve();
    expect((await running).result).toBe("a");
    expect(heldBy(agent)).toEqual(["d"]);
  });

  it("counts how long it is held since its last question", async () => {
    const agent = agentUnderTest({
      retention: { maxHeld: 2 },
      agent: async (context) => [await context.input("A?"), await context.input("B?")],
    });
    const a = soleInterrupt(await agent.run({ threadId: "a" }));
    await agent.run({ threadId: "b" });
    await agent.answer(a, "again");
    expect(heldBy(agent)).toEqual(["b", "a"]);
    await agent.run({ threadId: "c" });
    expect(heldBy(agent)).toEqual(["a", "c"]);
  });

  it("holds for many threads exactly as many as it may, and the newest survive", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 10 }, validate: false, onWarning: () => {} });
    for (let i = 0; i < 200; i++) {
      await agent.run({ threadId: `t${i}` });
      expect(agent.handler.stats().held).toBe(Math.min(i + 1, 10));
    }
    expect(heldBy(agent)).toEqual(Array.from({ length: 10 }, (_, i) => `t${190 + i}`));
    expect(agent.handler.stats().evicted).toBe(190);
  });
});

describe("the quota of one identity", () => {
  it("releases the longest held of the same identity only", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 10, maxHeldPerIdentity: 2 } });
    await agent.run({ threadId: "b1" }, { identity: "bert" });
    for (const threadId of ["a1", "a2", "a3"]) await agent.run({ threadId }, { identity: "anna" });
    for (const threadId of ["n1", "n2", "n3"]) await agent.run({ threadId });
    expect(heldBy(agent)).toEqual(["b1", "a2", "a3", "n2", "n3"]);
    expect(agent.warnings.map(({ threadId }) => threadId)).toEqual(["a1", "n1"]);
  });

  it("is maxHeld where it is not given", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 3 } });
    for (const threadId of ["a", "b", "c"]) await agent.run({ threadId }, { identity: "anna" });
    expect(heldBy(agent)).toEqual(["a", "b", "c"]);
  });

  it("is given back by an answer, an expiry and an abandoning", async () => {
    const agent = agentUnderTest({ agent: one, retention: { ttlMs: 1_000, maxHeld: 10, maxHeldPerIdentity: 1 } });
    const anna = { identity: "anna" };
    await agent.answer(soleInterrupt(await agent.run({ threadId: "a1" }, anna)), "a");
    await agent.abandon(soleInterrupt(await agent.run({ threadId: "a2" }, anna)));
    await agent.run({ threadId: "a3" }, anna);
    await agent.clock.advance(1_000);
    await agent.run({ threadId: "a4" }, anna);
    expect(agent.handler.stats()).toMatchObject({ held: 1, evicted: 0, answered: 1, abandoned: 1, expired: 1 });
  });

  it("still counts those that go on being held when one of them has been answered", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 10, maxHeldPerIdentity: 2 } });
    const anna = { identity: "anna" };
    const first = soleInterrupt(await agent.run({ threadId: "a1" }, anna));
    await agent.run({ threadId: "a2" }, anna);
    await agent.answer(first, "a");
    for (const threadId of ["a3", "a4"]) await agent.run({ threadId }, anna);
    expect(heldBy(agent)).toEqual(["a3", "a4"]);
  });

  it("holds beside the limit for all", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 3, maxHeldPerIdentity: 2 } });
    for (const [threadId, identity] of [
      ["a1", "anna"],
      ["b1", "bert"],
      ["b2", "bert"],
      ["c1", "carl"],
    ] as const)
      await agent.run({ threadId }, { identity });
    expect(heldBy(agent)).toEqual(["b1", "b2", "c1"]);
  });
});

describe("onHold", () => {
  it("is told how many are held each time that has changed, and only then", async () => {
    const held: number[] = [];
    const agent = agentUnderTest({
      agent: async (context) => context.threadId === "plain" || context.input("A?"),
      retention: { ttlMs: 1_000, maxHeld: 2 },
      onHold: (now) => held.push(now),
    });
    const a = soleInterrupt(await agent.run({ threadId: "a" }));
    await agent.run({ threadId: "plain" });
    await agent.run({ threadId: "b" });
    expect(held).toEqual([1, 2]);
    // Of the two that are held one makes room.
    await agent.run({ threadId: "c" });
    expect(held).toEqual([1, 2, 3, 2]);
    await agent.answer(a, "too late");
    await agent.abandon(soleInterrupt(await agent.run({ threadId: "d" })));
    expect(held).toEqual([1, 2, 3, 2, 3, 2, 1]);
    await agent.clock.advance(1_000);
    expect(held).toEqual([1, 2, 3, 2, 3, 2, 1, 0]);
  });
});

describe("however many turns are held", () => {
  it("one timer serves their retention, and none where nothing is held", async () => {
    const agent = agentUnderTest({ agent: one, retention: { ttlMs: 1_000 }, keepAliveMs: 0 });
    const before = agent.clock.pending;
    const asked = [];
    for (const threadId of ["a", "b", "c"]) asked.push(soleInterrupt(await agent.run({ threadId })));
    expect(agent.clock.pending).toBe(before + 1);
    for (const interrupt of asked) await agent.answer(interrupt, "yes");
    expect(agent.clock.pending).toBe(before);
  });
});
