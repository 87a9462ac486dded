import { createServer, type ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer as createHttp2Server,
} from "node:http2";
import express, { type RequestHandler } from "express";
import { afterEach, describe, expect, it } from "vitest";
import { toNodeListener } from "../../adapters/node.ts";
import type { Handler } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent } from "../fixtures/agents.ts";
import { streamingAgent } from "../fixtures/streaming-agent.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { httpClient } from "../support/http-client.ts";
import { listen } from "../support/listen.ts";
import { exchange, inputOf, requestOf } from "../support/open-exchange.ts";
import { defer, nextTurn, until, within } from "../support/promises.ts";
import { rawConnection, rawRun } from "../support/raw-connection.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

async function expressWith(handler: Handler, ...before: RequestHandler[]): Promise<string> {
  const app = express();
  for (const middleware of before) app.use(middleware);
  app.all("/agent", toNodeListener(handler));
  app.get("/other", (_request, response) => void response.json({ other: true }));
  return `${(await listen(createServer(app))).url}agent`;
}

describe("in an Express app", () => {
  const before: Record<string, RequestHandler[]> = {
    alone: [],
    "behind a JSON body parser": [express.json()],
    "behind a parser that leaves text": [express.text({ type: "*/*" })],
    "behind a parser that leaves bytes": [express.raw({ type: "*/*" })],
    "behind a parser of forms": [express.urlencoded({ extended: true })],
    "behind one that takes its time": [(_request, _response, next) => void setTimeout(next, 20)],
  };
  it.each(Object.keys(before))("%s: asks, is answered, refuses and tells what it can", async (how) => {
    const asking = askingAgent();
    const { handler } = agentUnderTest(asking.agent);
    const url = await expressWith(handler, ...(before[how] as RequestHandler[]));
    const client = httpClient({ url });
    const asked = await client.say("Zürich ✈");
    expect(typesOf(asked)).toEqual(ASKED);
    expect(endOf(await client.reloaded().say("Well?"))).toBe("INTERRUPT_NOT_COVERED");
    expect(typesOf(await client.answer(soleInterrupt(asked), "ja ✈"))).toEqual(ANSWERED);
    expect(asking.answers).toEqual(["ja ✈"]);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url, { method: "PUT" })).status).toBe(405);
    const wrong = await fetch(requestOf({ threadId: 1 }, { url }));
    expect([wrong.status, (await wrong.json()).error.code]).toEqual([400, "INVALID_INPUT"]);
    expect(await (await fetch(new URL("/other", url))).json()).toEqual({ other: true });
  });

  it.each(["behind a JSON body parser", "behind a parser that leaves text", "behind a parser that leaves bytes"])(
    "%s: a body over bodyBytes is 413, counted in bytes, and one of bodyBytes is served",
    async (how) => {
      const threads: string[] = [];
      const body = JSON.stringify(inputOf({ threadId: "Zürich ✈" }));
      const bodyBytes = Buffer.byteLength(body);
      const { handler } = agentUnderTest({
        agent: async (context) => void threads.push(context.threadId),
        limits: { bodyBytes },
      });
      const url = await expressWith(handler, ...(before[how] as RequestHandler[]));
      expect(await (await fetch(requestOf(body, { url }))).text()).toContain('"outcome":{"type":"success"}');
      // One byte more, and no character.
      const refused = await fetch(requestOf(body.replace("rich", "rïch"), { url }));
      expect([refused.status, (await refused.json()).error.code]).toEqual([413, "BODY_TOO_LARGE"]);
      expect(threads).toEqual(["Zürich ✈"]);
    },
  );

  it("behind one that has read the body and left nothing: it answers, and does not hang", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    const url = await expressWith(handler, async (request, _response, next) => {
      for await (const _chunk of request);
      next();
    });
    const response = await within(5_000, fetch(requestOf(inputOf(), { url })));
    expect(response.status).toBe(400);
    expect((await response.json()).error).toMatchObject({
      code: "INVALID_JSON",
      message: "The body had been read before it reached the handler.",
    });
  });

  it("behind one that answers first: the answer is its own, and nobody is asked", async () => {
    const identified = defer<string>();
    const asking = askingAgent();
    const { handler } = agentUnderTest({ agent: asking.agent, identify: () => identified.promise });
    const url = await expressWith(handler, (_request, response, next) => {
      next();
      response.writeHead(504, { "content-type": "text/plain" });
      // The head is out, the body not yet: the worst moment.
      response.write("Too ");
      identified.resolve("ann");
      void nextTurn()
        .then(nextTurn)
        .then(() => response.end("late."));
    });
    const response = await fetch(requestOf(inputOf(), { url }));
    expect([response.status, await response.text()]).toEqual([504, "Too late."]);
    await until(() => handler.stats().running === 0, "the end of the turn");
    expect(handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect(asking.answers).toEqual([]);
  });

  it("what the mount says of the caller holds", async () => {
    const seen: unknown[] = [];
    const { handler } = agentUnderTest(async (context) => seen.push(context.identity, context.locals));
    const app = express();
    app.use((request, response) => {
      toNodeListener(handler, { identity: request.get("x-user") ?? null, locals: { path: request.path } })(
        request,
        response,
      );
    });
    const { url } = await listen(createServer(app));
    await exchange(fetch, {}, { url: `${url}deep/path`, headers: { "x-user": "ann" } });
    await exchange(fetch, {}, { url });
    expect(seen).toEqual(["ann", { path: "/deep/path" }, null, { path: "/" }]);
  });
});

