import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import type { TestAgent } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer } from "../support/promises.ts";
import { endOf, soleInterrupt, twoInterrupts } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");
const ask = async (agent: TestAgent, threadId = "thread-1") => soleInterrupt(await agent.run({ threadId }));
const late = async (agent: TestAgent, interrupt: Interrupt) => endOf(await agent.answer(interrupt, "late"));

describe("a late answer is told why", () => {
  it("answered", async () => {
    const agent = agentUnderTest(one);
    const interrupt = await ask(agent);
    await agent.answer(interrupt, "a");
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (answered)");
  });

  it("expired, by the retention or by its own time", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all([context.input("A?"), context.input("B?", { timeoutMs: 1_000 }).catch(() => "none")]),
    );
    const [a, b] = twoInterrupts(await agent.run("go"));
    await agent.clock.advance(1_000);
    expect(await late(agent, b)).toBe("INTERRUPT_NOT_OUTSTANDING (expired)");
    await agent.clock.advance(900_000);
    expect(await late(agent, a)).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(await late(agent, b)).toBe("INTERRUPT_NOT_HELD (expired)");
  });

  it("abandoned", async () => {
    const agent = agentUnderTest(one);
    const interrupt = await ask(agent);
    await agent.abandon(interrupt);
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (abandoned)");
  });

  it("evicted", async () => {
    const agent = agentUnderTest({ agent: one, retention: { maxHeld: 1 } });
    const interrupt = await ask(agent);
    await ask(agent, "another");
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (evicted)");
  });

  it("stopped", async () => {
    const agent = agentUnderTest(one);
    const interrupt = await ask(agent);
    await agent.handler.stop("thread-1");
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (stopped)");
  });

  it("closed, when the answer was under way", async () => {
    const checking = defer<never>();
    const agent = agentUnderTest(async (context) =>
      context.input("A?", {
        jsonSchema: {},
        schema: { "~standard": { version: 1, vendor: "test", validate: () => checking.promise } },
      }),
    );
    const interrupt = await ask(agent);
    const answering = agent.answer(interrupt, "a");
    await agent.clock.advance(0);
    await agent.handler.close();
    checking.resolve({ value: "a" } as never);
    expect(endOf(await answering)).toBe("INTERRUPT_NOT_HELD (closed)");
  });

  it("ended, when its turn's function ended by itself", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context) => Promise.race([context.input("A?"), gate.promise]));
    const interrupt = await ask(agent);
    gate.resolve();
    await agent.clock.advance(0);
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (ended)");
  });

  it("other-instance, when another one or this one before it restarted has issued it", async () => {
    const before = agentUnderTest(one);
    const interrupt = await ask(before);
    const after = agentUnderTest(one);
    const refused = await after.run({
      resume: [{ interruptId: interrupt.id, status: "resolved", payload: "a" }],
    });
    expect(endOf(refused)).toBe("INTERRUPT_NOT_HELD (other-instance)");
    expect(refused.error?.message).toMatch(/restarted/);
    expect(refused.error?.message).toMatch(/threadId/);
  });

  it.each([
    "int_made-up",
    `xint_${"A".repeat(8)}_${"A".repeat(22)}`,
    "",
    "__proto__",
    `int_${"A".repeat(31)}`,
    "int_AAAAAAAA_AAAAAAAAAAAAAAAAAAAAAAA",
  ])("unknown, for the id %j, which no instance has issued", async (interruptId) => {
    const agent = agentUnderTest(one);
    await ask(agent, "another");
    expect(endOf(await agent.run({ resume: [{ interruptId, status: "cancelled" }] }))).toBe(
      "INTERRUPT_NOT_HELD (unknown)",
    );
  });

  it("unknown, for an id of this instance that is still open elsewhere", async () => {
    const agent = agentUnderTest(one);
    const interrupt = await ask(agent, "another");
    expect(endOf(await agent.answer(interrupt, "a", { threadId: "thread-1" }))).toBe("INTERRUPT_NOT_HELD (unknown)");
  });
});

describe("what became of an interrupt", () => {
  it("is told only to the thread it was issued to", async () => {
    const agent = agentUnderTest(one);
    const interrupt = await ask(agent);
    await agent.answer(interrupt, "a");
    expect(endOf(await agent.answer(interrupt, "a", { threadId: "thread-2" }))).toBe("INTERRUPT_NOT_HELD (unknown)");
    await ask(agent, "thread-3");
    expect(endOf(await agent.answer(interrupt, "a", { threadId: "thread-3" }))).toBe(
      "INTERRUPT_NOT_OUTSTANDING (unknown)",
    );
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (answered)");
  });

  it.each<[string | null, string | null]>([
    ["anna", "bert"],
    ["anna", null],
    [null, "anna"],
    ["", null],
    ["1:a", "1"],
  ])("is told only to the identity it was issued to: %j, not %j", async (owner, stranger) => {
    const agent = agentUnderTest(one);
    const interrupt = soleInterrupt(await agent.run("go", { identity: owner }));
    await agent.answer(interrupt, "a", {}, { identity: owner });
    expect(endOf(await agent.answer(interrupt, "a", {}, { identity: stranger }))).toBe("INTERRUPT_NOT_HELD (unknown)");
    expect(endOf(await agent.answer(interrupt, "a", {}, { identity: owner }))).toBe("INTERRUPT_NOT_HELD (answered)");
  });

  it("is remembered in bounded memory: the latest thousands, and not for ever", async () => {
    const agent = agentUnderTest({
      validate: false,
      retention: { maxHeld: 1 },
      agent: async (context) => {
        await Promise.all(Array.from({ length: 500 }, () => context.input("?")));
      },
    });
    const first = (await agent.handler.handle(runOf("a"))).text();
    const oldest = idsOf(await first)[0] as string;
    const causeOf = async (interruptId: string) =>
      endOf(await agent.run({ threadId: "a", resume: [{ interruptId, status: "cancelled" }] }));
    // Each further turn evicts the one before and spends its 500 questions.
    const further = async (turns: number) => {
      for (let i = 0; i < turns; i++) await (await agent.handler.handle(runOf(`${turns} ${i}`))).text();
    };
    await further(8);
    expect(await causeOf(oldest)).toBe("INTERRUPT_NOT_HELD (evicted)");
    await further(14);
    expect(await causeOf(oldest)).toBe("INTERRUPT_NOT_HELD (unknown)");
  });

  it("is remembered under keys of bounded length, which still tell threads apart", async () => {
    const agent = agentUnderTest(one);
    const long = "x".repeat(10_000);
    const interrupt = await ask(agent, `${long}1`);
    await agent.answer(interrupt, "a");
    expect(await late(agent, interrupt)).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(endOf(await agent.answer(interrupt, "a", { threadId: `${long}2` }))).toBe("INTERRUPT_NOT_HELD (unknown)");
  });
});

const runOf = (threadId: string) =>
  new Request("http://agent.test/", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ threadId, runId: "r", messages: [] }),
  });

const idsOf = (body: string): string[] => body.match(/int_[\w-]{8}_[\w-]{22}/g) ?? [];
