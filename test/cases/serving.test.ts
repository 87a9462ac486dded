import { createServer } from "node:http";
import { type ClientHttp2Session, connect, createServer as createHttp2Server } from "node:http2";
import { getRequestListener } from "@hono/node-server";
import compression from "compression";
import express from "express";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { serve, toNodeListener } from "../../adapters/node.ts";
import type { Handler } from "../../src/index.ts";
import { checkStream, readFrames } from "../../src/testing/index.ts";
import { readRun } from "../../src/testing/test-run.ts";
import { ANSWERED, ASKED, askingAgent, gatedAgent } from "../fixtures/agents.ts";
import { agentUnderTest, checked } from "../support/agent-under-test.ts";
import { build, report } from "../support/child.ts";
import { closeAfterTest, listen } from "../support/listen.ts";
import { exchange, inputOf, openExchange, type Post, requestOf } from "../support/open-exchange.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";

beforeAll(build, 240_000);

const honoOn = (handler: Handler, use: (app: Hono) => void): Promise<{ url: string }> => {
  const app = new Hono();
  use(app);
  app.all("/", (c) => handler.handle(c.req.raw));
  return listen(createServer(getRequestListener(app.fetch)));
};

const expressOn = (handler: Handler, use: (app: express.Express) => void): Promise<{ url: string }> => {
  const app = express();
  use(app);
  app.all("/", toNodeListener(handler));
  return listen(createServer(app));
};

const servers: Record<string, (handler: Handler) => Promise<{ url: string }>> = {
  "serve of the Node adapter": async (handler) => {
    const serving = await serve(handler);
    closeAfterTest(() => serving.close());
    return serving;
  },
  "an http.Server": (handler) => listen(createServer(toNodeListener(handler))),
  Express: (handler) => expressOn(handler, () => {}),
  "Express behind compression": (handler) => expressOn(handler, (app) => app.use(compression({ threshold: 0 }))),
  "Express behind a JSON body parser": (handler) => expressOn(handler, (app) => app.use(express.json())),
  "Hono on Node": (handler) => honoOn(handler, () => {}),
  "Hono on Node behind compress": (handler) => honoOn(handler, (app) => app.use(compress({ threshold: 0 }))),
};

describe("B64 a reader that stalls", () => {
  it("pauses an agent with 200 MB to say, in bounded memory, and misses nothing afterwards", async () => {
    const { paused, grown, emitted, received, outOfOrder } = await report("stalled-reader.mjs");
    expect(paused).toBeLessThan(1_000);
    expect(grown).toBeLessThan(16_000_000);
    expect({ emitted, received, outOfOrder }).toEqual({ emitted: 200_000, received: 200_000, outOfOrder: 0 });
  }, 240_000);
});

describe("B66 the head leaves at once", () => {
  it.each(Object.keys(servers))("behind %s, and so does each event, before the agent goes on", async (name) => {
    const { agent: gated, gates } = gatedAgent(["first", "second"]);
    const { handler } = agentUnderTest(gated);
    const { url } = await (servers[name] as (typeof servers)[string])(handler);
    const open = await openExchange(fetch, {}, { url, headers: { "accept-encoding": "gzip, br, deflate" } });
    expect(open.response.status).toBe(200);
    expect((await open.read(1)).map(({ type }) => type)).toEqual(["RUN_STARTED"]);
    // The agent says nothing, and the heartbeat's clock stands still: nothing else can have pushed it out.
    for (const gate of gates) {
      gate.resolve();
      const [event] = await open.read(gate === gates[0] ? 2 : 1);
      expect(event?.type).toBe(gate === gates[0] ? "TEXT_MESSAGE_START" : "TEXT_MESSAGE_CONTENT");
    }
    expect((await open.rest()).text).toBe("firstsecond");
    expect(open.response.headers.get("content-encoding")).toBeNull();
  });
});

describe("B69 the head of a stream", () => {
  it("keeps caches and proxies from collecting it", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    for (const [what, response] of [
      ["a stream", await handler.fetch(requestOf(inputOf()))],
      ["a refusal", await handler.fetch(requestOf(inputOf()))],
    ] as const) {
      const { status, headers } = response;
      expect([what, status, Object.fromEntries(headers)]).toEqual([
        what,
        200,
        {
          "content-type": "text/event-stream",
          "cache-control": "no-cache, no-transform",
          "x-accel-buffering": "no",
        },
      ]);
      await response.text();
    }
  });

  it.each(["Express behind compression", "Hono on Node behind compress"])(
    "%s leaves it alone, and compresses what is no stream",
    async (name) => {
      const { handler } = agentUnderTest(askingAgent().agent);
      const { url } = await (servers[name] as (typeof servers)[string])(handler);
      const headers = { "accept-encoding": "gzip" };
      const plain = await fetch(url, { headers });
      expect(plain.headers.get("content-encoding")).toBe("gzip");
      expect(await plain.json()).toMatchObject({ humanInTheLoop: { interrupts: true } });
      const open = await openExchange(fetch, {}, { url, headers });
      expect(open.response.headers.get("content-encoding")).toBeNull();
      expect(open.response.headers.get("content-length")).toBeNull();
      expect(typesOf(await open.rest())).toEqual(ASKED);
    },
  );
});

