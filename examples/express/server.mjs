/**
 * An agent as a route of an Express app: it refunds a booking only after its human has approved the very arguments,
 * or changed them. It may stand behind `express.json()`, as most routes do.
 *
 *     npm install holdline express
 *     node server.mjs
 *
 * In another terminal:
 *
 *     curl -N http://127.0.0.1:8787/agent -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[]}'
 *
 * It asks. How an answer is sent is in docs/clients.md; here it goes to `/agent`, and `true` approves.
 */
import express from "express";
import { createHandler } from "holdline";
import { toNodeListener } from "holdline/node";

const handler = createHandler({
  agent: async (context) => {
    const result = await context.toolCall(
      "refund",
      { booking: "K7Q2MX", euros: 412 },
      ({ booking, euros }) => `${euros} EUR for ${booking} are on their way.`,
      {
        approval: { message: "Refund 412 EUR for K7Q2MX?", allowEdits: true },
        argsSchema: {
          type: "object",
          properties: { booking: { type: "string" }, euros: { type: "number", minimum: 0, maximum: 412 } },
          required: ["booking", "euros"],
        },
      },
    );
    await context.text(result);
  },
});

const app = express();
app.use(express.json());
app.all("/agent", toNodeListener(handler));

const server = app.listen(Number(process.env.PORT ?? 8787), "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`The agent is at http://127.0.0.1:${port}/agent`);
});

// What is held gets a minute to be answered; then its turn is let go and the process ends.
process.once("SIGTERM", async () => {
  await handler.close({ graceMs: 60_000 });
  server.close();
  // What a client keeps open for its next request would keep the process for as long.
  setTimeout(() => server.closeAllConnections(), 500).unref();
});
