import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange, requestOf } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, giveUp, isLone, soleInterrupt, typesOf } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");

describe("close", () => {
  it("is idempotent and gives every caller the same promise", async () => {
    const agent = agentUnderTest(one);
    expect(agent.handler.closing).toBe(false);
    const first = agent.handler.close({ graceMs: 0 });
    expect(agent.handler.closing).toBe(true);
    expect(agent.handler.close({ graceMs: 60_000 })).toBe(first);
    await first;
    expect(agent.handler.close()).toBe(first);
  });

  it("answers every POST with 503 from its start on, and tells when to come again; others go on", async () => {
    let identified = 0;
    const agent = agentUnderTest({
      agent: async () => {},
      cors: "*",
      identify: () => {
        identified++;
        return null;
      },
    });
    await agent.handler.close();
    for (const body of [{ threadId: "t", runId: "r", messages: [] }, { threadId: "t", resume: [{}] }, "{"]) {
      const response = await agent.handler.handle(requestOf(body));
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(await response.json()).toEqual({ error: { code: "SERVER_CLOSING", message: expect.any(String) } });
    }
    expect(identified).toBe(0);
    const served = await agent.handler.handle(new Request("http://agent.test/"));
    expect(served.status).toBe(200);
    expect((await agent.handler.handle(new Request("http://agent.test/", { method: "OPTIONS" }))).status).toBe(204);
  });

  it("stops what is held: asks reject, finally runs, and it resolves when that has unwound", async () => {
    const seen: unknown[] = [];
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      try {
        await context.input("A?");
      } catch (error) {
        seen.push(error, context.signal.reason);
        await unwinding.promise;
      } finally {
        seen.push("finally");
      }
    });
    await agent.run({ threadId: "a" });
    const closing = agent.handler.close();
    expect(await isSettled(closing)).toBe(false);
    expect(seen).toEqual([expect.objectContaining({ code: "TURN_RELEASED" }), seen[0]]);
    unwinding.resolve();
    await closing;
    expect(seen.at(-1)).toBe("finally");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("stops what runs: its run ends as cancelled, what it emits while it unwinds still goes out", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text("Working");
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      await context.text(", and stopped.");
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    await agent.handler.close();
    const run = await running;
    expect([endOf(run), run.text]).toEqual(["cancelled", "Working, and stopped."]);
  });

  it("ends what waits in line with a lone RUN_ERROR, and never starts it", async () => {
    const started: string[] = [];
    const agent = agentUnderTest(async (context) => {
      started.push(context.userText);
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
    });
    const running = agent.run("first");
    await agent.clock.advance(0);
    const waiting = [agent.run("second"), agent.run("third")];
    await agent.clock.advance(0);
    expect(agent.handler.stats().queued).toBe(2);
    await agent.handler.close({ graceMs: 0 });
    for (const run of await Promise.all(waiting)) {
      expect(isLone(run)).toBe(true);
      expect(endOf(run)).toBe("SERVER_CLOSING");
    }
    expect(endOf(await running)).toBe("cancelled");
    expect(started).toEqual(["first"]);
    expect(agent.handler.stats().queued).toBe(0);
  });

  it("resolves at the latest after closeTimeoutMs, and names every thread that did not unwind", async () => {
    const agent = agentUnderTest({
      closeTimeoutMs: 3_000,
      agent: async (context) => {
        if (context.threadId === "polite") return context.input("A?");
        await context.input("A?").catch(() => {});
        await new Promise(() => {});
      },
    });
    for (const threadId of ["polite", "stuck-1", "stuck-2"]) await agent.run({ threadId });
    const closing = agent.handler.close();
    await agent.clock.advance(2_999);
    expect(await isSettled(closing)).toBe(false);
    await agent.clock.advance(1);
    await closing;
    expect(agent.warnings.map(({ code, threadId }) => [code, threadId])).toEqual([
      ["TURN_NOT_UNWOUND", "stuck-1"],
      ["TURN_NOT_UNWOUND", "stuck-2"],
    ]);
  });

  it("waits for turns that were released before and still unwind, and names those too", async () => {
    const agent = agentUnderTest({ closeTimeoutMs: 3_000, agent: () => new Promise(() => {}) });
    const gone = await openExchange(agent.handler.handle);
    await gone.read(1);
    await gone.leave();
    await agent.clock.advance(0);
    const closing = agent.handler.close();
    await agent.clock.advance(2_999);
    expect(await isSettled(closing)).toBe(false);
    await agent.clock.advance(1);
    await closing;
    expect(agent.warnings.map(({ code, threadId }) => [code, threadId])).toEqual([["TURN_NOT_UNWOUND", "thread-1"]]);
  });

  it("refuses a run that was being read when it began", async () => {
    let entered = 0;
    const agent = agentUnderTest(async () => void entered++);
    let send: (text: string) => void = () => {};
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => {
          controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        };
      },
    });
    const reading = agent.handler.handle(
      new Request("http://agent.test/", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        duplex: "half",
      } as RequestInit),
    );
    await agent.clock.advance(0);
    await agent.handler.close();
    send(JSON.stringify({ threadId: "t", runId: "r", messages: [] }));
    const response = await reading;
    expect([response.status, (await response.json()).error.code]).toEqual([503, "SERVER_CLOSING"]);
    expect(entered).toBe(0);
  });

  it("is also what `await using` calls", async () => {
    const agent = agentUnderTest(one);
    await agent.run("go");
    const { asyncDispose } = Symbol as unknown as { asyncDispose: symbol };
    const dispose = (agent.handler as unknown as Record<symbol, () => Promise<void>>)[asyncDispose];
    await dispose?.call(agent.handler);
    expect(agent.handler.closing).toBe(true);
    expect(agent.handler.stats().held).toBe(0);
    expect(Object.keys(agent.handler)).not.toContain(asyncDispose);
  });
});

