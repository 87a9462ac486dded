import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { type Deferred, defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, giveUp, isLone, soleInterrupt } from "../support/runs.ts";

/** An agent each of whose turns ends when the test says so; `order` has what was started. */
function gated(options = {}) {
  const gates = new Map<string, Deferred>();
  const order: string[] = [];
  const gate = (name: string) => {
    const found = gates.get(name) ?? defer();
    gates.set(name, found);
    return found;
  };
  const agent = agentUnderTest({
    ...options,
    agent: async (context) => {
      order.push(context.userText);
      if (context.userText.startsWith("ask")) await context.input("A?");
      else await gate(context.userText).promise;
      return context.userText;
    },
  });
  /** Sends a run and lets it come as far as it can. */
  const send = async (text: string, more = {}) => {
    const run = agent.run(text, more);
    await agent.clock.advance(0);
    return { run };
  };
  return { agent, order, gate, send };
}

describe("plain runs on a busy thread", () => {
  it("wait their turn, in order, and are counted", async () => {
    const { agent, order, gate, send } = gated();
    const sent = [];
    for (const name of ["1", "2", "3"]) sent.push(await send(name));
    expect(order).toEqual(["1"]);
    expect(agent.handler.stats()).toMatchObject({ running: 1, queued: 2 });
    gate("3").resolve();
    gate("1").resolve();
    await agent.clock.advance(0);
    expect(order).toEqual(["1", "2"]);
    gate("2").resolve();
    expect((await Promise.all(sent.map(({ run }) => run))).map(({ result }) => result)).toEqual(["1", "2", "3"]);
    expect(agent.handler.stats()).toMatchObject({ running: 0, queued: 0, finished: 3 });
  });

  it("are warned of once, though they are admitted twice", async () => {
    const { agent, gate, send } = gated();
    await send("1");
    const waits = agent.run({ messages: [], novelty: 1 } as object);
    await agent.clock.advance(0);
    gate("").resolve();
    gate("1").resolve();
    expect(endOf(await waits)).toBe("success");
    expect(agent.warnings.map(({ code }) => code)).toEqual(["INPUT_STRIPPED"]);
  });

  it("may be as many as queuedRuns says: eight where it does not", async () => {
    const { agent, gate, send } = gated();
    const sent = [];
    for (let i = 0; i < 9; i++) sent.push(await send(`${i}`));
    const refused = await agent.run("one too many");
    expect([endOf(refused), isLone(refused)]).toEqual(["THREAD_BUSY", true]);
    expect(agent.handler.stats()).toMatchObject({ queued: 8, refused: { THREAD_BUSY: 1 } });
    for (let i = 0; i < 9; i++) gate(`${i}`).resolve();
    expect((await Promise.all(sent.map(({ run }) => run))).every((run) => endOf(run) === "success")).toBe(true);
  });

  it("do not wait on another thread", async () => {
    const { agent, gate, send } = gated();
    const { run } = await send("1");
    gate("2").resolve();
    expect((await agent.run({ threadId: "T", messages: [{ id: "m", role: "user", content: "2" }] })).result).toBe("2");
    gate("1").resolve();
    await run;
  });

  it("are dropped before they start when their client leaves", async () => {
    const { agent, order, gate, send } = gated({ limits: { queuedRuns: 1 } });
    const { run } = await send("1");
    const waiting = await openExchange(agent.handler.handle);
    await agent.clock.advance(0);
    expect(agent.handler.stats().queued).toBe(1);
    await waiting.leave();
    await agent.clock.advance(0);
    expect(agent.handler.stats().queued).toBe(0);
    const second = await send("2");
    gate("1").resolve();
    gate("2").resolve();
    await Promise.all([run, second.run]);
    expect(order).toEqual(["1", "2"]);
    expect(agent.handler.stats()).toMatchObject({ started: 2, finished: 2 });
  });

  it("that left in the very moment their turn came are dropped too", async () => {
    const { agent, order, gate, send } = gated();
    const { run } = await send("1");
    const leaving = new AbortController();
    const waiting = await openExchange(agent.handler.handle, {}, { signal: leaving.signal });
    await agent.clock.advance(0);
    gate("1").resolve();
    leaving.abort();
    await run;
    expect(await waiting.reader.rest()).toEqual([]);
    expect(order).toEqual(["1"]);
    expect(agent.handler.stats()).toMatchObject({ queued: 0, started: 1 });
  });
});

