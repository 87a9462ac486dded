/**
 * An agent on Deno, which needs the network and nothing else. It does not wait for ever: after a minute without an
 * answer it goes on by itself.
 *
 *     npm install holdline
 *     deno run --allow-net --allow-env=PORT server.ts
 *
 * In another terminal:
 *
 *     curl -N http://127.0.0.1:8787/ -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[]}'
 */
import process from "node:process";
import { createHandler, InputTimeoutError } from "holdline";
import { serve } from "holdline/deno";

const handler = createHandler({
  agent: async (context) => {
    try {
      const answer = await context.input("Book LH441? (yes/no)", { timeoutMs: 60_000 });
      await context.text(answer === "yes" ? "Booked." : "Not booked.");
    } catch (error) {
      if (!(error instanceof InputTimeoutError)) throw error;
      console.log(`Nobody answered ${context.threadId}: LH441 is free again.`);
    }
  },
});

const { url } = await serve(handler, {
  port: Number(process.env.PORT ?? 8787),
  // SIGTERM and SIGINT: what is held gets a minute to be answered.
  signals: { graceMs: 60_000 },
});
console.log(`The agent is at ${url}`);
