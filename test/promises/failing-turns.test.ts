import { describe, expect, it } from "vitest";
import { AGENT_FAILED, EventRefusedError, PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("a turn that throws", () => {
  it.each<[unknown]>([
    [new Error("postgres://user:secret@host")],
    ["secret"],
    [undefined],
    [null],
    [Object.freeze({ secret: true })],
    [new TypeError("secret", { cause: new Error("secret") })],
  ])("ends as RUN_ERROR in generic words, the cause goes to onError: %j", async (error) => {
    const agent = agentUnderTest(async (context) => {
      await context.text("Working");
      throw error;
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "RUN_ERROR"]);
    expect(run.error).toEqual({ type: "RUN_ERROR", message: "The agent failed.", code: AGENT_FAILED });
    expect(run.raw).not.toContain("secret");
    expect(agent.errors).toEqual([{ error, threadId: "thread-1", runId: "run-1" }]);
    expect(agent.handler.stats()).toMatchObject({ failed: 1, finished: 0, running: 0 });
  });

  it("says a PublicError's own words, and its code where it has one", async () => {
    const agent = agentUnderTest(async (context) => {
      throw new PublicError("No seats left.", context.userText === "code" ? { code: "NO_SEATS", cause: "secret" } : {});
    });
    expect((await agent.run("go")).error).toEqual({
      type: "RUN_ERROR",
      message: "No seats left.",
      code: "AGENT_FAILED",
    });
    const run = await agent.run("code");
    expect(run.error).toEqual({ type: "RUN_ERROR", message: "No seats left.", code: "NO_SEATS" });
    expect(run.raw).not.toContain("secret");
    expect(agent.errors).toHaveLength(2);
  });

  const TOO_LONG = "x".repeat(9 * 1024 * 1024);
  it.each<[string, PublicError, { message: string; code: string }]>([
    ["a code that is a number", new PublicError("Gone.", { code: 404 as never }), { message: "Gone.", code: "404" }],
    [
      "words too long for a frame",
      new PublicError(TOO_LONG, { code: "NO_SEATS" }),
      { message: "The agent failed.", code: "NO_SEATS" },
    ],
    [
      "a code too long for a frame",
      new PublicError("No seats left.", { code: TOO_LONG }),
      { message: "No seats left.", code: AGENT_FAILED },
    ],
  ])(
    "says a PublicError as the wire takes it, also after its run has finished: with %s",
    async (_what, error, told) => {
      const agent = agentUnderTest(async (context) => {
        if (context.userText !== "late") throw error;
        context.waitUntil(Promise.reject(error));
      });
      expect((await agent.run("go")).error).toEqual({ type: "RUN_ERROR", ...told });
      const late = await agent.run("late", { lateError: true });
      expect(late.events.at(-1)).toEqual({ type: "RUN_ERROR", ...told });
    },
  );

  it.each(["at once", "late"])("ends %s although what is thrown throws when it is looked at", async (when) => {
    const hostile = new Proxy(
      {},
      {
        getPrototypeOf() {
          throw new Error("secret");
        },
      },
    );
    const agent = agentUnderTest(async (context) => {
      if (when === "at once") throw hostile;
      context.waitUntil(Promise.reject(hostile));
    });
    const run = await agent.run("go", { lateError: when === "late" });
    expect(run.events.at(-1)).toEqual({ type: "RUN_ERROR", message: "The agent failed.", code: AGENT_FAILED });
    expect(agent.errors).toHaveLength(1);
  });

  it("synchronously ends alike", async () => {
    const agent = agentUnderTest(() => {
      throw new Error("at once");
    });
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
  });

  it.each<[string, unknown]>([
    ["a BigInt", 1n],
    ["a cycle", Object.assign([], { 0: 0 }, {})],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("no");
        },
      },
    ],
  ])("also when its result is %s, which JSON cannot say", async (what, result) => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const agent = agentUnderTest(async () => (what === "a cycle" ? cycle : result));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors).toHaveLength(1);
  });

  it("has its result said once, so that what differs the second time cannot leave the stream open", async () => {
    let asked = 0;
    const agent = agentUnderTest(async () => ({ toJSON: () => (asked++ === 0 ? "first" : 1n) }));
    expect((await agent.run("go")).result).toBe("first");
  });

  it("after the answer fails its run, and the answer is spent", async () => {
    let after = 0;
    const agent = agentUnderTest(async (context) => {
      await context.input("A?");
      after++;
      throw new Error("later");
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(interrupt, "a"))).toBe("AGENT_FAILED");
    expect(endOf(await agent.answer(interrupt, "a"))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(after).toBe(1);
  });

  it("leaves the thread free", async () => {
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "throw") throw new Error("x");
      return "fine";
    });
    const running = [agent.run("throw"), agent.run("fine")];
    expect((await Promise.all(running)).map(endOf)).toEqual(["AGENT_FAILED", "success"]);
  });
});