describe("B71 headers of one connection", () => {
  const HOP_BY_HOP = ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

  it("are in no response of the handler", async () => {
    const { handler } = agentUnderTest({ agent: askingAgent().agent, cors: "*" });
    const requests = [
      requestOf(inputOf()),
      requestOf(inputOf()),
      requestOf("{"),
      new Request("http://agent.test/"),
      new Request("http://agent.test/", { method: "OPTIONS" }),
      new Request("http://agent.test/", { method: "PUT" }),
    ];
    for (const request of requests) {
      const response = await handler.fetch(request);
      expect(HOP_BY_HOP.filter((name) => response.headers.has(name))).toEqual([]);
      await response.text();
    }
  });

  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  let session: ClientHttp2Session | undefined;
  afterEach(() => {
    session?.destroy();
    process.off("warning", onWarning);
  });

  it("an HTTP/2 server streams without a warning, and carries an answer", async () => {
    process.on("warning", onWarning);
    const asking = askingAgent();
    const { handler } = agentUnderTest(asking.agent);
    const { url } = await listen(createHttp2Server(toNodeListener(handler)));
    session = connect(url);
    const post = (input: unknown): Promise<{ status: number; body: string }> =>
      new Promise((resolve, reject) => {
        const stream = (session as ClientHttp2Session).request({
          ":method": "POST",
          "content-type": "application/json",
        });
        let status = 0;
        let body = "";
        stream.setEncoding("utf8");
        stream.on("response", (headers) => {
          status = Number(headers[":status"]);
        });
        stream.on("data", (chunk) => {
          body += chunk;
        });
        stream.on("end", () => resolve({ status, body }));
        stream.on("error", reject);
        stream.end(JSON.stringify(input));
      });
    const seenInterruptIds = new Set<string>();
    const run = async (partial: Parameters<typeof inputOf>[0]) => {
      const input = inputOf(partial);
      const { status, body } = await post(input);
      expect(status).toBe(200);
      const frames = readFrames(body);
      checkStream(frames.frames, { threadId: input.threadId, runId: input.runId, seenInterruptIds });
      return checked(readRun(frames, input));
    };
    const asked = await run({});
    expect(typesOf(asked)).toEqual(ASKED);
    expect(typesOf(await run({ resume: [answerTo(soleInterrupt(asked), "yes")] }))).toEqual(ANSWERED);
    expect(asking.answers).toEqual(["yes"]);
    expect((await post({ wrong: true })).status).toBe(400);
    expect(warnings).toEqual([]);
  });
});

describe("B93 behind middleware that sets headers", () => {
  const answers = async (post: Post, url: string) => {
    const headers = { origin: "https://app.test" };
    const success = await post(requestOf(inputOf(), { url, headers }));
    const refusal = await post(requestOf(inputOf(), { url, headers }));
    const wrong = await post(requestOf("{", { url, headers }));
    const texts = await Promise.all([success, refusal, wrong].map((response) => response.text()));
    expect(texts[0]).toContain('"outcome":{"type":"interrupt"');
    expect(texts[1]).toContain("INTERRUPT_NOT_COVERED");
    expect(wrong.status).toBe(400);
    return [success, refusal, wrong];
  };

  it("Hono's cors() and a header of one's own, on Node: on successes, refusals and errors alike", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    const { url } = await honoOn(handler, (app) => {
      app.use(cors({ origin: "https://app.test" }));
      app.use(async (c, next) => {
        await next();
        c.res.headers.set("x-served-by", "hono");
      });
    });
    for (const response of await answers(fetch, url)) {
      expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
      expect(response.headers.get("x-served-by")).toBe("hono");
    }
  });

  it("by itself the library sets none of them, and its headers can be changed", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    for (const response of await answers(handler.fetch, "http://agent.test/")) {
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(response.headers.get("vary")).toBeNull();
      response.headers.set("x-mine", "1");
      expect(response.headers.get("x-mine")).toBe("1");
    }
  });

  it("with its own `cors` every answer has them", async () => {
    const { handler } = agentUnderTest({ agent: askingAgent().agent, cors: ["https://app.test"] });
    for (const response of await answers(handler.fetch, "http://agent.test/")) {
      expect(response.headers.get("access-control-allow-origin")).toBe("https://app.test");
      expect(response.headers.get("access-control-allow-credentials")).toBe("true");
      expect(response.headers.get("vary")).toBe("Origin");
    }
    expect(endOf(await exchange(handler.fetch, { threadId: "another" }))).toBe("interrupt");
  });
});
