import { describe, expect, it } from "vitest";
import { gatedAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";

describe("B68 the heartbeat", () => {
  it("is a comment between frames; the official client ignores it, and none follows the terminating frame", async () => {
    const { agent: gated, gates } = gatedAgent(["one", "two"]);
    const agent = agentUnderTest({ agent: gated, keepAliveMs: 25 });
    const open = await openExchange(agent.handler.fetch);
    for (const gate of gates) {
      await agent.clock.advance(50);
      gate.resolve();
    }
    const run = await open.rest();
    expect(run.raw).toMatch(/^data: /);
    for (const { raw } of open.reader.comments) expect(raw).toMatch(/^:.*\n\n$/);
    expect(open.reader.comments.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...open.reader.comments.map(({ after }) => after))).toBeLessThan(run.events.length);
    expect(run.text).toBe("onetwo");
    expect(agent.clock.pending).toBe(0);
    await agent.clock.advance(1_000);
    expect(agent.clock.pending).toBe(0);
  });

  it("no silence is longer than it, and a stream that is never silent has none", async () => {
    const { agent: gated, gates } = gatedAgent(Array(40).fill("word "));
    const agent = agentUnderTest({ agent: gated, keepAliveMs: 100 });
    const open = await openExchange(agent.handler.fetch);
    for (const gate of gates) {
      await agent.clock.advance(20);
      gate.resolve();
    }
    await open.rest();
    expect(open.reader.comments).toEqual([]);
  });

  it("is on without being asked for, each five seconds, and off when told so", async () => {
    for (const [keepAliveMs, beats] of [
      [undefined, true],
      [0, false],
    ] as const) {
      const { agent: gated, gates } = gatedAgent(["late"]);
      const agent = agentUnderTest({ agent: gated, ...(keepAliveMs === undefined ? {} : { keepAliveMs }) });
      const open = await openExchange(agent.handler.fetch);
      await open.read(1);
      await agent.clock.advance(5_000);
      gates[0]?.resolve();
      await open.rest();
      expect(open.reader.comments.length > 0).toBe(beats);
    }
  });

  it("goes on while a run waits for its thread", async () => {
    const { agent: gated, gates } = gatedAgent(["one"]);
    const agent = agentUnderTest({ agent: gated, keepAliveMs: 25 });
    const first = await openExchange(agent.handler.fetch);
    const second = await openExchange(agent.handler.fetch);
    await agent.clock.advance(100);
    gates[0]?.resolve();
    await first.rest();
    expect((await second.rest()).text).toBe("one");
    expect(second.reader.comments.filter(({ after }) => after === 0).length).toBeGreaterThanOrEqual(3);
  });
});