describe("a run that waited", () => {
  it("is admitted again from the start: without an identity it finds the thread waiting for an answer", async () => {
    const { agent, order, gate } = gated();
    const asked = agent.run("ask");
    const waits = agent.run("waits");
    const interrupt = soleInterrupt(await asked);
    const refused = await waits;
    expect([endOf(refused), isLone(refused)]).toEqual(["INTERRUPT_NOT_COVERED", true]);
    expect(order).toEqual(["ask"]);
    gate("next").resolve();
    expect((await agent.answer(interrupt, "a")).result).toBe("ask");
    expect((await agent.run("next")).result).toBe("next");
  });

  it("of the identified owner is asked the question", async () => {
    const { agent } = gated();
    const anna = { identity: "anna" };
    const asked = agent.run("ask", anna);
    const waits = agent.run("waits", anna);
    const interrupt = soleInterrupt(await asked);
    expect(soleInterrupt(await waits)).toEqual(interrupt);
  });

  it("of an owner that abandons starts when the asking turn has unwound", async () => {
    const { agent, order, gate } = gated({ whenAsked: "abandon" });
    const anna = { identity: "anna" };
    const asked = agent.run("ask", anna);
    const waits = [agent.run("second", anna), agent.run("third", anna)];
    soleInterrupt(await asked);
    gate("second").resolve();
    gate("third").resolve();
    expect((await Promise.all(waits)).map(({ result }) => result)).toEqual(["second", "third"]);
    expect(order).toEqual(["ask", "second", "third"]);
  });
});

describe("a turn that its client left, and that ends when the next is at work on its thread", () => {
  /** The first turn has been left with another run waiting behind it, which is now at work. */
  async function overtaken(second: string) {
    const all = gated();
    const { agent, send } = all;
    const leaving = new AbortController();
    const first = agent.run("left", { signal: leaving.signal });
    const gone = expect(first).rejects.toThrow();
    await agent.clock.advance(0);
    const next = await send(second);
    leaving.abort();
    await gone;
    await agent.clock.advance(0);
    expect(all.order).toEqual(["left", second]);
    return { ...all, run: next.run };
  }

  it("leaves that one in its place: who follows goes on waiting", async () => {
    const { agent, order, gate, send, run } = await overtaken("second");
    const third = await send("third");
    gate("left").resolve();
    await agent.clock.advance(0);
    expect(order).toEqual(["left", "second"]);
    gate("second").resolve();
    gate("third").resolve();
    expect([(await run).result, (await third.run).result]).toEqual(["second", "third"]);
  });

  it("leaves its question open", async () => {
    const { agent, gate, run } = await overtaken("ask");
    const interrupt = soleInterrupt(await run);
    gate("left").resolve();
    await agent.clock.advance(0);
    expect(agent.handler.inspect()).toHaveLength(1);
    expect((await agent.answer(interrupt, "a")).result).toBe("ask");
  });
});

describe("a run with resume entries", () => {
  it("never waits: it is decided at once against what is held now", async () => {
    const { agent, gate, send } = gated();
    const { run } = await send("1");
    const waits = agent.run("2");
    await agent.clock.advance(0);
    const late = agent.run({ resume: [{ interruptId: "int_x", status: "cancelled" }] });
    expect(endOf(await late)).toBe("INTERRUPT_NOT_HELD (unknown)");
    expect(await isSettled(run)).toBe(false);
    gate("1").resolve();
    gate("2").resolve();
    await Promise.all([run, waits]);
  });

  it("is not counted against the queue, nor refused as busy", async () => {
    const { agent, gate, send } = gated({ limits: { queuedRuns: 0 } });
    const { run } = await send("1");
    expect(endOf(await agent.run("2"))).toBe("THREAD_BUSY");
    expect(endOf(await agent.run({ resume: [{ interruptId: "int_x", status: "resolved" }] }))).toBe(
      "INTERRUPT_NOT_HELD (unknown)",
    );
    gate("1").resolve();
    await run;
  });

  it("overtakes plain runs that come in the same moment", async () => {
    const { agent, order, gate } = gated();
    const interrupt = soleInterrupt(await agent.run("ask"));
    gate("plain").resolve();
    const plains = [1, 2, 3].map(() => agent.run("plain"));
    const answered = agent.resume([answerTo(interrupt, "a")], { threadId: "thread-1" });
    expect((await answered).result).toBe("ask");
    // Those admitted before it found a waiting thread; none took its place.
    for (const end of (await Promise.all(plains)).map(endOf))
      expect(["INTERRUPT_NOT_COVERED", "success"]).toContain(end);
    expect(order[0]).toBe("ask");
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, queued: 0 });
  });

  it("keeps the thread: what follows waits for the turn it carries, and for one that is given up", async () => {
    for (const give of ["answer", "up"]) {
      const unwinding = defer();
      const agent = agentUnderTest(async (context) => {
        if (context.userText === "next") return "next";
        await context.input("A?").catch(() => {});
        await unwinding.promise;
      });
      const interrupt = soleInterrupt(await agent.run("go"));
      const entry = give === "answer" ? answerTo(interrupt, "a") : giveUp(interrupt);
      const carried = agent.resume([entry], { threadId: "thread-1", messages: [] });
      await agent.clock.advance(0);
      const next = agent.run("next");
      expect(await isSettled(next)).toBe(false);
      unwinding.resolve();
      expect((await next).result).toBe("next");
      await carried;
    }
  });
});
