import { describe, expect, it } from "vitest";
import type { AgentContext, HandlerOptions, StandardSchemaV1 } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { createLateClock } from "../support/late-clock.ts";
import { openExchange } from "../support/open-exchange.ts";
import { type Deferred, defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts } from "../support/runs.ts";
import { schemaOf } from "../support/schemas.ts";

type Checked = StandardSchemaV1.Result<string>;

/** A schema whose every check the test settles: `checks` has them in the order they were asked for. */
function slowSchema() {
  const checks: (Deferred<Checked> & { readonly given: unknown })[] = [];
  const schema = schemaOf<string>((given) => {
    const check = { ...defer<Checked>(), given };
    checks.push(check);
    return check.promise;
  });
  return { schema, checks };
}

/** An agent that asks once with a slow schema, its question out, and an answer under way. */
async function answering(options: Omit<HandlerOptions, "agent"> & { identity?: string } = {}) {
  const { identity, clock: _clock, ...rest } = options;
  const { schema, checks } = slowSchema();
  const seen: unknown[] = [];
  const clock = createLateClock();
  const agent = agentUnderTest({
    ...rest,
    clock,
    agent: async (context: AgentContext) => {
      if (context.userText === "other") return "other";
      const answer = await context.input("A?", { schema }).catch((error) => {
        seen.push(error.code);
        throw error;
      });
      seen.push(answer);
      return answer;
    },
  });
  const as = identity === undefined ? {} : { identity };
  const interrupt = soleInterrupt(await agent.run("go", as));
  const running = agent.answer(interrupt, "a", {}, as);
  await clock.advance(0);
  expect(checks).toHaveLength(1);
  return { agent, clock, interrupt, running, seen, checks, as };
}

const check = (at: { checks: Deferred<Checked>[] }, index: number, value = "checked") => {
  at.checks[index]?.resolve({ value });
  return at;
};

describe("while an asynchronous schema runs", () => {
  it("the turn stays held, and the answer is delivered once it has said yes", async () => {
    const at = await answering();
    expect(at.agent.handler.stats()).toMatchObject({ held: 1, running: 0, answered: 0 });
    expect(await isSettled(at.running)).toBe(false);
    expect(at.seen).toEqual([]);
    check(at, 0, "transformed");
    expect((await at.running).result).toBe("transformed");
    expect(at.checks).toHaveLength(1);
  });

  it("a refusal leaves everything as it was", async () => {
    const at = await answering();
    at.checks[0]?.resolve({ issues: [{ message: "too late at night" }] });
    const refused = await at.running;
    expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(refused.error?.message).toContain("too late at night");
    const good = at.agent.answer(at.interrupt, "b");
    await at.clock.advance(0);
    check(at, 1);
    expect((await good).result).toBe("checked");
  });

  it("of fifty equal resumes exactly one acts, whatever the order in which their checks end", async () => {
    const at = await answering();
    const runs = [at.running, ...Array.from({ length: 49 }, () => at.agent.answer(at.interrupt, "a"))];
    await at.clock.advance(0);
    expect(at.checks).toHaveLength(50);
    for (const index of [17, 3, ...Array.from({ length: 50 }, (_, i) => 49 - i)]) check(at, index, `check ${index}`);
    const ends = (await Promise.all(runs)).map(endOf);
    expect(ends.filter((end) => end === "success")).toHaveLength(1);
    expect(ends[17]).toBe("success");
    expect(ends.filter((end) => end === "INTERRUPT_NOT_HELD (answered)")).toHaveLength(49);
    expect(at.seen).toEqual(["check 17"]);
  });

  it("another answer may overtake it", async () => {
    const at = await answering();
    const second = at.agent.answer(at.interrupt, "b");
    await at.clock.advance(0);
    check(at, 1, "second");
    expect((await second).result).toBe("second");
    check(at, 0, "first");
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(at.seen).toEqual(["second"]);
  });

  it("it may be given up meanwhile", async () => {
    const at = await answering();
    expect(endOf(await at.agent.abandon(at.interrupt))).toBe("cancelled");
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (abandoned)");
    expect(at.seen).toEqual(["INTERRUPT_CANCELLED"]);
  });

  it.each(["timer", "arrival"])("its deadline may pass: by %s", async (by) => {
    const at = await answering({ retention: { ttlMs: 1_000 } });
    if (by === "timer") await at.clock.advance(1_000);
    else at.clock.jump(1_000);
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(at.seen).toEqual(["INPUT_TIMEOUT"]);
  });

  it("its deadline stands where it stood, however long the check takes", async () => {
    const at = await answering({ retention: { ttlMs: 1_000 } });
    await at.clock.advance(999);
    check(at, 0);
    expect((await at.running).result).toBe("checked");
  });

  it("it may be evicted", async () => {
    const at = await answering({ retention: { maxHeld: 1 } });
    await at.agent.run({ threadId: "another" });
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (evicted)");
    expect(at.seen).toEqual(["TURN_RELEASED"]);
  });

  it("it may be stopped", async () => {
    const at = await answering();
    expect(await at.agent.handler.stop("thread-1")).toBe(true);
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (stopped)");
  });

  it("the handler may close, with a grace in which the answer is still taken", async () => {
    const at = await answering();
    const closing = at.agent.handler.close({ graceMs: 5_000 });
    await at.clock.advance(4_999);
    check(at, 0);
    expect((await at.running).result).toBe("checked");
    await closing;
  });

  it("the client may leave: nothing is delivered, and another answer is taken", async () => {
    const at = await answering();
    const leaving = await openExchange(at.agent.handler.handle, { resume: [answerTo(at.interrupt, "gone")] });
    await at.clock.advance(0);
    await leaving.leave();
    await at.clock.advance(0);
    check(at, 1, "of a client that left");
    await at.clock.advance(0);
    expect(at.seen).toEqual([]);
    expect(at.agent.handler.stats()).toMatchObject({ held: 1, answered: 0 });
    check(at, 0, "of one that stayed");
    expect((await at.running).result).toBe("of one that stayed");
  });

  it("the owner may ask for the question again, and answer it", async () => {
    const at = await answering({ identity: "anna" });
    const again = soleInterrupt(await at.agent.run("go", at.as));
    expect(again).toEqual(at.interrupt);
    check(at, 0);
    expect((await at.running).result).toBe("checked");
  });

  it("the owner may abandon it by a plain run", async () => {
    const at = await answering({ identity: "anna", whenAsked: "abandon" });
    const next = at.agent.run("other", at.as);
    await at.clock.advance(0);
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (abandoned)");
    expect((await next).result).toBe("other");
  });

  it("the thread may have gone on to a turn of its own: the answer does not reach that one", async () => {
    const at = await answering();
    await at.agent.abandon(at.interrupt);
    const other = soleInterrupt(await at.agent.run("go"));
    check(at, 0);
    expect(endOf(await at.running)).toBe("INTERRUPT_NOT_HELD (abandoned)");
    const right = at.agent.answer(other, "b");
    await at.clock.advance(0);
    check(at, 1, "right");
    expect((await right).result).toBe("right");
  });

  it("the turn may have gone on to its next question: the answer does not reach that one", async () => {
    const { schema, checks } = slowSchema();
    const agent = agentUnderTest(async (context) => [await context.input("A?", { schema }), await context.input("B?")]);
    const a = soleInterrupt(await agent.run("go"));
    const slow = agent.answer(a, "slow");
    await agent.clock.advance(0);
    const fast = agent.answer(a, "fast");
    await agent.clock.advance(0);
    checks[1]?.resolve({ value: "fast" });
    const b = soleInterrupt(await fast);
    checks[0]?.resolve({ value: "slow" });
    // Told as soon as the other answer was taken: nothing was held at that instant.
    expect(endOf(await slow)).toBe("INTERRUPT_NOT_HELD (answered)");
    expect((await agent.answer(b, "b")).result).toEqual(["fast", "b"]);
  });
});

