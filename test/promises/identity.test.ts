import { describe, expect, it } from "vitest";
import type { AgentContext, HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange, requestOf } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { endOf, isLone, soleInterrupt } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");
const anna = { identity: "anna" };
const bert = { identity: "bert" };

describe("identify", () => {
  it("says who is calling, at each exchange anew", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      agent: async (context) => {
        seen.push(context.identity);
        await context.input("A?");
        seen.push(context.identity);
      },
      identify: async (request) => request.headers.get("x-user"),
    });
    const interrupt = soleInterrupt(await agent.run("go", { headers: { "x-user": "anna" } }));
    expect(endOf(await agent.answer(interrupt, "a", {}, { headers: { "x-user": "bert" } }))).toBe(
      "INTERRUPT_NOT_HELD (unknown)",
    );
    expect(endOf(await agent.answer(interrupt, "a", {}, { headers: {} }))).toBe("INTERRUPT_NOT_HELD (unknown)");
    await agent.answer(interrupt, "a");
    expect(seen).toEqual(["anna", "anna"]);
  });

  it("may refuse the request by a Response, before the body is read and without a run", async () => {
    let entered = 0;
    let read = 0;
    const agent = agentUnderTest({
      agent: async () => void entered++,
      cors: ["https://app.test"],
      identify: () =>
        new Response('{"who":"you"}', {
          status: 401,
          headers: [
            ["www-authenticate", "Bearer"],
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
            ["vary", "Cookie"],
            ["content-type", "application/problem+json"],
          ],
        }),
    });
    const body = new ReadableStream({ pull: () => void read++ }, { highWaterMark: 0 });
    for (const method of ["POST", "GET"]) {
      const response = await agent.handler.handle(
        new Request("http://agent.test/", {
          method,
          headers: { origin: "https://app.test" },
          ...(method === "POST" && { body, duplex: "half" }),
        } as RequestInit),
      );
      expect([response.status, await response.text()]).toEqual([401, '{"who":"you"}']);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(response.headers.get("vary")).toBe("Cookie, Origin");
      expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
      expect(response.headers.get("content-type")).toBe("application/problem+json");
    }
    expect([entered, read]).toEqual([0, 0]);
  });

  it("runs for POST, GET and HEAD, never for OPTIONS or what is not served", async () => {
    const asked: string[] = [];
    const agent = agentUnderTest({
      agent: async () => {},
      identify: ({ method }) => {
        asked.push(method);
        return null;
      },
    });
    for (const method of ["OPTIONS", "PUT", "DELETE", "GET", "HEAD"]) {
      await agent.handler.handle(new Request("http://agent.test/", { method }));
    }
    await agent.run("go");
    expect(asked).toEqual(["GET", "HEAD", "POST"]);
  });

  it.each<[string, NonNullable<HandlerOptions["identify"]>]>([
    [
      "throws",
      () => {
        throw new Error("postgres://secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("postgres://secret"))],
    ["gives neither a string, null nor a Response", () => ({ user: "secret" }) as never],
    ["gives nothing", () => undefined as never],
    ["gives a Response that no server may send", () => Response.error()],
  ])("that %s is a 500, and says no more", async (_what, identify) => {
    let entered = 0;
    const agent = agentUnderTest({ agent: async () => void entered++, identify });
    for (const method of ["POST", "GET"]) {
      const response = await agent.handler.handle(
        method === "POST" ? requestOf({}) : new Request("http://agent.test/", { method }),
      );
      const text = await response.text();
      expect(response.status).toBe(500);
      expect(JSON.parse(text)).toEqual({ error: { code: "IDENTIFY_FAILED", message: expect.any(String) } });
      expect(text).not.toContain("secret");
    }
    expect(agent.errors).toHaveLength(2);
    expect(entered).toBe(0);
  });

  it("has its place taken by the identity given to handle, which fetch does not look at", async () => {
    let asked = 0;
    const agent = agentUnderTest({
      agent: async (context) => [context.identity, context.locals ?? "none"],
      identify: () => {
        asked++;
        return "identified";
      },
    });
    expect((await agent.run("go", { ...anna, locals: { hono: 1 } })).result).toEqual(["anna", { hono: 1 }]);
    expect((await agent.run("go", { identity: null })).result).toEqual([null, "none"]);
    expect(asked).toBe(0);
    const { fetch } = agent.handler as { fetch: (request: Request, ...more: unknown[]) => Promise<Response> };
    const viaFetch = await openExchange((request) =>
      fetch(request, { identity: "anna", locals: 1 }, { waitUntil() {} }),
    );
    expect((await viaFetch.rest()).result).toEqual(["identified", "none"]);
  });

  it("may read the body, which then is a wrong request and not a hang", async () => {
    const agent = agentUnderTest({
      agent: async () => {},
      identify: async (request) => ((await request.json()) as { threadId: string }).threadId,
    });
    await expect(agent.run("go")).rejects.toMatchObject({ code: "INVALID_JSON", status: 400 });
  });
});

describe("all state of a thread", () => {
  it("is kept under identity and thread: a stranger's run starts a turn of its own and learns nothing", async () => {
    const agent = agentUnderTest(one);
    const interrupt = soleInterrupt(await agent.run("go", anna));
    const stranger = await agent.run("go", bert);
    expect(soleInterrupt(stranger).id).not.toBe(interrupt.id);
    expect(stranger.raw).not.toContain(interrupt.id);
    const nobody = await agent.run("go");
    expect(soleInterrupt(nobody).id).not.toBe(interrupt.id);
    for (const other of [bert, { identity: null }, { identity: "" }, { identity: "ANNA" }]) {
      const stolen = await agent.answer(interrupt, "mine", {}, other);
      expect(isLone(stolen)).toBe(true);
      expect(stolen.raw).not.toContain("A?");
    }
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
    expect(agent.handler.stats().held).toBe(2);
  });

  it.each<[string | null, string, string | null, string]>([
    ["1", "1:a", "11", ":a"],
    ["a", "bc", "ab", "c"],
    [null, "x", "", "x"],
    [null, "1:ab", "a", "b"],
    ["", "-x", null, "x"],
  ])("does not mix up %j with %j and %j with %j", async (identity, threadId, otherIdentity, otherThread) => {
    const agent = agentUnderTest(one);
    const first = soleInterrupt(await agent.run({ threadId }, { identity }));
    const second = soleInterrupt(await agent.run({ threadId: otherThread }, { identity: otherIdentity }));
    expect(agent.handler.stats().held).toBe(2);
    expect((await agent.answer(first, "1")).result).toBe("1");
    expect((await agent.answer(second, "2")).result).toBe("2");
  });

  it("includes the queue and the stop", async () => {
    const gate = defer();
    const agent = agentUnderTest({ limits: { queuedRuns: 0 }, agent: () => gate.promise });
    const running = agent.run("go", anna);
    await agent.clock.advance(0);
    expect(endOf(await agent.run("go", anna))).toBe("THREAD_BUSY");
    const other = agent.run("go", bert);
    await agent.clock.advance(0);
    expect(await agent.handler.stop("thread-1")).toBe(false);
    const stopped = agent.handler.stop("thread-1", bert);
    gate.resolve();
    expect(await stopped).toBe(true);
    expect([endOf(await running), endOf(await other)]).toEqual(["success", "cancelled"]);
  });
});
