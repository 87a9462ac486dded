/**
 * An agent as a route of a Hono app, behind the app's own authentication. Threads are kept apart by caller: with
 * somebody else's name nobody reaches Ada's questions. The app runs as well on Bun, Deno and Cloudflare; only the
 * last lines are Node's.
 *
 *     npm install holdline hono @hono/node-server
 *     node server.mjs
 *
 * In another terminal, as Ada:
 *
 *     curl -N http://127.0.0.1:8787/agent -H 'authorization: Bearer ada-secret' -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[]}'
 *
 * It asks. How an answer is sent is in docs/clients.md; here it goes to `/agent`, with the same `authorization`.
 */
import { serve } from "@hono/node-server";
import { createHandler } from "holdline";
import { agentRoute } from "holdline/hono";
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";

const handler = createHandler({
  agent: async (context) => {
    const seat = await context.input(`A window or an aisle seat, ${context.identity}?`);
    await context.text(`It is a seat at the ${seat} then.`);
  },
});

const users = new Map([
  ["Bearer ada-secret", "ada"],
  ["Bearer bob-secret", "bob"],
]);

/** @type {import("hono").MiddlewareHandler<{ Variables: { user: string } }>} */
const authenticate = createMiddleware(async (c, next) => {
  const user = users.get(c.req.header("authorization") ?? "");
  if (user === undefined) return c.text("Who is that?", 401);
  c.set("user", user);
  await next();
});

const app = new Hono();
app.all(
  "/agent",
  authenticate,
  agentRoute(handler, (c) => ({ identity: c.get("user") })),
);

const port = Number(process.env.PORT ?? 8787);
const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, (at) =>
  console.log(`The agent is at http://127.0.0.1:${at.port}/agent`),
);

// What is held gets a minute to be answered; then its turn is let go and the process ends.
process.once("SIGTERM", async () => {
  await handler.close({ graceMs: 60_000 });
  server.close();
});