describe("a check that never settles is waited for only while the turn is held", () => {
  const ends: [string, string, (at: Awaited<ReturnType<typeof answering>>) => Promise<unknown>][] = [
    ["its deadline", "expired", (at) => at.clock.advance(1_000)],
    ["its being given up", "abandoned", (at) => at.agent.abandon(at.interrupt)],
    ["an eviction", "evicted", (at) => at.agent.run({ threadId: "another" })],
    ["a stop", "stopped", (at) => at.agent.handler.stop("thread-1")],
    ["a close", "closed", (at) => at.agent.handler.close()],
  ];

  it.each(ends)("until %s", async (_name, cause, end) => {
    const at = await answering({ retention: { ttlMs: 1_000, maxHeld: 1 } });
    await end(at);
    expect(endOf(await at.running)).toBe(`INTERRUPT_NOT_HELD (${cause})`);
    // However the check ends after all, nothing comes of it.
    check(at, 0);
    await at.clock.advance(0);
    expect(at.agent.handler.stats().answered).toBe(0);
    expect(at.seen).not.toContain("checked");
  });
});

describe("several questions, of which one is checked slowly", () => {
  const two = async () => {
    const { schema, checks } = slowSchema();
    const agent = agentUnderTest(async (context) =>
      Promise.all([
        context.input("A?", { schema }),
        context.input("B?", { timeoutMs: 1_000 }).catch((error) => error.code),
      ]),
    );
    const [a, b] = twoInterrupts(await agent.run("go"));
    return { agent, a, b, checks };
  };

  it("are delivered together, or not at all", async () => {
    const { agent, a, b, checks } = await two();
    const running = agent.resume([answerTo(a, "a"), answerTo(b, "b")]);
    await agent.clock.advance(0);
    expect(agent.handler.stats().answered).toBe(0);
    checks[0]?.resolve({ issues: [{ message: "no" }] });
    expect(endOf(await running)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(agent.handler.inspect()[0]?.interrupts).toHaveLength(2);
    const again = agent.resume([answerTo(a, "a"), answerTo(b, "b")]);
    await agent.clock.advance(0);
    checks[1]?.resolve({ value: "A" });
    expect((await again).result).toEqual(["A", "b"]);
  });

  it("may lose one of them to its own deadline meanwhile: the other is delivered", async () => {
    const { agent, a, b, checks } = await two();
    const running = agent.resume([answerTo(a, "a"), answerTo(b, "b")]);
    await agent.clock.advance(1_000);
    checks[0]?.resolve({ value: "A" });
    expect((await running).result).toEqual(["A", "INPUT_TIMEOUT"]);
    // Settled once, and told as what it was.
    expect(agent.handler.stats()).toMatchObject({ answered: 1, expired: 1 });
    expect(endOf(await agent.answer(b, "late"))).toBe("INTERRUPT_NOT_HELD (expired)");
  });

  it("reject what was given up only with the rest", async () => {
    const { agent, a, b, checks } = await two();
    const running = agent.resume([answerTo(a, "a"), giveUp(b)]);
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ abandoned: 0, held: 1 });
    checks[0]?.resolve({ value: "A" });
    expect((await running).result).toEqual(["A", "INTERRUPT_CANCELLED"]);
  });
});