describe("close with a grace", () => {
  it("lets running exchanges end, and resolves as soon as nothing is left", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context) => {
      await gate.promise;
      await context.text("Done.");
      return context.signal.aborted;
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const closing = agent.handler.close({ graceMs: 60_000 });
    await agent.clock.advance(30_000);
    gate.resolve();
    const run = await running;
    expect([run.text, run.result, run.outcome]).toEqual(["Done.", false, { type: "success" }]);
    await closing;
    expect(agent.clock.pending).toBe(0);
  });

  it("still takes answers to held turns, and the questions that follow from them", async () => {
    const agent = agentUnderTest(async (context) => [await context.input("A?"), await context.input("B?")]);
    const a = soleInterrupt(await agent.run("go"));
    const closing = agent.handler.close({ graceMs: 60_000 });
    expect(endOf(await agent.answer(a, 5))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    const b = soleInterrupt(await agent.answer(a, "a"));
    expect(await isSettled(closing)).toBe(false);
    expect((await agent.answer(b, "b")).result).toEqual(["a", "b"]);
    await closing;
    await expect(agent.resume([answerTo(b, "b")])).rejects.toMatchObject({ code: "SERVER_CLOSING", status: 503 });
  });

  it("takes no new run, also not of an owner who would be asked again or abandons", async () => {
    for (const whenAsked of ["ask-again", "abandon"] as const) {
      const agent = agentUnderTest({ agent: one, whenAsked });
      const anna = { identity: "anna" };
      const a = soleInterrupt(await agent.run("go", anna));
      const closing = agent.handler.close({ graceMs: 60_000 });
      for (const run of [agent.run("go", anna), agent.run({ threadId: "other" }), agent.run({ resume: [] }, anna)]) {
        await expect(run).rejects.toMatchObject({ code: "SERVER_CLOSING", status: 503 });
      }
      expect(endOf(await agent.resume([giveUp(a)]))).toBe("cancelled");
      await closing;
    }
  });

  it("stops whatever is left when it is over", async () => {
    const agent = agentUnderTest(async (context) => {
      if (context.threadId === "held") return context.input("A?");
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
    });
    const a = soleInterrupt(await agent.run({ threadId: "held" }));
    const running = agent.run({ threadId: "running" });
    await agent.clock.advance(0);
    const closing = agent.handler.close({ graceMs: 5_000 });
    await agent.clock.advance(4_999);
    expect([await isSettled(closing), agent.handler.stats().held]).toEqual([false, 1]);
    await agent.clock.advance(1);
    await closing;
    expect(endOf(await running)).toBe("cancelled");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    await expect(agent.answer(a, "late")).rejects.toMatchObject({ code: "SERVER_CLOSING" });
  });

  it("ends what waits in line at once, not after the grace", async () => {
    const gate = defer();
    const agent = agentUnderTest(() => gate.promise);
    const running = agent.run("first");
    await agent.clock.advance(0);
    const waits = agent.run("second");
    await agent.clock.advance(0);
    const closing = agent.handler.close({ graceMs: 5_000 });
    expect(endOf(await waits)).toBe("SERVER_CLOSING");
    gate.resolve();
    expect(typesOf(await running)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    await closing;
  });

  it("starts no turn for an answer to what an agent keeps itself, then or after", async () => {
    let starts = 0;
    const keeping = Object.assign(
      async ({ signal }: AgentContext) => {
        starts++;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
      { keepsInterrupts: true },
    );
    const agent = agentUnderTest(keeping);
    const running = agent.run({ threadId: "busy" });
    await agent.clock.advance(0);
    const closing = agent.handler.close({ graceMs: 5_000 });
    for (const threadId of ["busy", "free"])
      expect(endOf(await agent.resume([answerTo({ id: "kept" }, "a")], { threadId }))).toBe("SERVER_CLOSING");
    await agent.clock.advance(5_000);
    await closing;
    expect(endOf(await running)).toBe("cancelled");
    expect(agent.handler.stats()).toMatchObject({ running: 0, queued: 0 });
    expect(starts).toBe(1);
  });
});
