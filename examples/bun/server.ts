/**
 * An agent on Bun, with a health check and an end that waits for open questions. Two tools ask at once: one form with
 * two questions for the client, one answer for each tool.
 *
 *     bun add holdline
 *     bun server.ts
 *
 * In another terminal:
 *
 *     curl -N http://127.0.0.1:8787/ -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[]}'
 */
import process from "node:process";
import { createHandler } from "holdline";
import { serve } from "holdline/bun";

const handler = createHandler({
  agent: async (context) => {
    const [outbound, inbound] = await Promise.all([
      context.toolCall("book", { to: "FRA" }, ({ to }, tool) => tool.input(`When to ${to}?`)),
      context.toolCall("book", { to: "OSL" }, ({ to }, tool) => tool.input(`When back to ${to}?`)),
    ]);
    await context.text(`There ${outbound}, back ${inbound}.`);
  },
});

const { url } = await serve(handler, {
  port: Number(process.env.PORT ?? 8787),
  healthPath: "/health",
  // SIGTERM and SIGINT: what is held gets a minute to be answered.
  signals: { graceMs: 60_000 },
});
console.log(`The agent is at ${url}`);
