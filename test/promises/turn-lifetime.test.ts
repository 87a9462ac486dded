import { describe, expect, it } from "vitest";
import { type AgentContext, TurnEndedError, TurnReleasedError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, giveUp, isLone, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

describe("a turn ends with its function", () => {
  it.each<[unknown, unknown]>([
    [undefined, undefined],
    [null, undefined],
    [0, 0],
    [false, false],
    ["", ""],
    [[], []],
    [{ a: undefined, b: null }, { b: null }],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [Number.NaN, undefined],
    [() => {}, undefined],
    [Symbol("s"), undefined],
  ])("and what it returns is the result: %j", async (returned, result) => {
    const agent = agentUnderTest(async () => returned);
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run.result).toEqual(result);
    expect("result" in (run.events[1] ?? {})).toBe(result !== undefined);
    expect(run.outcome).toEqual({ type: "success" });
  });

  it("and what a generator returns is the result, what it yields goes out", async () => {
    const agent = agentUnderTest(async function* (context) {
      yield { type: "CUSTOM", name: "acme:step", value: 1 };
      const answer = await context.input("A?");
      yield { type: "CUSTOM", name: "acme:step", value: 2 };
      return answer;
    });
    const asked = await agent.run("go");
    expect(typesOf(asked)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    const answered = await agent.answer(soleInterrupt(asked), "a");
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    expect(answered.result).toBe("a");
  });

  it("a question that had not gone out by then is never shown, and rejects", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      void context.input("Never shown?").catch((error) => seen.push(error));
      return "done";
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run.result).toBe("done");
    expect(seen).toEqual([expect.any(TurnReleasedError)]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("a question that is open by then is released (ended), and the thread is free", async () => {
    const gate = defer();
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "again") return "new turn";
      const asked = context.input("A?");
      asked.catch((error) => seen.push(error));
      await Promise.race([asked, gate.promise]);
      return "went on without";
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    gate.resolve();
    await agent.clock.advance(0);
    expect(seen).toEqual([expect.any(TurnReleasedError)]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, finished: 1 });
    expect(endOf(await agent.answer(interrupt, "late"))).toBe("INTERRUPT_NOT_HELD (ended)");
    expect((await agent.run("again")).result).toBe("new turn");
  });

  it("nothing can be asked or emitted afterwards, and no hold comes of it", async () => {
    let context: AgentContext | undefined;
    const agent = agentUnderTest(async (given) => {
      context = given;
    });
    await agent.run("go");
    const after = context as AgentContext;
    for (const late of [
      after.input("A?"),
      after.ask({ reason: "r", message: "?" }),
      after.approve({ toolCallId: "c", toolName: "t", args: {} }),
      after.text("x"),
      after.reasoning("x"),
      after.emit({ type: "CUSTOM", name: "x", value: 1 }),
      after.custom("x", 1),
      after.setState({}),
      after.patchState([]),
      after.activity({ activityType: "x" }),
      after.toolCall("t", {}, () => 1),
      after.step("s", () => 1),
      after.subagent({ name: "s" }, () => 1),
    ]) {
      await expect(late).rejects.toBeInstanceOf(TurnEndedError);
    }
    expect(() => after.inputRequired("?")).toThrow(TurnEndedError);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, started: 1, finished: 1 });
    expect(after.signal.aborted).toBe(false);
  });

  it("its next run may be sent the moment its last event is read", async () => {
    const agent = agentUnderTest(async (context) => context.userText);
    for (let i = 0; i < 100; i++) {
      const open = await openExchange(agent.handler.handle, {});
      for (;;) if ((await open.read(1))[0]?.type === "RUN_FINISHED") break;
      expect(agent.handler.stats().running).toBe(0);
      await open.rest();
    }
    expect(agent.handler.stats()).toMatchObject({ started: 100, finished: 100, queued: 0 });
  });
});

describe("a turn whose client left and that is still unwinding", () => {
  it("does not touch the thread's next turn when it ends", async () => {
    const unwinding = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText !== "Book LH441, please") return context.input("New?");
      await unwinding.promise;
    });
    const old = await openExchange(agent.handler.handle);
    await old.read(1);
    await old.leave();
    await agent.clock.advance(0);
    const interrupt = soleInterrupt(await agent.run("next"));
    unwinding.resolve();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0 });
    expect(endOf(await agent.run("plain"))).toBe("INTERRUPT_NOT_COVERED");
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });

  it("does not let a waiting run past the one that is active", async () => {
    const unwinding = defer();
    const gate = defer();
    const order: string[] = [];
    const agent = agentUnderTest(async (context) => {
      order.push(context.userText);
      if (context.userText === "Book LH441, please") await unwinding.promise;
      if (context.userText === "second") await gate.promise;
      order.push(`${context.userText} ended`);
    });
    const old = await openExchange(agent.handler.handle);
    await old.read(1);
    await old.leave();
    await agent.clock.advance(0);
    const second = agent.run("second");
    await agent.clock.advance(0);
    const third = agent.run("third");
    await agent.clock.advance(0);
    unwinding.resolve();
    await agent.clock.advance(0);
    expect(order).toEqual(["Book LH441, please", "second", "Book LH441, please ended"]);
    gate.resolve();
    await Promise.all([second, third]);
    expect(order.slice(3)).toEqual(["second ended", "third", "third ended"]);
  });
});

describe("a turn that ends by an abandoned question while another is asked", () => {
  it("is not held any more, although a call still runs: nothing answers it, nothing asks it again", async () => {
    const later = defer();
    const call = defer();
    const agent = agentUnderTest(async (context) => {
      const first = context.input("A?").catch(async (error) => {
        await later.promise;
        throw error;
      });
      const second = context.input("B?").then(() => context.input("C?"));
      void context.toolCall("slow", {}, () => call.promise);
      await Promise.all([first, second]);
    });
    const anna = { identity: "anna" };
    const [a, b] = twoInterrupts(await agent.run("go", anna));
    const c = soleInterrupt(await agent.resume([giveUp(a), answerTo(b, "b")]));
    later.resolve();
    await agent.clock.advance(0);
    const late = await agent.answer(c, "c");
    expect(isLone(late)).toBe(true);
    expect(endOf(late)).toBe("INTERRUPT_NOT_HELD (ended)");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 1 });
    const next = agent.run("next", anna);
    expect(await isSettled(next)).toBe(false);
    call.resolve();
    expect(twoInterrupts(await next)).toHaveLength(2);
  });
});
