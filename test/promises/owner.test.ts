import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange, requestOf } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, proofOf, soleInterrupt, typesOf } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");
const anna = { identity: "anna" };

describe("the identified owner of a held turn who sends a plain run", () => {
  it("is asked again: the same interrupts with the same proofs, and nothing changes", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      retention: { ttlMs: 10_000 },
      agent: async (context) => {
        const asked = context.input("A?");
        await gate.promise;
        await context.text("Kept");
        return asked;
      },
    });
    const asked = await agent.run("go", anna);
    gate.resolve();
    await agent.clock.advance(4_000);
    const before = agent.handler.inspect();
    const again = await agent.run({ messages: [{ id: "m", role: "user", content: "hello?" }] }, anna);
    expect(typesOf(again)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(again.outcome).toEqual(asked.outcome);
    expect(agent.handler.inspect()).toEqual(before);
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0, started: 1 });
    const answered = await agent.answer(soleInterrupt(again), "a");
    // The kept events come with the answer, not with the question.
    expect([answered.text, answered.result]).toEqual(["Kept", "a"]);
  });

  it("is asked again only what is still open, and its deadline stays", async () => {
    const agent = agentUnderTest({
      retention: { ttlMs: 10_000 },
      agent: async (context) =>
        Promise.all([context.input("A?"), context.input("B?", { timeoutMs: 1_000 }).catch(() => "late")]),
    });
    const [a] = (await agent.run("go", anna)).interrupts;
    await agent.clock.advance(1_000);
    expect((await agent.run("go", anna)).interrupts).toEqual([a]);
    await agent.clock.advance(8_999);
    expect((await agent.run("go", anna)).interrupts).toEqual([a]);
    await agent.clock.advance(1);
    expect(agent.handler.stats().held).toBe(0);
    expect((await agent.run("go", anna)).interrupts.map(({ id }) => id)).not.toContain(a?.id);
  });

  it("got the question back although the connection was lost on it", async () => {
    const agent = agentUnderTest(one);
    const lost = await openExchange((request) => agent.handler.handle(request, anna));
    await lost.read(1);
    await agent.clock.advance(0);
    await lost.leave();
    const again = await agent.run("go", anna);
    expect((await agent.answer(soleInterrupt(again), "a")).result).toBe("a");
  });

  it('abandons the question with whenAsked: "abandon", and starts a new turn once the old one has unwound', async () => {
    const unwinding = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      whenAsked: "abandon",
      agent: async (context) => {
        if (context.userText !== "first") return `new: ${context.userText}`;
        await context.input("A?").catch((error) => seen.push(error.code));
        seen.push(context.signal.aborted);
        await unwinding.promise;
        seen.push("unwound");
        return "old";
      },
    });
    const interrupt = soleInterrupt(await agent.run("first", anna));
    const next = agent.run("second", anna);
    expect(await isSettled(next)).toBe(false);
    expect(seen).toEqual(["INTERRUPT_CANCELLED", true]);
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (abandoned)");
    unwinding.resolve();
    expect((await next).result).toBe("new: second");
    expect(seen).toEqual(["INTERRUPT_CANCELLED", true, "unwound"]);
    expect(agent.handler.stats()).toMatchObject({ abandoned: 1, started: 2, finished: 2, held: 0, running: 0 });
  });

  it("starts that new turn at the latest after closeTimeoutMs, and the thread is named in a warning", async () => {
    const agent = agentUnderTest({
      whenAsked: "abandon",
      closeTimeoutMs: 3_000,
      agent: async (context) => {
        if (context.userText !== "first") return "new";
        await context.input("A?").catch(() => {});
        await new Promise(() => {});
      },
    });
    await agent.run("first", anna);
    const next = agent.run("second", anna);
    await agent.clock.advance(2_999);
    expect(await isSettled(next)).toBe(false);
    await agent.clock.advance(1);
    expect((await next).result).toBe("new");
    expect(agent.warnings).toEqual([
      { code: "TURN_NOT_UNWOUND", message: expect.stringContaining("thread-1"), threadId: "thread-1" },
    ]);
  });

  it("goes first with that new turn, whoever else waits, and takes no place in the queue", async () => {
    const unwinding = defer();
    const order: string[] = [];
    const agent = agentUnderTest({
      whenAsked: "abandon",
      limits: { queuedRuns: 1 },
      agent: async (context) => {
        order.push(context.userText);
        if (context.userText !== "first") return;
        await context.input("A?").catch(() => {});
        await unwinding.promise;
      },
    });
    await agent.run("first", anna);
    const claim = agent.run("claim", anna);
    await agent.clock.advance(0);
    const waits = agent.run("waits", anna);
    await agent.clock.advance(0);
    expect(endOf(await agent.run("too many", anna))).toBe("THREAD_BUSY");
    unwinding.resolve();
    await Promise.all([claim, waits]);
    expect(order).toEqual(["first", "claim", "waits"]);
  });

  it.each(["ask-again", "abandon"] as const)("without an identity is refused: %s", async (whenAsked) => {
    const agent = agentUnderTest({ agent: one, whenAsked });
    const interrupt = soleInterrupt(await agent.run("go"));
    const refused = await agent.run("go");
    expect(endOf(refused)).toBe("INTERRUPT_NOT_COVERED");
    expect(refused.raw).not.toContain(proofOf(interrupt));
    expect((await agent.resume([answerTo(interrupt, "a")])).result).toBe("a");
  });

  it("and has left again abandons nothing", async () => {
    const agent = agentUnderTest({ agent: one, whenAsked: "abandon" });
    const interrupt = soleInterrupt(await agent.run("go", anna));
    const gone = requestOf({ threadId: "thread-1", runId: "gone", messages: [] }, { signal: AbortSignal.abort() });
    expect(await (await agent.handler.handle(gone, anna)).text()).toBe("");
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });
});
