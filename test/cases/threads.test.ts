import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { type AgentContext, createHandler } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange, inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { defer, nextTurn } from "../support/promises.ts";
import { answerTo, endOf, isLone, soleInterrupt, typesOf } from "../support/runs.ts";

describe("B34 a plain run on a thread that waits for an answer", () => {
  it.each([
    ["a new message", {}],
    ["an empty resume", { resume: [] }],
  ])("%s is refused, is no answer, and leaves the question open", async (_what, extra) => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const refused = await agent.run({ messages: [{ id: "m", role: "user", content: "yes" }], ...extra });
    expect(isLone(refused)).toBe(true);
    expect(endOf(refused)).toBe("INTERRUPT_NOT_COVERED");
    expect(asking).toMatchObject({ entered: 1, answers: [] });
    expect(typesOf(await agent.answer(interrupt, "no"))).toEqual(ANSWERED);
    expect(asking.answers).toEqual(["no"]);
  });
});

describe("B35 a question nobody answers", () => {
  it("ends at its deadline without any traffic, and leaves nothing behind", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest({ agent: asking.agent, retention: { ttlMs: 200 } });
    const interrupt = soleInterrupt(await agent.run("Book it"));
    await agent.clock.advance(199);
    expect(asking.rejections).toEqual([]);
    await agent.clock.advance(1);
    expect(asking.rejections).toMatchObject([{ code: "INPUT_TIMEOUT" }]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, queued: 0, expired: 1 });
    expect(agent.handler.inspect()).toEqual([]);
    expect(agent.clock.pending).toBe(0);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(typesOf(await agent.run("Another"))).toEqual(ASKED);
    expect(asking).toMatchObject({ entered: 2, after: 0 });
  });

  it("can be given up before", async () => {
    const agent = agentUnderTest({ agent: askingAgent().agent, retention: { ttlMs: 200 } });
    expect(endOf(await agent.abandon(soleInterrupt(await agent.run("Book it"))))).toBe("cancelled");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, abandoned: 1 });
    expect(agent.clock.pending).toBe(0);
  });
});

