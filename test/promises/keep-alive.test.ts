import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { type Deferred, defer } from "../support/promises.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

/** A silent agent, its stream open, that goes on when the test says so. */
async function silent(options: { keepAliveMs?: number } = {}) {
  const gate: Deferred = defer();
  const agent = agentUnderTest({
    ...options,
    agent: async (context) => {
      await gate.promise;
      await context.text("At last");
    },
  });
  const open = await openExchange(agent.handler.handle);
  await open.read(1);
  return { agent, open, gate };
}

/** How many comments the body has brought by now: read on, and nothing else comes. */
async function commentsBy(at: Awaited<ReturnType<typeof silent>>, ms: number): Promise<number> {
  void at.open.reader.next().catch(() => {});
  await at.agent.clock.advance(ms);
  return at.open.reader.comments.length;
}

describe("a quiet stream", () => {
  it("gets a comment before keepAliveMs are over, again and again: 5 s where nothing is said (P23)", async () => {
    const at = await silent();
    await at.agent.clock.advance(0);
    const due: number[] = [];
    void at.open.reader.next().catch(() => {});
    for (let ms = 100; ms <= 30_000; ms += 100) {
      await at.agent.clock.advance(100);
      if (at.open.reader.comments.length > due.length) due.push(ms);
    }
    expect(due.length).toBeGreaterThanOrEqual(6);
    let last = 0;
    for (const ms of due) {
      expect(ms - last).toBeLessThanOrEqual(5_000);
      last = ms;
    }
    expect(30_000 - last).toBeLessThanOrEqual(5_000);
    expect(at.open.reader.comments.every(({ raw }) => raw === ": keep-alive\n\n")).toBe(true);
  });

  it("is not interrupted while it is not quiet, nor within a frame (P23)", async () => {
    const agent = agentUnderTest(async (context) => {
      for (let i = 0; i < 20; i++) {
        await context.text("x");
        await new Promise<void>((resolve) => void agent.clock.setTimeout(resolve, 1_000));
      }
    });
    const running = agent.run("go");
    await agent.clock.advance(20_000);
    expect((await running).raw).not.toContain(": keep-alive");
  });

  it("counts from the last byte: whatever is written puts the next comment off", async () => {
    const agent = agentUnderTest({
      keepAliveMs: 4_000,
      agent: async (context) => {
        for (const pause of [1_900, 1_900, 1_900, 10_000]) {
          await new Promise<void>((resolve) => void agent.clock.setTimeout(resolve, pause));
          await context.text(`${pause}`);
        }
      },
    });
    const running = agent.run("go");
    await agent.clock.advance(20_000);
    const blocks = (await running).raw.split("\n\n").map((block) => (block.startsWith(":") ? "comment" : "frame"));
    expect(blocks.slice(0, 6)).toEqual(["frame", "frame", "frame", "frame", "frame", "comment"]);
  });

  it("is left alone with keepAliveMs: 0, and no timer is set", async () => {
    const at = await silent({ keepAliveMs: 0 });
    expect(at.agent.clock.pending).toBe(0);
    expect(await commentsBy(at, 3_600_000)).toBe(0);
  });

  it("has its comments taken for nothing by whoever reads it", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      keepAliveMs: 100,
      agent: async (context) => {
        await context.text("Half a ");
        await gate.promise;
        await context.text("sentence.");
      },
    });
    const running = agent.run("go");
    await agent.clock.advance(1_000);
    gate.resolve();
    const run = await running;
    expect(run.raw).toContain(": keep-alive\n\n");
    expect(run.raw.startsWith("data: ")).toBe(true);
    expect(run.raw.lastIndexOf(": keep-alive")).toBeLessThan(run.raw.indexOf("RUN_FINISHED"));
    expect(run.text).toBe("Half a sentence.");
  });
});

describe("a run that waits in the queue", () => {
  it("is kept alive too, before its run has started", async () => {
    const gate = defer();
    const agent = agentUnderTest(() => gate.promise);
    const first = agent.run("go");
    await agent.clock.advance(0);
    const waits = agent.run("waits");
    await agent.clock.advance(10_000);
    gate.resolve();
    const run = await waits;
    expect(run.raw.startsWith(": keep-alive\n\n")).toBe(true);
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    await first;
  });
});

describe("the one timer for all streams", () => {
  it("is there while a stream is open, and gone with the last: ended, left, or asked", async () => {
    const { agent, open, gate } = await silent();
    expect(agent.clock.pending).toBe(1);
    const other = await openExchange(agent.handler.handle, { threadId: "other" });
    await other.read(1);
    expect(agent.clock.pending).toBe(1);
    await other.leave();
    await agent.clock.advance(0);
    expect(agent.clock.pending).toBe(1);
    gate.resolve();
    await open.rest();
    expect(agent.clock.pending).toBe(0);
    const asking = agentUnderTest(async (context) => context.input("A?"));
    soleInterrupt(await asking.run("go"));
    // Only the retention's.
    expect(asking.clock.pending).toBe(1);
  });

  it("writes nothing to a reader that is behind, nor after the client left", async () => {
    const agent = agentUnderTest({
      keepAliveMs: 100,
      agent: async (context) => {
        for (;;) await context.text("x".repeat(4_096));
      },
    });
    const open = await openExchange(agent.handler.handle);
    await open.read(1);
    await agent.clock.advance(10_000);
    expect(open.reader.comments).toEqual([]);
    await open.leave();
    await agent.clock.advance(10_000);
    expect(agent.clock.pending).toBe(0);
  });
});
