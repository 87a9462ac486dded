import { type ServerType, serve } from "@hono/node-server";
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { logger } from "hono/logger";
import { secureHeaders } from "hono/secure-headers";
import { timing } from "hono/timing";
import { afterEach, describe, expect, it } from "vitest";
import { agentRoute } from "../../adapters/hono.ts";
import { type AgentContext, createHandler } from "../../src/index.ts";
import { exchange, openExchange } from "../support/open-exchange.ts";
import { defer, within } from "../support/promises.ts";
import { answerTo, soleInterrupt } from "../support/runs.ts";

interface App {
  Variables: { user: { id: string } };
}

const authenticate = createMiddleware<App>(async (c, next) => {
  c.set("user", { id: c.req.header("authorization")?.replace("Bearer ", "") ?? "" });
  await next();
  c.header("x-after", "set when the head had been made");
});
const readsTheBody = createMiddleware(async (c, next) => {
  if (c.req.method === "POST") await c.req.json();
  await next();
});

const headers = { authorization: "Bearer ada", "accept-encoding": "gzip, br", origin: "https://app.example" };
let server: ServerType | undefined;
afterEach(() => new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve()))));

/** The agent behind all that an app puts in front of its routes, on a port of its own. */
async function serveBehindMiddleware(agent: (context: AgentContext) => Promise<unknown>) {
  const handler = createHandler({ agent });
  const lines: string[] = [];
  const app = new Hono<App>();
  app.use(
    logger((line) => lines.push(line)),
    timing(),
    secureHeaders(),
    cors({ origin: "https://app.example" }),
    compress(),
  );
  app.use("/agent", bearerAuth({ token: ["ada", "eve"] }), authenticate, readsTheBody);
  app.all(
    "/agent",
    agentRoute(handler, (c) => ({ identity: c.get("user")?.id ?? null, locals: c })),
  );
  const port = await new Promise<number>((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
  });
  return { url: `http://127.0.0.1:${port}/agent`, lines };
}

describe("a route of a Hono app behind middleware", () => {
  it("streams event by event, uncompressed, under the headers that middleware sets", async () => {
    const gate = defer();
    const { url, lines } = await serveBehindMiddleware(async (context) => {
      await context.text("one");
      await gate.promise;
      await context.text("two");
    });
    const open = await openExchange(fetch, {}, { url, headers });
    const events = await within(5_000, open.read(3), "the first text");
    expect(events.at(-1)).toMatchObject({ delta: "one" });
    gate.resolve();
    expect((await open.rest()).text).toBe("onetwo");
    const { headers: answered } = open.response;
    expect(answered.get("content-encoding")).toBeNull();
    expect(answered.get("access-control-allow-origin")).toBe("https://app.example");
    expect(answered.get("x-after")).toBe("set when the head had been made");
    expect(answered.get("x-frame-options")).toBe("SAMEORIGIN");
    expect(lines.join("\n")).toMatch(/POST \/agent.*200/s);
  });

  it("keeps callers apart by what authentication says, and hands the agent the app's context", async () => {
    const { url } = await serveBehindMiddleware(async (context) => {
      const { get } = context.locals as { get: (key: "user") => { id: string } };
      const answer = await context.input("Sure?");
      return { answer, asked: context.identity, by: (get("user") as { id: string }).id };
    });
    const ada = { url, headers };
    const eve = { url, headers: { ...headers, authorization: "Bearer eve" } };
    const interrupt = soleInterrupt(await exchange(fetch, {}, ada));
    const resume = [answerTo(interrupt, "yes")];
    expect((await exchange(fetch, { resume }, eve)).error?.code).toBe("INTERRUPT_NOT_HELD");
    expect((await exchange(fetch, { resume }, ada)).result).toEqual({ answer: "yes", asked: "ada", by: "ada" });
  });

  it("refuses whom authentication refuses, and answers what is no run", async () => {
    const { url } = await serveBehindMiddleware(async () => {});
    const post = (init: RequestInit) => fetch(url, { method: "POST", ...init });
    expect((await post({ body: "{}" })).status).toBe(401);
    const form = await post({ headers: { ...headers, "content-type": "text/plain" }, body: "{}" });
    expect(form.status).toBe(415);
    expect(await (await fetch(url, { headers })).json()).toMatchObject({ humanInTheLoop: { interrupts: true } });
  });
});