describe("B36 a thread has one turn at a time", () => {
  /** Writes `count` deltas, each when the test lets it. */
  function steppingAgent(count: number) {
    const gates = Array.from({ length: count }, () => defer());
    const seen = { entered: [] as string[], aborted: false };
    const agent = async (context: AgentContext) => {
      seen.entered.push(context.runId);
      context.signal.addEventListener("abort", () => {
        seen.aborted = true;
      });
      const messageId = `message of ${context.runId}`;
      await context.emit({ type: "TEXT_MESSAGE_START", messageId });
      for (const [i, gate] of gates.entries()) {
        await gate.promise;
        await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId, delta: `${i};` });
      }
      await context.emit({ type: "TEXT_MESSAGE_END", messageId });
    };
    return { agent, seen, gates };
  }

  it("a second plain run waits, and the first one's bytes are those of a run alone", async () => {
    const raw: string[] = [];
    for (const others of [0, 3]) {
      const { agent: stepping, seen, gates } = steppingAgent(3);
      const agent = agentUnderTest(stepping);
      const first = await openExchange(agent.handler.fetch, { runId: "first" });
      await first.read(2);
      const waiting = Array.from({ length: others }, (_, i) => agent.run({ runId: `later-${i}` }));
      for (const gate of gates) {
        gate.resolve();
        await agent.clock.advance(0);
      }
      raw.push((await first.rest()).raw);
      expect((await Promise.all(waiting)).map(({ text }) => text)).toEqual(Array(others).fill("0;1;2;"));
      expect(seen.entered).toEqual(["first", "later-0", "later-1", "later-2"].slice(0, 1 + others));
      expect(seen.aborted).toBe(false);
    }
    expect(raw[1]).toBe(raw[0]);
  });

  it("past the queue it is refused, and those that wait run in order", async () => {
    const { agent: stepping, seen, gates } = steppingAgent(1);
    const agent = agentUnderTest({ agent: stepping, limits: { queuedRuns: 2 } });
    const runs = ["a", "b", "c", "d"].map((runId) => agent.run({ runId }));
    const refused = await (runs[3] as (typeof runs)[0]);
    expect([endOf(refused), isLone(refused)]).toEqual(["THREAD_BUSY", true]);
    expect(agent.handler.stats()).toMatchObject({ running: 1, queued: 2 });
    gates[0]?.resolve();
    expect((await Promise.all(runs.slice(0, 3))).map(endOf)).toEqual(["success", "success", "success"]);
    expect(seen.entered).toEqual(["a", "b", "c"]);
  });

  it("a held question outlives plain runs, bad resumes and garbage, all at once", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const garbage = ["{", "[]", '{"threadId":"thread-1"}', "\u0000", '{"threadId":"thread-1","runId":1,"messages":{}}'];
    const ends = await Promise.all([
      ...Array.from({ length: 20 }, () => agent.run("Something else").then(endOf)),
      ...Array.from({ length: 20 }, (_, i) =>
        agent.answer({ ...interrupt, metadata: { holdline: { proof: `${i}` } } }, "no").then(endOf),
      ),
      ...Array.from({ length: 20 }, () => agent.answer(interrupt, { not: "a string" }).then(endOf)),
      ...garbage.map((body) => agent.handler.fetch(requestOf(body)).then(({ status }) => status)),
    ]);
    expect(new Set(ends)).toEqual(
      new Set(["INTERRUPT_NOT_COVERED", "INTERRUPT_NOT_PROVEN", "INTERRUPT_PAYLOAD_REFUSED", 400]),
    );
    expect(agent.handler.stats()).toMatchObject({ held: 1, queued: 0 });
    expect(typesOf(await agent.answer(interrupt, "yes"))).toEqual(ANSWERED);
    expect(asking).toMatchObject({ entered: 1, answers: ["yes"] });
  });

  it("while an answered turn goes on, a resume is refused at once and a plain run waits for its end", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      agent: async (context: AgentContext) => {
        const answer = await context.input("Book LH441?");
        await context.text(answer);
        await gate.promise;
      },
      limits: { queuedRuns: 1 },
    });
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const answered = await openExchange(agent.handler.fetch, { resume: [answerTo(interrupt, "yes")] });
    await answered.read(3);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (answered)");
    const waiting = agent.run("Next");
    expect(endOf(await agent.run("Too many"))).toBe("THREAD_BUSY");
    gate.resolve();
    expect(endOf(await answered.rest())).toBe("success");
    expect(endOf(await waiting)).toBe("interrupt");
  });

  it("the run sent the instant the terminating frame is read is never refused, a hundred times", async () => {
    const agent = agentUnderTest({ agent: async (context) => context.text("Hello"), limits: { queuedRuns: 0 } });
    for (let time = 0; time < 100; time++) {
      const open = await openExchange(agent.handler.fetch);
      const types: string[] = [];
      while (types.at(-1) !== "RUN_FINISHED") types.push(...(await open.read(1)).map(({ type }) => type));
      expect(endOf(await exchange(agent.handler.fetch))).toBe("success");
      await open.rest();
    }
  }, 240_000);

  it("the answer sent the instant its question is read is never refused, five hundred times", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    for (let time = 0; time < 500; time++) {
      const open = await openExchange(agent.handler.fetch);
      const events = await open.read(ASKED.length);
      const { outcome } = events.at(-1) as unknown as { outcome: { interrupts: Interrupt[] } };
      const resume = outcome.interrupts.map((interrupt) => answerTo(interrupt, `${time}`));
      const response = await agent.handler.fetch(requestOf(inputOf({ resume })));
      expect(await response.text()).toContain('"outcome":{"type":"success"}');
      await open.leave();
    }
    expect(asking.answers).toEqual(Array.from({ length: 500 }, (_, time) => `${time}`));
  }, 240_000);
});

