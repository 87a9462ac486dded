import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer } from "../support/promises.ts";
import { answerTo, giveUp, proofOf, soleInterrupt } from "../support/runs.ts";

const NOTHING = {
  held: 0,
  running: 0,
  queued: 0,
  started: 0,
  finished: 0,
  failed: 0,
  answered: 0,
  abandoned: 0,
  expired: 0,
  evicted: 0,
  refused: {},
};

describe("stats", () => {
  it("are numbers only, and count what happened", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      retention: { maxHeld: 3, ttlMs: 1_000 },
      agent: async (context) => {
        if (context.userText === "fail") throw new Error("x");
        if (context.userText === "work") return gate.promise;
        await context.input("A?");
      },
    });
    const { stats } = agent.handler;
    expect(stats()).toEqual(NOTHING);
    const asked = [];
    for (const threadId of ["a", "b", "c", "d", "e"]) asked.push(soleInterrupt(await agent.run({ threadId })));
    expect(stats()).toEqual({ ...NOTHING, started: 5, held: 3, evicted: 2, finished: 2 });
    await agent.answer(asked[2] as never, 5);
    await agent.answer(asked[0] as never, "late");
    await agent.answer(asked[2] as never, "a");
    await agent.abandon(asked[3] as never);
    await agent.clock.advance(1_000);
    await agent.run("fail");
    const working = agent.run({ threadId: "w", messages: [{ id: "m", role: "user", content: "work" }] });
    await agent.clock.advance(0);
    const waits = agent.run({ threadId: "w", messages: [{ id: "m", role: "user", content: "work" }] });
    await agent.clock.advance(0);
    const now = stats();
    expect(now).toEqual({
      held: 0,
      running: 1,
      queued: 1,
      started: 7,
      // Whatever ended them: two evicted, one answered, one given up, one expired.
      finished: 5,
      failed: 1,
      answered: 1,
      abandoned: 1,
      expired: 1,
      evicted: 2,
      refused: { INTERRUPT_PAYLOAD_REFUSED: 1, INTERRUPT_NOT_HELD: 1 },
    });
    gate.resolve();
    await Promise.all([working, waits]);
    expect(stats()).toMatchObject({ running: 0, queued: 0, started: 8, finished: 7 });
    // A copy: what was given does not change.
    expect(now.started).toBe(7);
    (stats().refused as Record<string, number>).INTERRUPT_NOT_HELD = 99;
    expect(stats().refused.INTERRUPT_NOT_HELD).toBe(1);
  });

  it("count each question of an outcome", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.allSettled(["A?", "B?", "C?"].map((message) => context.input(message))),
    );
    const [a, b, c] = (await agent.run("go")).interrupts as never[];
    await agent.resume([answerTo(a as never, "a"), giveUp(b as never), answerTo(c as never, "c")]);
    expect(agent.handler.stats()).toMatchObject({ answered: 2, abandoned: 1, started: 1, finished: 1 });
  });
});

describe("inspect", () => {
  it("tells of each held turn who, since when and what is asked, never a proof or an answer", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall(
        "pay",
        { eur: 5 },
        (_args, tool) =>
          tool.input("Sure?", { metadata: { secret: "of the application" }, jsonSchema: { enum: ["secret"] } }),
        { toolCallId: "call-1" },
      ),
    );
    expect(agent.handler.inspect()).toEqual([]);
    await agent.clock.advance(1_000);
    const interrupt = soleInterrupt(await agent.run({ threadId: "T" }, { identity: "anna" }));
    const held = agent.handler.inspect();
    expect(held).toEqual([
      {
        threadId: "T",
        identity: "anna",
        since: Date.UTC(2100, 0, 1, 0, 0, 1),
        interrupts: [
          {
            id: interrupt.id,
            reason: "human_input",
            message: "Sure?",
            toolCallId: "call-1",
            expiresAt: interrupt.expiresAt,
          },
        ],
      },
    ]);
    expect(JSON.stringify(held)).not.toContain(proofOf(interrupt));
    expect(JSON.stringify(held)).not.toContain("secret");
    await agent.answer(interrupt, "secret");
    expect(agent.handler.inspect()).toEqual([]);
  });
});
