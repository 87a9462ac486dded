import type { ResumeEntry } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { type AgentContext, RefusalCode } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, giveUp, isLone, proofOf, soleInterrupt, twoInterrupts } from "../support/runs.ts";

const two = async (context: AgentContext) => Promise.all([context.input("A?"), context.input("B?")]);
const one = async (context: AgentContext) => context.input("A?");
const unproven = ({ metadata: _metadata, ...entry }: ResumeEntry): ResumeEntry => entry;

/** A held turn with two questions, and what may be sent against it. */
async function held() {
  const agent = agentUnderTest(two);
  const [a, b] = twoInterrupts(await agent.run("go"));
  const unknown: ResumeEntry = { interruptId: "int_nobody", status: "resolved", payload: "x" };
  return { agent, a, b, unknown };
}

describe("each refusal, in its order", () => {
  it.each<[string, (set: Awaited<ReturnType<typeof held>>) => ResumeEntry[], string]>([
    ["an id nobody raised, one open", ({ b, unknown }) => [unknown, answerTo(b, "b")], "INTERRUPT_NOT_OUTSTANDING"],
    ["an id nobody raised, all open", ({ unknown }) => [unknown], "INTERRUPT_NOT_OUTSTANDING"],
    [
      "an id nobody raised, one open, nothing proven",
      ({ b, unknown }) => [unknown, unproven(answerTo(b, 5))],
      "INTERRUPT_NOT_OUTSTANDING",
    ],
    [
      "two differing entries of one id",
      ({ a, b }) => [answerTo(a, "a"), answerTo(a, "A"), answerTo(b, "b")],
      "INTERRUPT_NOT_OUTSTANDING",
    ],
    [
      "an answer and a giving up of one id",
      ({ a, b }) => [answerTo(a, "a"), giveUp(a), answerTo(b, "b")],
      "INTERRUPT_NOT_OUTSTANDING",
    ],
    [
      "two entries of one id that differ in their proofs",
      ({ a, b }) => [answerTo(a, "a"), unproven(answerTo(a, "a")), answerTo(b, "b")],
      "INTERRUPT_NOT_OUTSTANDING",
    ],
    ["one of two", ({ a }) => [answerTo(a, "a")], "INTERRUPT_NOT_COVERED"],
    ["one of two, unproven", ({ a }) => [unproven(answerTo(a, 5))], "INTERRUPT_NOT_COVERED"],
    ["one of two, given up", ({ b }) => [giveUp(b)], "INTERRUPT_NOT_COVERED"],
    [
      "both, one unproven and of the wrong kind",
      ({ a, b }) => [answerTo(a, "a"), unproven(answerTo(b, 5))],
      "INTERRUPT_NOT_PROVEN",
    ],
    ["both, one given up unproven", ({ a, b }) => [answerTo(a, "a"), unproven(giveUp(b))], "INTERRUPT_NOT_PROVEN"],
    ["both, one of the wrong kind", ({ a, b }) => [answerTo(a, "a"), answerTo(b, 5)], "INTERRUPT_PAYLOAD_REFUSED"],
    [
      "both, one without a payload",
      ({ a, b }) => [answerTo(a, undefined), answerTo(b, "b")],
      "INTERRUPT_PAYLOAD_REFUSED",
    ],
  ])("%s", async (_what, entries, code) => {
    const set = await held();
    const refused = await set.agent.resume(entries(set), { threadId: "thread-1" });
    expect(isLone(refused)).toBe(true);
    expect(refused.error?.code).toBe(code);
    expect(set.agent.handler.stats()).toMatchObject({ held: 1, running: 0, answered: 0, refused: { [code]: 1 } });
    // A bad resume never costs a good one its turn.
    const good = await set.agent.resume([answerTo(set.a, "a"), answerTo(set.b, "b")]);
    expect(good.result).toEqual(["a", "b"]);
  });

  it.each<[string, { resume?: ResumeEntry[] }]>([
    ["a plain run", {}],
    ["an empty resume", { resume: [] }],
  ])("%s on a waiting thread without an identity: INTERRUPT_NOT_COVERED (P77)", async (_what, input) => {
    const { agent, a, b } = await held();
    const refused = await agent.run({ ...input, messages: [{ id: "m", role: "user", content: "yes" }] });
    expect(isLone(refused)).toBe(true);
    expect(endOf(refused)).toBe("INTERRUPT_NOT_COVERED");
    for (const secret of [a.id, b.id, proofOf(a), "A?"]) expect(refused.raw).not.toContain(secret);
    expect((await agent.resume([answerTo(a, "a"), answerTo(b, "b")])).result).toEqual(["a", "b"]);
  });

  it("resume entries where nothing is held: INTERRUPT_NOT_HELD, whatever is wrong with them (P76)", async () => {
    const agent = agentUnderTest(one);
    const interrupt = soleInterrupt(await agent.run({ threadId: "other" }));
    for (const resume of [
      [answerTo(interrupt, "a")],
      [answerTo(interrupt, "a"), answerTo(interrupt, "b")],
      [unproven(answerTo(interrupt, 5))],
      [giveUp(interrupt)],
    ]) {
      const refused = await agent.run({ threadId: "never seen", resume });
      expect(isLone(refused)).toBe(true);
      expect(refused.error?.code).toBe("INTERRUPT_NOT_HELD");
    }
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });

  it("resume entries while the turn runs: INTERRUPT_NOT_HELD at once, without waiting for it", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context) => {
      const answer = await context.input("A?");
      await gate.promise;
      return answer;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const running = agent.answer(interrupt, "a");
    await agent.clock.advance(0);
    expect(endOf(await agent.answer(interrupt, "again"))).toBe("INTERRUPT_NOT_HELD (answered)");
    gate.resolve();
    expect((await running).result).toBe("a");
  });

  it("another major version: UNSUPPORTED_PROTOCOL_VERSION, before all others", async () => {
    const { agent, a, b } = await held();
    const input = { protocolVersion: "2.0", resume: [answerTo(a, "a"), answerTo(b, "b")] };
    const refused = await agent.run(input);
    expect(isLone(refused)).toBe(true);
    expect(endOf(refused)).toBe("UNSUPPORTED_PROTOCOL_VERSION");
    expect(endOf(await agent.run({ protocolVersion: "2.0", threadId: "free" }))).toBe("UNSUPPORTED_PROTOCOL_VERSION");
    expect(endOf(await agent.run({ ...input, protocolVersion: "1.0" }))).toBe("success");
  });

  it("one plain run too many on a busy thread: THREAD_BUSY", async () => {
    const gate = defer();
    const agent = agentUnderTest({ limits: { queuedRuns: 1 }, agent: () => gate.promise });
    const running = [agent.run("first"), agent.run("waits")];
    await agent.clock.advance(0);
    const refused = await agent.run("one too many");
    expect(isLone(refused)).toBe(true);
    expect(endOf(refused)).toBe("THREAD_BUSY");
    gate.resolve();
    expect((await Promise.all(running)).map(endOf)).toEqual(["success", "success"]);
  });

  it("are the codes that are exported", () => {
    expect(Object.entries(RefusalCode).every(([name, code]) => name === code)).toBe(true);
    expect(Object.keys(RefusalCode).sort()).toEqual([
      "INTERRUPT_NOT_COVERED",
      "INTERRUPT_NOT_HELD",
      "INTERRUPT_NOT_OUTSTANDING",
      "INTERRUPT_NOT_PROVEN",
      "INTERRUPT_PAYLOAD_REFUSED",
      "THREAD_BUSY",
      "UNSUPPORTED_PROTOCOL_VERSION",
    ]);
  });
});