describe("on an http.Server that is there already", () => {
  it("answers what it is given, and leaves the rest alone", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    const listener = toNodeListener(handler);
    const server = createServer((request, response) => {
      response.setHeader("x-served-by", "mine");
      if (request.url === "/agent") return listener(request, response);
      response.end("something else");
    });
    const { url } = await listen(server);
    expect(await (await fetch(url)).text()).toBe("something else");
    const response = await fetch(requestOf(inputOf(), { url: `${url}agent` }));
    expect([response.headers.get("x-served-by"), response.headers.get("content-type")]).toEqual([
      "mine",
      "text/event-stream",
    ]);
    expect(await response.text()).toContain('"type":"interrupt"');
    const client = httpClient({ url: `${url}agent`, threadId: "t" });
    expect(endOf(await client.answer(soleInterrupt(await client.say("Book it")), "yes"))).toBe("success");
  });
});

describe("a response that somebody else ends while its reader stalls", () => {
  it("is left: the turn hears it, and nothing more is written", async () => {
    const ended = defer();
    const seen: unknown[] = [];
    let response: ServerResponse | undefined;
    const agent = agentUnderTest(async (context) => {
      void context.text("x".repeat(30_000_000));
      await ended.promise;
      void context.text("more");
      await context.input("Still there?").catch(({ code }) => seen.push(code));
    });
    const listener = toNodeListener(agent.handler);
    const server = createServer((request, given) => {
      response = given;
      listener(request, given);
    });
    const { socket } = await rawConnection((await listen(server)).port);
    socket.pause();
    socket.write(rawRun());
    await until(() => response?.writableNeedDrain === true, "a reader that stalls");
    response?.end();
    ended.resolve();
    await until(() => seen.length > 0, "the end of the question");
    expect(seen).toEqual(["TURN_RELEASED"]);
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ running: 0, held: 0 });
  });
});

describe("on an HTTP/2 server", () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  let session: ClientHttp2Session;
  afterEach(() => {
    session.destroy();
    process.off("warning", onWarning);
    expect(warnings.splice(0)).toEqual([]);
  });

  async function mount(handler: Handler): Promise<void> {
    process.on("warning", onWarning);
    const { url } = await listen(createHttp2Server(toNodeListener(handler)));
    session = connect(url);
  }

  function post(body: string): ClientHttp2Stream {
    const stream = session.request({ ":method": "POST", ":path": "/", "content-type": "application/json" });
    stream.setEncoding("utf8");
    stream.end(body);
    return stream;
  }

  /** `fetch` over the session, so that the streams pass the same checks as any. */
  async function fetchHttp2(request: Request): Promise<Response> {
    const stream = post(await request.text());
    const { promise: status, resolve } = defer<number>();
    stream.on("response", (headers) => resolve(Number(headers[":status"])));
    let body = "";
    stream.on("data", (chunk) => {
      body += chunk;
    });
    await within(5_000, new Promise((ended) => stream.on("end", ended)));
    return new Response(body, { status: await status, headers: { "content-type": "text/event-stream" } });
  }

  it("asks and is answered, many at once over one connection", async () => {
    const asking = askingAgent();
    const { handler } = agentUnderTest(asking.agent);
    await mount(handler);
    const clients = Array.from({ length: 20 }, (_, i) => httpClient({ post: fetchHttp2, threadId: `t${i}` }));
    const ends = await Promise.all(
      clients.map(async (client, i) => endOf(await client.answer(soleInterrupt(await client.say("Book it")), `${i}`))),
    );
    expect(ends).toEqual(Array(20).fill("success"));
    expect(asking.answers.toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`).toSorted());
  });

  it.each(["the stream is reset", "the connection is killed"])("hears its client leave: %s", async (how) => {
    const { agent: streaming, seen } = streamingAgent();
    const { handler } = agentUnderTest(streaming);
    await mount(handler);
    const stream = post(JSON.stringify(inputOf()));
    stream.on("error", () => {});
    await within(2_000, new Promise((resolve) => stream.once("data", resolve)));
    if (how === "the stream is reset") stream.close(8);
    else session.destroy();
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
    await until(() => handler.stats().running === 0, "the end of the turn");
  });

  it("the request has the address that the client asked for", async () => {
    const { handler } = agentUnderTest(async (context) => context.request?.url);
    await mount(handler);
    const run = await exchange(fetchHttp2);
    expect(run.result).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  });

  it("a wrong body is answered", async () => {
    const { handler } = agentUnderTest(askingAgent().agent);
    await mount(handler);
    const response = await fetchHttp2(requestOf("{"));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "INVALID_JSON" } });
  });
});
