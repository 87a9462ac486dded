import { EventSchema } from "@ag-ui/core/schemas";
import { describe, expect, it, vi } from "vitest";
import { createHandler, type HandlerOptions } from "../../src/index.ts";
import { createTestClock } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange, requestOf } from "../support/open-exchange.ts";
import { soleInterrupt } from "../support/runs.ts";

const create = (options: Record<string, unknown>) =>
  createHandler({ agent: async () => {}, ...options } as HandlerOptions);
const NUMBERS = ["5", null, Number.NaN, Infinity, -Infinity, -1, {}];

describe("an option outside its range", () => {
  it.each<[string, (value: unknown) => Record<string, unknown>, unknown[]]>([
    ["retention.ttlMs", (ttlMs) => ({ retention: { ttlMs } }), [...NUMBERS, 0, 8.64e15]],
    ["retention.maxHeld", (maxHeld) => ({ retention: { maxHeld } }), [...NUMBERS, 0, 1.5]],
    ["retention.maxHeldPerIdentity", (n) => ({ retention: { maxHeldPerIdentity: n } }), [...NUMBERS, 0, 1.5]],
    ["keepAliveMs", (keepAliveMs) => ({ keepAliveMs }), NUMBERS],
    ["limits.bodyBytes", (bodyBytes) => ({ limits: { bodyBytes } }), [...NUMBERS, 0, 1.5]],
    ["limits.queuedRuns", (queuedRuns) => ({ limits: { queuedRuns } }), [...NUMBERS, 1.5]],
    ["limits.keptEvents", (keptEvents) => ({ limits: { keptEvents } }), [...NUMBERS, 0, 1.5]],
    ["closeTimeoutMs", (closeTimeoutMs) => ({ closeTimeoutMs }), NUMBERS],
  ])("%s is a RangeError at creation", (name, optionsOf, values) => {
    // `null` is taken for an option that was left out.
    for (const value of values.filter((one) => one !== null)) {
      expect(() => create(optionsOf(value)), String(value)).toThrow(RangeError);
      expect(() => create(optionsOf(value)), String(value)).toThrow(name);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ["no agent", { agent: undefined }],
    ["an agent that is no function", { agent: {} }],
    ["proof", { proof: "never" }],
    ["whenAsked", { whenAsked: "ignore" }],
    ["onDisconnect", { onDisconnect: "wait" }],
  ])("%s is a TypeError at creation", (_name, options) => {
    expect(() => create(options)).toThrow(TypeError);
  });

  it.each<[string, unknown[]]>([
    ["hold", ["false", "true", 0, 1, null, {}]],
    ["cors", ["https://a.example.com", "", true, false, null, 5, {}]],
    ["identify", [5, "ada", true, null, {}]],
  ])("%s of another kind is a TypeError at creation", (name, values) => {
    for (const value of values) {
      expect(() => create({ [name]: value }), String(value)).toThrow(TypeError);
      expect(() => create({ [name]: value }), String(value)).toThrow(name);
    }
  });

  it("counts the retention's date from the clock", () => {
    const clock = createTestClock();
    const most = 8.64e15 - clock.now();
    expect(() => create({ clock, retention: { ttlMs: most } })).not.toThrow();
    expect(() => create({ clock, retention: { ttlMs: most + 10 } })).toThrow(RangeError);
  });
});

describe("an option that there is none of", () => {
  it.each<[string, Record<string, unknown>]>([
    ["identfy", { identfy: () => "anna" }],
    ["ttl", { retention: { ttl: 5 } }],
    ["alwaysAllow", { approvals: { alwaysAllow: false } }],
    ["proto", { transports: { proto: true } }],
    ["body", { limits: { body: 5 } }],
  ])("is refused by its name, and the right ones are named: %s", (name, options) => {
    expect(() => create(options)).toThrow(TypeError);
    expect(() => create(options)).toThrow(new RegExp(`no option "${name}"\\. There are: \`\\w+\``));
  });

  it("is not all there is to be wrong: there are options", () => {
    expect(() => createHandler(undefined as never)).toThrow("createHandler needs options");
  });
});

describe("an origin that no browser sends", () => {
  it.each([
    "localhost:3000",
    "http://localhost:3000/",
    "https://app.example/path",
    "https://app.example:443",
    "https://App.example",
    "*",
    "",
    5,
  ])("is refused at creation: %j", (origin) => {
    expect(() => create({ cors: ["https://app.example", origin] })).toThrow(TypeError);
    expect(() => create({ cors: ["https://app.example", origin] })).toThrow("is no origin");
  });

  it.each(["null", "http://localhost:3000", "https://[::1]:8080", "capacitor://localhost"])("is not %j", (origin) => {
    expect(() => create({ cors: [origin] })).not.toThrow();
  });
});

describe("an option within its range", () => {
  it("may be more than a timer's longest delay", async () => {
    const agent = agentUnderTest({ agent: async (context) => context.input("A?"), retention: { ttlMs: 2 ** 31 } });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.clock.advance(2 ** 31 - 1);
    expect(agent.handler.stats().held).toBe(1);
    await agent.clock.advance(1);
    expect(agent.handler.stats().held).toBe(0);
    expect(interrupt.expiresAt).toBe("2100-01-25T20:31:23.648Z");
  });

  it.each<[Record<string, unknown>]>([
    [{ retention: { ttlMs: 0.5, maxHeld: 1, maxHeldPerIdentity: 5 } }],
    [{ keepAliveMs: 0, closeTimeoutMs: 0, limits: { queuedRuns: 0, keptEvents: 1, bodyBytes: 1 } }],
    [{ retention: {}, limits: {}, approvals: {}, reasons: {} }],
    [{ hold: false, cors: ["https://a.example.com"], identify: () => null }],
    [{ hold: true, cors: () => true }],
    [{ hold: undefined, cors: undefined, identify: undefined }],
  ])("is taken: %j", (options) => {
    expect(() => create(options)).not.toThrow();
  });

  it("closeTimeoutMs: 0 gives up at once", async () => {
    const agent = agentUnderTest({ closeTimeoutMs: 0, agent: () => new Promise(() => {}) });
    const running = agent.run("go");
    await agent.clock.advance(0);
    const stopped = agent.handler.stop("thread-1");
    await agent.clock.advance(0);
    expect([await stopped, (await running).outcome]).toEqual([true, { type: "cancelled" }]);
  });
});

describe("creating a handler", () => {
  it("sets no timer, draws no random bytes and reads no environment before the first request", () => {
    const random = vi.spyOn(crypto, "getRandomValues");
    const timer = vi.spyOn(globalThis, "setTimeout");
    const env = vi.spyOn(process, "env", "get");
    const clock = createTestClock();
    create({ clock, retention: { ttlMs: 1 } });
    create({});
    expect([random.mock.calls.length, timer.mock.calls.length, env.mock.calls.length, clock.pending]).toEqual([
      0, 0, 0, 0,
    ]);
    vi.restoreAllMocks();
  });
});

describe("validate", () => {
  it("has every event checked by the protocol's own schemas, and what they refuse is refused", async () => {
    const check = vi.spyOn(EventSchema, "safeParse");
    const run = async (validate: boolean) => {
      check.mockClear();
      const handler = createHandler({
        validate,
        agent: async (context) => {
          await context.custom("acme:a", 1);
          check.mockReturnValueOnce(EventSchema.safeParse({ type: "NOPE" }) as never);
          return context.custom("acme:b", 2).then(
            () => "went out",
            (error) => error.code,
          );
        },
      });
      const response = await handler.handle(requestOf({ threadId: "t", runId: "r", messages: [] }));
      const [, result] = /"result":"([^"]+)"/.exec(await response.text()) ?? [];
      return [result, check.mock.calls.map(([event]) => (event as { name?: string }).name ?? "the test's own")];
    };
    expect(await run(true)).toEqual(["EVENT_REFUSED", ["acme:a", "the test's own", "acme:b"]]);
    expect(await run(false)).toEqual(["went out", ["the test's own"]]);
    check.mockRestore();
  });
});