describe("a refusal", () => {
  it("changes nothing: neither the deadline nor the place in line", async () => {
    const agent = agentUnderTest({ agent: one, retention: { ttlMs: 10_000, maxHeld: 2 } });
    const first = soleInterrupt(await agent.run({ threadId: "first" }));
    await agent.clock.advance(5_000);
    const second = soleInterrupt(await agent.run({ threadId: "second" }));
    const since = agent.handler.inspect();
    for (let i = 0; i < 10; i++) {
      await agent.answer(first, 5);
      await agent.resume([unproven(answerTo(first, "x"))]);
      await agent.run({ threadId: "first" });
      await agent.run({ threadId: "first", resume: [{ interruptId: "int_nobody", status: "resolved" }] });
    }
    expect(agent.handler.inspect()).toEqual(since);
    // The longest held is still the one that was refused so often.
    await agent.run({ threadId: "third" });
    expect(endOf(await agent.answer(first, "a"))).toBe("INTERRUPT_NOT_HELD (evicted)");
    await agent.clock.advance(9_999);
    expect(agent.handler.stats().held).toBe(2);
    await agent.clock.advance(1);
    expect(endOf(await agent.answer(second, "a"))).toBe("INTERRUPT_NOT_HELD (expired)");
  });

  it("is not heard by the agent", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      context.signal.addEventListener("abort", () => seen.push("abort"));
      await context.input("A?").then(
        (answer) => seen.push(answer),
        (error) => seen.push(error),
      );
      seen.push(context.runId);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.answer(interrupt, 5);
    await agent.resume([unproven(giveUp(interrupt))]);
    await agent.run("plain");
    expect(seen).toEqual([]);
    await agent.answer(interrupt, "a");
    expect(seen).toEqual(["a", "run-5"]);
  });

  it("says what to do and never a proof; that of a missing proof names both ways out", async () => {
    const { agent, a, b, unknown } = await held();
    const refusals = [
      await agent.resume([unproven(answerTo(a, "a")), answerTo(b, "b")]),
      await agent.resume([answerTo(a, "a")]),
      await agent.resume([answerTo(a, "a"), unknown]),
      await agent.resume([answerTo(a, 5), answerTo(b, "b")]),
      await agent.run("plain"),
    ];
    for (const { raw, error } of refusals) {
      expect(raw).not.toContain(proofOf(a));
      expect(raw).not.toContain(proofOf(b));
      expect(error?.message).toMatch(/send|answer|copy|start/i);
    }
    expect(refusals[0]?.error?.message).toMatch(/echoProofs\(\).*proof: "when-present"/);
  });
});

