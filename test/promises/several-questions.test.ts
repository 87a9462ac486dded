import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { parallelAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer, nextTurn } from "../support/promises.ts";
import { answerTo, endOf, giveUp, proofOf, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

const three = async (context: AgentContext) =>
  Promise.all(["One?", "Two?", "Three?"].map((question) => context.input(question)));

describe("questions asked together", () => {
  it("are one outcome, each with its own id, proof and schema", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all([
        context.input("Name?"),
        context.input("Age?", { jsonSchema: { type: "integer" } }),
        context.approve({ toolCallId: "call-1", toolName: "pay", args: { eur: 5 } }),
      ]),
    );
    const { interrupts } = await agent.run("go");
    expect(interrupts.map(({ message, responseSchema }) => [message, responseSchema?.type])).toEqual([
      ["Name?", "string"],
      ["Age?", "integer"],
      ['Approve pay({"eur":5})?', undefined],
    ]);
    expect(new Set(interrupts.map(({ id }) => id)).size).toBe(3);
    expect(new Set(interrupts.map(proofOf)).size).toBe(3);
    expect(new Set(interrupts.map(({ expiresAt }) => expiresAt)).size).toBe(1);
    const [name, age, pay] = interrupts.map((interrupt, index) => answerTo(interrupt, ["Ada", 36, true][index]));
    const answered = await agent.resume([pay, name, age] as never);
    expect(answered.result).toEqual(["Ada", 36, { approved: true, args: { eur: 5 } }]);
  });

  it("are one outcome across parallel tool calls, and an answer reaches exactly the call that asked", async () => {
    const { agent: parallel, answers, entered } = parallelAgent(["a", "b", "c"]);
    const agent = agentUnderTest(parallel);
    const asked = await agent.run("go");
    const calls = asked.events.filter(({ type }) => type === "TOOL_CALL_START");
    expect(asked.interrupts.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
    const answered = await agent.resume(
      asked.interrupts.map((interrupt, index) => answerTo(interrupt, `answer ${index}`)).reverse(),
    );
    expect(answers).toEqual({ a: "answer 0", b: "answer 1", c: "answer 2" });
    expect(entered).toEqual(["a", "b", "c"]);
    expect(typesOf(answered).filter((type) => type === "TOOL_CALL_START")).toEqual([]);
    const results = answered.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
    expect(new Map(results.map(({ toolCallId, content }) => [toolCallId, content]))).toEqual(
      new Map(calls.map(({ toolCallId }, index) => [toolCallId, `answer ${index}`])),
    );
  });

  it("must all be covered by the resume (P74, P77)", async () => {
    const agent = agentUnderTest(three);
    const { interrupts } = await agent.run("go");
    const entries = interrupts.map((interrupt, index) => answerTo(interrupt, String(index)));
    for (const part of [entries.slice(0, 1), entries.slice(1), [entries[0], entries[2]]]) {
      expect(endOf(await agent.resume(part as never))).toBe("INTERRUPT_NOT_COVERED");
    }
    expect((await agent.resume(entries)).result).toEqual(["0", "1", "2"]);
  });

  it("do not take each other's proof", async () => {
    const agent = agentUnderTest(async (context) => Promise.all([context.input("A?"), context.input("B?")]));
    const [a, b] = twoInterrupts(await agent.run("go"));
    const swapped = [
      { ...answerTo(a, "a"), metadata: b.metadata ?? {} },
      { ...answerTo(b, "b"), metadata: a.metadata ?? {} },
    ];
    expect(endOf(await agent.resume(swapped))).toBe("INTERRUPT_NOT_PROVEN");
    expect((await agent.resume([answerTo(a, "a"), answerTo(b, "b")])).result).toEqual(["a", "b"]);
  });

  it("go out one turn of the event loop after the first, whatever siblings still do", async () => {
    const sibling = defer<string>();
    const agent = agentUnderTest(async (context) =>
      Promise.all([
        context.input("Early?"),
        sibling.promise,
        (async () => {
          await Promise.resolve();
          await new Promise<void>((resolve) => process.nextTick(resolve));
          // Still the same turn of the event loop.
          return context.input("Same turn?");
        })(),
        (async () => {
          await nextTurn();
          await nextTurn();
          return context.input("Later?");
        })(),
      ]),
    );
    const { interrupts } = await agent.run("go");
    expect(interrupts.map(({ message }) => message)).toEqual(["Early?", "Same turn?"]);
    sibling.resolve("done");
    const next = await agent.resume(interrupts.map((interrupt) => answerTo(interrupt, "x")));
    expect((await agent.answer(soleInterrupt(next), "y")).result).toEqual(["x", "done", "x", "y"]);
  });
});

