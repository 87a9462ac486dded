import { describe, expect, it } from "vitest";
import type { AgentContext, HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { defer, isSettled } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

const anna = { identity: "anna" };

/** A turn whose client has left; `work` says what it does from then on. */
async function alone(
  work: (context: AgentContext, seen: unknown[]) => Promise<unknown>,
  options: Omit<HandlerOptions, "agent" | "clock"> & { identity?: string | null } = {},
) {
  const { identity = "anna", ...rest } = options;
  const seen: unknown[] = [];
  const gate = defer();
  const agent = agentUnderTest({
    onDisconnect: "finish",
    ...rest,
    agent: async (context) => {
      if (context.userText === "next") return "next";
      await context.text("Heard");
      await gate.promise;
      return work(context, seen);
    },
  });
  const open = await openExchange((request) => agent.handler.handle(request, { identity }));
  await open.read(3);
  await open.leave();
  await agent.clock.advance(0);
  gate.resolve();
  await agent.clock.advance(0);
  return { agent, seen };
}

describe('with onDisconnect: "finish" a turn whose client left', () => {
  it("runs on with its thread busy, and what it emits is dropped", async () => {
    const working = defer();
    const { agent, seen } = await alone(async (context, seen) => {
      seen.push(context.signal.aborted);
      for (let i = 0; i < 100; i++) await context.text("x".repeat(4_096));
      seen.push("emitted");
      await working.promise;
      seen.push("done");
    });
    expect(seen).toEqual([false, "emitted"]);
    const next = agent.run("next", anna);
    expect(await isSettled(next)).toBe(false);
    working.resolve();
    expect((await next).result).toBe("next");
    expect(seen).toEqual([false, "emitted", "done"]);
    expect(agent.handler.stats()).toMatchObject({ finished: 2, failed: 0 });
  });

  it("is held with its question for the identified owner; what it emitted from the question on is kept", async () => {
    const later = defer();
    const { agent } = await alone(async (context) => {
      await context.text(" dropped");
      const asked = context.input("A?");
      await context.text("Kept");
      await later.promise;
      await context.custom("acme:kept", 1);
      return asked;
    });
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0 });
    const again = await agent.run("next", anna);
    expect(typesOf(again)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    later.resolve();
    await agent.clock.advance(0);
    const answered = await agent.answer(soleInterrupt(again), "a");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "CUSTOM",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect([answered.text, answered.result]).toEqual(["Kept", "a"]);
  });

  it("tells its owner the state that it came to meanwhile, unless the owner holds that", async () => {
    for (const [held, told] of [
      [{ n: 1 }, ["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"]],
      [{ n: 2 }, ["RUN_STARTED", "RUN_FINISHED"]],
    ] as const) {
      const { agent } = await alone(async (context) => {
        await context.setState({ n: 2 });
        await context.input("A?");
        return context.state;
      });
      const again = await agent.run("next", anna);
      const answered = await agent.answer(soleInterrupt(again), "a", { state: held });
      expect(typesOf(answered)).toEqual(told);
      expect([answered.result, answered.state]).toEqual([{ n: 2 }, { n: 2 }]);
    }
  });

  it("holds questions asked together as one outcome", async () => {
    const { agent } = await alone(async (context) => Promise.all([context.input("A?"), context.input("B?")]));
    expect(twoInterrupts(await agent.run("next", anna)).map(({ message }) => message)).toEqual(["A?", "B?"]);
  });

  it("holds the question that was asked in the very moment the client left", async () => {
    const agent = agentUnderTest({
      onDisconnect: "finish",
      agent: async (context) => {
        await begin.promise;
        const asked = context.input("A?");
        leaving.abort();
        return asked;
      },
    });
    const begin = defer();
    const leaving = new AbortController();
    const open = await openExchange((request) => agent.handler.handle(request, anna), {}, { signal: leaving.signal });
    await open.read(1);
    begin.resolve();
    await agent.clock.advance(0);
    const again = soleInterrupt(await agent.run("go", anna));
    expect((await agent.answer(again, "a")).result).toBe("a");
  });

  it("keeps what follows a question that waits, when the client of an answer is gone at the first write", async () => {
    const gate = defer();
    const agent = agentUnderTest({
      onDisconnect: "finish",
      agent: async (context) => {
        const first = context.input("A?");
        await gate.promise;
        const second = context.input("B?");
        await context.text(`First ${await first}`);
        return second;
      },
    });
    const interrupt = soleInterrupt(await agent.run("go", anna));
    gate.resolve();
    await agent.clock.advance(0);
    const request = requestOf(inputOf({ resume: [answerTo(interrupt, "a")] }));
    let leave = () => {};
    const outlet = {
      write: () => leave(),
      full: false,
      room: () => Promise.resolve(),
      end() {},
      left(callback: () => void) {
        leave = callback;
      },
    };
    await agent.handler.exchange(
      { method: "POST", headers: request.headers, text: () => request.text() },
      outlet,
      anna,
    );
    await agent.clock.advance(0);
    const again = soleInterrupt(await agent.run("again", anna));
    expect(again.message).toBe("B?");
    const run = await agent.answer(again, "b", {}, anna);
    expect([run.text, run.result]).toEqual(["First a", "b"]);
  });

  it("lets its held question expire like any other", async () => {
    const { agent, seen } = await alone(async (context, seen) => {
      await context.input("A?").catch((error) => seen.push(error.code));
    });
    await agent.clock.advance(900_000);
    expect(seen).toEqual(["INPUT_TIMEOUT"]);
    expect((await agent.run("next", anna)).result).toBe("next");
  });

  it("without an identity has its questions rejected: nobody could be told of them", async () => {
    const { agent, seen } = await alone(
      async (context, seen) => {
        await context.input("A?").catch((error) => seen.push(error.code));
        await context.approve({ toolCallId: "c", toolName: "t", args: {} }).catch((error) => seen.push(error.code));
        seen.push(context.signal.aborted);
      },
      { identity: null },
    );
    expect(seen).toEqual(["TURN_RELEASED", "TURN_RELEASED", false]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, finished: 1 });
  });

  it("without an identity has the question rejected that was asked in the very moment the client left", async () => {
    const seen: unknown[] = [];
    const begin = defer();
    const leaving = new AbortController();
    const agent = agentUnderTest({
      onDisconnect: "finish",
      agent: async (context) => {
        await begin.promise;
        const asked = context.input("A?");
        leaving.abort();
        await asked.catch((error) => seen.push(error.code));
      },
    });
    const open = await openExchange(agent.handler.handle, {}, { signal: leaving.signal });
    await open.read(1);
    begin.resolve();
    await agent.clock.advance(0);
    expect(seen).toEqual(["TURN_RELEASED"]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("without an identity is still answered by a hook: that needs no client", async () => {
    const { agent, seen } = await alone(
      async (context, seen) => {
        seen.push(await context.input("A?").catch((error) => error.code));
        seen.push(await context.approve({ toolCallId: "c", toolName: "t", args: {} }).catch((error) => error.code));
      },
      { identity: null, humanInput: ({ kind }) => (kind === "input" ? "from the hook" : true) },
    );
    expect(seen).toEqual(["from the hook", { approved: true, args: {} }]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, finished: 1 });
  });

  it("can be stopped", async () => {
    const { agent, seen } = await alone(async (context, seen) => {
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      seen.push(context.signal.reason.code);
    });
    expect(await agent.handler.stop("thread-1", anna)).toBe(true);
    expect(seen).toEqual(["TURN_RELEASED"]);
  });

  it("that was being stopped already is released all the same", async () => {
    const unwinding = defer();
    const agent = agentUnderTest({
      onDisconnect: "finish",
      agent: async (context) => {
        if (context.userText === "next") return "next";
        await unwinding.promise;
      },
    });
    const open = await openExchange((request) => agent.handler.handle(request, anna));
    await open.read(1);
    const stopped = agent.handler.stop("thread-1", anna);
    await open.leave();
    expect((await agent.run("next", anna)).result).toBe("next");
    unwinding.resolve();
    expect(await stopped).toBe(true);
  });

  it("that throws is reported, and its thread is free", async () => {
    const failure = new Error("alone");
    const { agent } = await alone(async () => {
      throw failure;
    });
    expect(agent.errors.map(({ error }) => error)).toEqual([failure]);
    expect(agent.handler.stats()).toMatchObject({ running: 0, failed: 1 });
    expect((await agent.run("next", anna)).result).toBe("next");
  });

  it("that waits for work after its end has the failure of that reported", async () => {
    const work = defer();
    const { agent } = await alone(async (context) => context.waitUntil(work.promise));
    expect(agent.handler.stats()).toMatchObject({ running: 0, finished: 1 });
    const error = new Error("late");
    work.reject(error);
    await agent.clock.advance(0);
    expect(agent.errors).toMatchObject([{ error, threadId: "thread-1" }]);
  });

  it("shows what stayed open again when its owner comes back", async () => {
    const agent = agentUnderTest({
      onDisconnect: "finish",
      agent: async (context) =>
        context.step("plan", async () => {
          await begin.promise;
          const answer = await context.input("A?");
          await context.text("Going on");
          return answer;
        }),
    });
    const begin = defer();
    const open = await openExchange((request) => agent.handler.handle(request, anna));
    await open.read(2);
    await open.leave();
    begin.resolve();
    await agent.clock.advance(0);
    const again = soleInterrupt(await agent.run("go", anna));
    const answered = await agent.answer(again, "a");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(endOf(answered)).toBe("success");
  });
});