describe("a generator", () => {
  it("has a refused event thrown in where it yielded it, and may go on", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async function* () {
      try {
        yield { type: "TEXT_MESSAGE_END", messageId: "unknown" };
      } catch (error) {
        seen.push(error);
      }
      yield { type: "CUSTOM", name: "acme:on", value: 1 };
    });
    expect(typesOf(await agent.run("go"))).toEqual(["RUN_STARTED", "CUSTOM", "RUN_FINISHED"]);
    expect(seen).toEqual([expect.any(EventRefusedError)]);
  });

  it.each(["stop", "close", "leave"] as const)("has its return() called when its turn stops: %s", async (how) => {
    const seen: string[] = [];
    const never = defer();
    const agent = agentUnderTest(async function* () {
      try {
        // A stalled reader: the yield waits for room.
        for (;;) yield { type: "CUSTOM", name: "acme:fill", value: "x".repeat(4_096) };
      } finally {
        seen.push("returned");
        never.resolve();
      }
    });
    const open = await openExchange(agent.handler.handle);
    await open.read(3);
    await agent.clock.advance(0);
    if (how === "leave") await open.leave();
    const over = how === "stop" ? agent.handler.stop("thread-1") : how === "close" ? agent.close() : never.promise;
    if (how !== "leave") expect(endOf(await open.rest())).toBe("cancelled");
    await over;
    await never.promise;
    await agent.clock.advance(0);
    expect(seen).toEqual(["returned"]);
    expect(agent.handler.stats().running).toBe(0);
  });
});

describe("an iterator that is no generator", () => {
  it.each<[string, object]>([
    ["has no return()", {}],
    [
      "has one that throws",
      {
        return: () => {
          throw new Error("no");
        },
      },
    ],
    ["has one that gives no promise", { return: () => ({ done: true }) }],
  ])("stops all the same when it %s", async (_name, more) => {
    let last: (step: { done: true }) => void = () => {};
    const iterator = {
      next: () =>
        new Promise((resolve) => {
          last = resolve;
        }),
      [Symbol.asyncIterator]: () => iterator,
      ...more,
    };
    const agent = agentUnderTest((context) => {
      context.signal.addEventListener("abort", () => last({ done: true }));
      return iterator as never;
    });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const waiting = agent.run("next");
    await agent.clock.advance(0);
    expect(await agent.handler.stop("thread-1")).toBe(true);
    expect(endOf(await running)).toBe("cancelled");
    expect(await agent.handler.stop("thread-1")).toBe(true);
    expect(endOf(await waiting)).toBe("cancelled");
  });
});

describe("a result that is nested about as deeply as JSON.stringify takes", () => {
  it("ends its run, whether or not the last event can still say it", async () => {
    const agent = agentUnderTest(async (context) => context.run.forwardedProps?.deep);
    const end = async (depth: number): Promise<string> => {
      const body = JSON.stringify(inputOf({ forwardedProps: { deep: "@" } }));
      const request = requestOf(body.replace('"@"', "[".repeat(depth) + "]".repeat(depth)));
      const text = await (await agent.handler.handle(request)).text();
      return /"type":"(RUN_FINISHED|RUN_ERROR)"/.exec(text.slice(text.lastIndexOf("data: ")))?.[1] ?? "none";
    };
    // Where the stack is full depends on the machine: searched for, and every depth around it tried.
    let fits = 100;
    for (let step = 32_768; step > 0; step >>= 1) if ((await end(fits + step)) === "RUN_FINISHED") fits += step;
    for (let depth = fits - 20; depth < fits + 40; depth++) expect(await end(depth)).toMatch(/^RUN_/);
    expect(agent.handler.stats()).toMatchObject({ running: 0 });
  });
});