describe("what is odd but harmless", () => {
  it("an extra entry for an interrupt nobody raised, beside full cover, is ignored with a warning (P76)", async () => {
    const { agent, a, b, unknown } = await held();
    const more = { ...unknown, interruptId: "int_nobody_else" };
    const good = await agent.resume([unknown, answerTo(b, "b"), more, answerTo(a, "a")]);
    expect(good.result).toEqual(["a", "b"]);
    expect(agent.warnings).toEqual([
      { code: "RESUME_ENTRY_IGNORED", message: expect.stringContaining("2"), threadId: "thread-1", runId: "run-2" },
    ]);
    expect(agent.warnings[0]?.message).not.toContain("int_nobody");
  });

  it("warns once of a request, whatever is odd about it", async () => {
    const { agent, a, b, unknown } = await held();
    const more = { resume: [unknown, answerTo(b, "b"), answerTo(a, "a")], protocolVersion: "1.7", novelty: 1 };
    const good = await agent.run(more, { headers: { "x-holdline-thread": "another" } });
    expect(good.result).toEqual(["a", "b"]);
    expect(agent.warnings).toEqual([
      {
        code: "RESUME_ENTRY_IGNORED",
        message: expect.any(String),
        threadId: "thread-1",
        runId: "run-2",
        path: "novelty",
      },
    ]);
    expect(agent.warnings[0]?.message).toMatch(/1 resume entries.*novelty.*1\.7.*x-holdline-thread/s);
  });

  it("equal duplicates count as one, in whatever order their members come", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?", { jsonSchema: { type: "object" } }));
    const interrupt = soleInterrupt(await agent.run("go"));
    const { interruptId, status, metadata } = answerTo(interrupt, {});
    const good = await agent.resume([
      { interruptId, status, payload: { a: 1, b: { c: 2, d: [3, null] } }, metadata: metadata ?? {} },
      { metadata: metadata ?? {}, payload: { b: { d: [3, null], c: 2 }, a: 1 }, status, interruptId },
    ]);
    expect(good.result).toEqual({ a: 1, b: { c: 2, d: [3, null] } });
    expect(agent.warnings).toEqual([]);
  });

  it.each<[string, unknown, unknown]>([
    ["a list and an object with its places", [1], { 0: 1 }],
    ["a text and an object with its letters", "a", { 0: "a" }],
    ["nothing and an empty object", [null], [{}]],
    ["two numbers", 5, 6],
    ["two lists in another order", [1, 2], [2, 1]],
  ])("duplicates that only look alike are refused: %s", async (_what, payload, other) => {
    const agent = agentUnderTest(async (context) => context.input("A?", { jsonSchema: {} }));
    const interrupt = soleInterrupt(await agent.run("go"));
    const refused = await agent.resume([answerTo(interrupt, payload), answerTo(interrupt, other)]);
    expect(endOf(refused)).toBe("INTERRUPT_NOT_OUTSTANDING");
    expect(refused.error?.message).toMatch(/answer the same interrupt differently/);
    expect((await agent.answer(interrupt, payload)).result).toEqual(payload);
  });

  it("duplicates nested too deeply to compare are refused, and the question stays open", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?"));
    const interrupt = soleInterrupt(await agent.run("go"));
    const entry = JSON.stringify(answerTo(interrupt, "deep"));
    const deep = entry.replace('"deep"', `${"[".repeat(20_000)}${"]".repeat(20_000)}`);
    const input = JSON.stringify(inputOf({ resume: [] })).replace('"resume":[]', `"resume":[${deep},${deep}]`);
    const response = await agent.handler.handle(requestOf(input));
    expect(await response.text()).toContain('"code":"INTERRUPT_NOT_OUTSTANDING"');
    expect((await agent.answer(interrupt, "yes")).result).toBe("yes");
  });
});