describe("a question asked while the turn is paused", () => {
  it("is not lost, and joins the next outcome with those the answers lead to", async () => {
    const paused = defer();
    const seen: string[] = [];
    const agent = agentUnderTest(async (context) => {
      await Promise.all([
        context.input("First?").then(async (answer) => {
          seen.push(answer);
          seen.push(await context.input("Follow-up?"));
        }),
        paused.promise.then(async () => seen.push(await context.input("Meanwhile?"))),
      ]);
    });
    const first = soleInterrupt(await agent.run("go"));
    paused.resolve();
    await agent.clock.advance(0);
    expect(agent.handler.inspect()[0]?.interrupts.map(({ message }) => message)).toEqual(["First?"]);

    const [meanwhile, followUp] = twoInterrupts(await agent.answer(first, "1"));
    expect([meanwhile.message, followUp.message]).toEqual(["Meanwhile?", "Follow-up?"]);
    expect(endOf(await agent.answer(meanwhile, "2"))).toBe("INTERRUPT_NOT_COVERED");
    expect(endOf(await agent.resume([answerTo(followUp, "3"), answerTo(meanwhile, "2")]))).toBe("success");
    expect(seen).toEqual(["1", "2", "3"]);
  });

  it("goes out with the next run even when the answers lead nowhere soon", async () => {
    const paused = defer();
    const never = defer();
    const agent = agentUnderTest(async (context) => {
      await Promise.all([
        context.input("First?").then(() => never.promise),
        paused.promise.then(() => context.input("Meanwhile?")),
      ]);
    });
    const first = soleInterrupt(await agent.run("go"));
    paused.resolve();
    await agent.clock.advance(0);
    expect(soleInterrupt(await agent.answer(first, "1")).message).toBe("Meanwhile?");
  });
});

describe("the deadline of an outcome", () => {
  it("is one instant for all of its questions, counted from it", async () => {
    const agent = agentUnderTest({
      retention: { ttlMs: 60_000 },
      agent: async (context) =>
        Promise.all([context.input("A?"), context.input("B?", { timeoutMs: 30_000 }), context.input("C?")]),
    });
    const { interrupts } = await agent.run("go");
    expect(interrupts.map(({ expiresAt }) => expiresAt)).toEqual([
      "2100-01-01T00:01:00.000Z",
      "2100-01-01T00:00:30.000Z",
      "2100-01-01T00:01:00.000Z",
    ]);
  });

  it("begins anew with the next outcome, but a timeoutMs counts from its ask", async () => {
    const paused = defer();
    const agent = agentUnderTest({
      retention: { ttlMs: 60_000 },
      agent: async (context) =>
        Promise.all([
          context.input("A?"),
          paused.promise.then(() => Promise.all([context.input("B?", { timeoutMs: 50_000 }), context.input("C?")])),
        ]),
    });
    const first = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(10_000);
    paused.resolve();
    await agent.clock.advance(20_000);
    const { interrupts } = await agent.answer(first, "a");
    expect(interrupts.map(({ message, expiresAt }) => [message, expiresAt])).toEqual([
      ["B?", "2100-01-01T00:01:00.000Z"],
      ["C?", "2100-01-01T00:01:30.000Z"],
    ]);
  });

  it("that one question's own time has passed takes that question out: coverage does not ask for it", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) =>
      Promise.all([
        context.input("Quick?", { timeoutMs: 1_000 }).catch((error) => {
          seen.push(error.code);
          return "too late";
        }),
        context.input("Slow?"),
      ]),
    );
    const [quick, slow] = twoInterrupts(await agent.run("go"));
    await agent.clock.advance(1_000);
    expect(seen).toEqual(["INPUT_TIMEOUT"]);
    expect(agent.handler.inspect()[0]?.interrupts.map(({ id }) => id)).toEqual([slow.id]);
    expect(endOf(await agent.answer(quick, "late"))).toBe("INTERRUPT_NOT_OUTSTANDING (expired)");
    const answered = await agent.resume([answerTo(quick, "late"), answerTo(slow, "in time")]);
    expect(answered.result).toEqual(["too late", "in time"]);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["RESUME_ENTRY_IGNORED"]);
  });
});

describe("a resume that gives up some and answers others", () => {
  it("rejects the ones and answers the others, and the turn goes on (P74)", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const one = context.input("One?").catch((error) => seen.push(error.code));
      const two = context.input("Two?").then((answer) => seen.push(answer));
      await Promise.all([one, two]);
      seen.push(context.signal.aborted);
      return context.input("Three?");
    });
    const [one, two] = twoInterrupts(await agent.run("go"));
    const third = soleInterrupt(await agent.resume([giveUp(one), answerTo(two, "2")]));
    expect(seen).toEqual(["INTERRUPT_CANCELLED", "2", false]);
    expect((await agent.answer(third, "3")).result).toBe("3");
  });

  it("delivers nothing before everything is checked (P74)", async () => {
    const agent = agentUnderTest(async (context) =>
      Promise.all([context.input("A?"), context.input("B?", { jsonSchema: { type: "integer" } })]),
    );
    const [a, b] = twoInterrupts(await agent.run("go"));
    const refused = await agent.resume([answerTo(b, "no integer"), answerTo(a, "a")]);
    expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(refused.error?.message).toMatch(
      /\(question 2 of 2: Instance type "string" is invalid\. Expected "integer"\)\./,
    );
    expect(endOf(await agent.resume([giveUp(a), answerTo(b, 1.5)]))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await agent.resume([answerTo(a, "a"), answerTo(b, 1)])).result).toEqual(["a", 1]);
  });
});
