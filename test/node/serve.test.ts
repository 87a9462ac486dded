import { createServer } from "node:http";
import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { serve, toNodeListener } from "../../adapters/node.ts";
import { createHandler } from "../../src/index.ts";
import { ASKED, askingAgent, gatedAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { httpClient } from "../support/http-client.ts";
import { closeAfterTest, listen } from "../support/listen.ts";
import { nodeAgent } from "../support/node-agent.ts";
import { exchange, inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { defer, isSettled, until, within } from "../support/promises.ts";
import { rawConnection, rawRun } from "../support/raw-connection.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("serve", () => {
  it("listens on a free port of this machine only, and says where", async () => {
    const agent = await nodeAgent(askingAgent().agent);
    expect(agent.port).toBeGreaterThan(0);
    expect(agent.url).toBe(`http://127.0.0.1:${agent.port}/`);
    const others = Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address),
    );
    for (const address of others) await expect(fetch(`http://${address}:${agent.port}/`)).rejects.toThrow();
  });

  it("on an IPv6 address", async () => {
    const agent = await nodeAgent(askingAgent().agent, { hostname: "::1" });
    expect(agent.url).toBe(`http://[::1]:${agent.port}/`);
    expect(typesOf(await agent.client().say("Book it"))).toEqual(ASKED);
  });

  it("on a name", async () => {
    const agent = await nodeAgent(askingAgent().agent, { hostname: "localhost" });
    expect(agent.url).toBe(`http://localhost:${agent.port}/`);
    expect(typesOf(await agent.client().say("Book it"))).toEqual(ASKED);
  });

  it("rejects where it cannot listen", async () => {
    const { port } = await listen(createServer());
    const handler = createHandler({ agent: askingAgent().agent });
    await expect(serve(handler, { port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    await expect(serve(handler, { hostname: "192.0.2.1" })).rejects.toMatchObject({ code: "EADDRNOTAVAIL" });
  });

  it("at one path, whatever the query; all others are not found", async () => {
    const agent = await nodeAgent(askingAgent().agent, { path: "/agents/booker" });
    expect(agent.url).toBe(`http://127.0.0.1:${agent.port}/agents/booker`);
    expect(typesOf(await agent.client().say("Book it"))).toEqual(ASKED);
    expect(endOf(await exchange(fetch, { threadId: "t" }, { url: `${agent.url}?tenant=1` }))).toBe("interrupt");
    for (const path of ["/", "/agents/booker/", "/agents", "/agents/booker2", "/health"]) {
      const response = await fetch(new URL(path, agent.url), { method: "POST", body: "{}" });
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toEqual({
        error: { code: "NOT_FOUND", message: "The agent is at /agents/booker." },
      });
    }
    expect(agent.handler.stats().started).toBe(2);
  });

  it("a request line that is no path is answered too", async () => {
    const agent = await nodeAgent(askingAgent().agent, { path: "/agent" });
    for (const target of ["*", "http://[", "//", "/%", "a:b:c"]) {
      const connection = await rawConnection(agent.port);
      connection.socket.write(`OPTIONS ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      expect([target, /^HTTP\/1\.1 (\d+)/.exec(await connection.closed())?.[1]]).toEqual([
        target,
        expect.stringMatching(/^4/),
      ]);
    }
  });
});

describe("healthPath", () => {
  it("answers 200, and 503 as soon as it closes", async () => {
    const gate = defer();
    const agent = await nodeAgent(() => gate.promise, { path: "/agent", healthPath: "/healthz" });
    const health = new URL("/healthz?probe=1", agent.url);
    const before = await fetch(health);
    expect([before.status, await before.json()]).toEqual([200, { healthy: true }]);
    expect((await fetch(health, { method: "HEAD" })).status).toBe(200);
    const open = await openExchange(fetch, {}, { url: agent.url });
    await open.read(1);
    const closing = agent.serving.close({ graceMs: 60_000 });
    const during = await fetch(health);
    expect([during.status, await during.json()]).toEqual([503, { healthy: false }]);
    gate.resolve();
    expect(endOf(await open.rest())).toBe("success");
    await within(5_000, closing);
  });
});

describe("close", () => {
  it("waits for the runs that are open and the answers that still come, and sends new ones away", async () => {
    const asking = askingAgent();
    const { agent: gated, gates } = gatedAgent(["word"]);
    const agent = await nodeAgent({
      agent: async (context) => (context.threadId === "held" ? asking.agent(context) : gated(context)),
    });
    const client = agent.client({ threadId: "held" });
    const interrupt = soleInterrupt(await client.say("Book it"));
    const open = await openExchange(fetch, { threadId: "open" }, { url: agent.url });
    await open.read(1);
    const closing = agent.serving.close({ graceMs: 60_000 });
    expect(agent.serving.close()).toBe(closing);
    const refused = await fetch(requestOf(inputOf({ threadId: "new" }), { url: agent.url }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "SERVER_CLOSING" } });
    expect(endOf(await client.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
    expect(await isSettled(closing)).toBe(false);
    gates[0]?.resolve();
    expect((await open.rest()).text).toBe("word");
    await within(5_000, closing);
    await expect(fetch(agent.url)).rejects.toThrow();
  });

  it("when the grace is over what is left is stopped, and its stream ends well formed", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent({
      agent: async (context) => {
        if (context.threadId === "held") return asking.agent(context);
        await context.text("Hello");
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      },
    });
    await agent.client({ threadId: "held" }).say("Book it");
    const open = await openExchange(fetch, { threadId: "open" }, { url: agent.url });
    await open.read(3);
    const closing = agent.serving.close({ graceMs: 1_000 });
    await agent.clock.advance(999);
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 1 });
    await agent.clock.advance(1);
    expect((await open.rest()).outcome).toEqual({ type: "cancelled" });
    expect(asking.rejections).toMatchObject([{ code: "TURN_RELEASED" }]);
    await within(5_000, closing);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("a connection between two requests does not hold it up, and one that was never used not for long", async () => {
    for (const [request, boundMs] of [
      ["GET / HTTP/1.1\r\nhost: a\r\n\r\n", 900],
      ["", 3_000],
    ] as const) {
      const agent = await nodeAgent(async () => "done");
      const connection = await rawConnection(agent.port);
      connection.socket.write(request);
      if (request !== "") await connection.until("humanInTheLoop");
      await within(boundMs, agent.serving.close(), "the close");
      await connection.closed();
    }
  });

  it("a reader that never reads does not hold it up for long, and a last word that is read arrives whole", async () => {
    const text = "x".repeat(200_000);
    const agent = await nodeAgent(async (context) => {
      void context.text(text);
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    });
    const stalled = await rawConnection(agent.port);
    stalled.socket.pause();
    const body = JSON.stringify(inputOf({ threadId: "stalled" }));
    stalled.socket.write(
      `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const open = await openExchange(fetch, { threadId: "reads" }, { url: agent.url });
    await until(() => agent.handler.stats().running === 2, "both turns");
    const closing = agent.serving.close();
    const run = await open.rest();
    expect([run.text.length, run.outcome]).toEqual([text.length, { type: "cancelled" }]);
    await within(5_000, closing, "the close");
  });

  it("two servers of one handler close together", async () => {
    const handler = createHandler({ agent: askingAgent().agent });
    const servers = [await serve(handler), await serve(handler, { path: "/other" })];
    for (const server of servers) closeAfterTest(() => server.close());
    const [first, second] = servers.map(({ url }) => url) as [string, string];
    const client = httpClient({ url: first });
    const interrupt = soleInterrupt(await client.say("Book it"));
    const elsewhere = httpClient({ url: second });
    expect(endOf(await elsewhere.answer(interrupt, "yes"))).toBe("success");
    await within(5_000, Promise.all(servers.map((server) => server.close())));
    for (const url of [first, second]) await expect(fetch(url)).rejects.toThrow();
  });
});

describe("many runs on one connection, sent before the first is answered", () => {
  it("leave nothing behind on the connection, and are all left when it closes", async () => {
    const gate = defer();
    let aborted = 0;
    const agent = agentUnderTest(async ({ threadId, signal }) => {
      signal.addEventListener("abort", () => aborted++);
      if (threadId.startsWith("late")) await gate.promise;
    });
    const sockets = new Set<Socket>();
    const server = createServer(toNodeListener(agent.handler));
    server.on("connection", (socket) => sockets.add(socket));
    const { socket, until: read } = await rawConnection((await listen(server)).port);
    const runs = (name: string) =>
      Array.from({ length: 20 }, (_, at) => rawRun({ threadId: `${name}-${at}` })).join("");
    const listeners = () => [...sockets].map((one) => one.listenerCount("close"));
    socket.write(rawRun({ threadId: "first" }));
    await read("RUN_FINISHED");
    const [before = 0] = listeners();
    for (const [at, name] of ["a", "b"].entries()) {
      socket.write(runs(name));
      await read("RUN_FINISHED", 1 + 20 * (at + 1));
      expect(listeners()[0]).toBeLessThanOrEqual(before + 1);
    }
    socket.write(runs("late"));
    await until(() => agent.handler.stats().running === 20, "twenty runs");
    socket.destroy();
    await until(() => aborted === 20, "twenty clients that left");
    gate.resolve();
  });
});

describe("a caller refused with an answer that was fetched", () => {
  it("reads it: nothing says any more how its bytes were on their way", async () => {
    const bytes = gzipSync("Not on the list. ".repeat(20));
    const doorman = createServer((_request, response) => {
      response.writeHead(401, {
        "content-encoding": "gzip",
        "content-length": bytes.length,
        "www-authenticate": "Bearer",
      });
      response.end(bytes);
    });
    const { url } = await listen(doorman);
    const agent = await nodeAgent({ agent: async () => {}, identify: () => fetch(url) });
    for (const method of ["GET", "POST"]) {
      const response = await fetch(agent.url, { method });
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await response.text()).toBe("Not on the list. ".repeat(20));
    }
  });
});