describe("B38 questions that nobody waits for", () => {
  it("asked and not awaited, the function returns: the run ends, and the question is never shown", async () => {
    let outcome = "";
    const agent = agentUnderTest(async (context) => {
      context.input("Anybody?").then(
        () => {
          outcome = "answered";
        },
        (error) => {
          outcome = error.code;
        },
      );
      return "done";
    });
    const run = await agent.run("Go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run).toMatchObject({ outcome: { type: "success" }, result: "done" });
    expect(outcome).toBe("TURN_RELEASED");
    await agent.clock.advance(1_000_000);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect(agent.clock.pending).toBe(0);
  });

  it("the function returns while its question is out: it is released, with the cause", async () => {
    const gate = defer();
    const effects: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      void context.toolCall("book", {}, async (_args, tool) => effects.push(await tool.input("Book?")));
      await gate.promise;
      return "done";
    });
    const run = await agent.run("Go");
    const interrupt = soleInterrupt(run);
    gate.resolve();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, finished: 1 });
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (ended)");
    await agent.clock.advance(1_000_000);
    expect(effects).toEqual([]);
  });

  it("asked, not awaited, and then it throws: the run ends in the error", async () => {
    const agent = agentUnderTest(async (context) => {
      void context.input("Anybody?");
      throw new Error("Enough.");
    });
    const run = await agent.run("Go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(endOf(run)).toBe("AGENT_FAILED");
    await agent.clock.advance(1_000_000);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("asked after its end it rejects, and holds nothing", async () => {
    let kept: AgentContext | undefined;
    const agent = agentUnderTest(async (context) => {
      kept = context;
    });
    await agent.run("Go");
    const { input, approve, text } = kept as AgentContext;
    await expect(input("Late?")).rejects.toMatchObject({ code: "TURN_ENDED" });
    await expect(approve({ toolCallId: "c", toolName: "t", args: {} })).rejects.toMatchObject({ code: "TURN_ENDED" });
    await expect(text("late")).rejects.toMatchObject({ code: "TURN_ENDED" });
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect(agent.clock.pending).toBe(0);
  });
});

describe("B45 many threads at once", () => {
  /** Deterministic, so that a failure can be had again. */
  function createDice(seed: number): (sides: number) => number {
    let state = seed;
    return (sides) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % sides;
    };
  }

  it("two hundred, asking and streaming, never cross", async () => {
    const roll = createDice(45);
    const agent = agentUnderTest({
      agent: async (context: AgentContext) => {
        for (let i = 0; i < 3; i++) {
          for (let turns = roll(5); turns > 0; turns--) await nextTurn();
          await context.text(`[${context.threadId}]`);
        }
        if (context.userText === "ask") await context.text(`[${await context.input(`${context.threadId}?`)}]`);
      },
      retention: { maxHeld: 200 },
    });
    const oneThread = async (i: number): Promise<void> => {
      const threadId = `thread ${i}`;
      const asks = i % 2 === 0;
      const run = await agent.run({ threadId, messages: [{ id: "m", role: "user", content: asks ? "ask" : "tell" }] });
      expect(run.text).toBe(`[${threadId}]`.repeat(3));
      if (!asks) return;
      const interrupt = soleInterrupt(run);
      expect(interrupt.message).toBe(`${threadId}?`);
      for (let turns = roll(5); turns > 0; turns--) await nextTurn();
      expect((await agent.answer(interrupt, `answer of ${threadId}`)).text).toBe(`[answer of ${threadId}]`);
    };
    await Promise.all(Array.from({ length: 200 }, (_, i) => oneThread(i)));
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, started: 200, finished: 200, answered: 100 });
  }, 240_000);

  it("two instances of one agent share no held turn", async () => {
    const asking = askingAgent();
    const one = agentUnderTest(asking.agent);
    const other = createHandler({ agent: asking.agent });
    const interrupt = soleInterrupt(await one.run("Book it"));
    const elsewhere = await exchange(other.fetch, { resume: [answerTo(interrupt, "yes")] });
    expect(endOf(elsewhere)).toBe("INTERRUPT_NOT_HELD (other-instance)");
    expect(other.stats()).toMatchObject({ held: 0, started: 0 });
    expect(endOf(await one.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});