describe("the hooks", () => {
  it("may throw or reject: what they throw is ignored", async () => {
    const fail = () => {
      throw new Error("hook");
    };
    for (const hook of [fail, async () => fail()]) {
      const handler = createHandler({
        onWarning: hook,
        onError: hook,
        onTrace: hook,
        agent: async (context) => {
          if (context.userText === "trace") return context.inputRequired("A?");
          throw new Error("agent");
        },
      });
      const failed = await exchange(handler.handle, { surprise: 1, protocolVersion: "1.9" } as never);
      expect(failed.error?.code).toBe("AGENT_FAILED");
      const messages = [{ id: "m", role: "user" as const, content: "trace" }];
      expect((await exchange(handler.handle, { messages })).text).toBe("A?");
    }
  });

  it("default to the console, for warnings and errors", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const failure = new Error("agent");
    const handler = createHandler({
      agent: async () => {
        throw failure;
      },
    });
    const response = await handler.handle(requestOf({ threadId: "t", runId: "r", messages: [], surprise: 1 }));
    await response.text();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^\[holdline\] INPUT_STRIPPED: .*surprise/)]]);
    expect(error.mock.calls).toEqual([[expect.any(String), failure]]);
    warn.mockRestore();
    error.mockRestore();
  });

  it("are given no proof, no answer and no message's text", async () => {
    const told: unknown[] = [];
    const agent = agentUnderTest({
      retention: { maxHeld: 1 },
      onWarning: (warning) => told.push(warning),
      onError: (_error, where) => told.push(where),
      agent: async (context) => {
        await context.text("SECRET TEXT");
        await context.input("SECRET QUESTION");
        throw new Error("after the answer");
      },
    });
    const message = { id: "m", role: "user" as const, content: "SECRET MESSAGE" };
    const odd = { id: "n", role: "alien" as const, content: "SECRET ALIEN" };
    await agent.run({ threadId: "evicted", messages: [message, odd as never] });
    const interrupt = soleInterrupt(await agent.run({ messages: [message] }));
    const entry = { interruptId: interrupt.id, status: "resolved" as const, payload: "SECRET ANSWER" };
    await agent.resume([{ ...entry, metadata: interrupt.metadata ?? {}, surprise: "SECRET" } as never]);
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(JSON.stringify(told)).not.toMatch(/SECRET/);
    expect(JSON.stringify(told)).not.toContain(JSON.stringify(interrupt.metadata));
  });
});
