/** One of several equal processes: `PORT=8901 node server.mjs`. Runs of one thread have to reach the same one. */
import process from "node:process";
import { createHandler } from "holdline";
import { serve } from "holdline/node";

const handler = createHandler({
  retention: { ttlMs: 5 * 60_000 },
  agent: async (context) => {
    const answer = await context.input("Book LH441? (yes/no)");
    await context.text(answer === "yes" ? "Booked." : "Not booked.");
  },
});

const { url } = await serve(handler, {
  port: Number(process.env.PORT ?? 8901),
  hostname: process.env.HOST ?? "127.0.0.1",
  healthPath: "/health",
  // Kubernetes: terminationGracePeriodSeconds has to cover all three, drain, grace and closeTimeoutMs.
  signals: { drainMs: 10_000, graceMs: 60_000 },
});
console.log(`An agent is at ${url}`);
