/**
 * An agent as a route handler of a Next.js app: as `app/agent/route.ts` it is served at `/agent`. Nothing here is
 * Next's own: any framework whose routes are functions of a `Request` takes it.
 *
 *     npm install holdline
 *     npx next dev
 *
 * In another terminal:
 *
 *     curl -N http://127.0.0.1:3000/agent -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[]}'
 *
 * A held turn lives in the process that asked. With `next start` on one machine that is all there is to it. Where each
 * request may meet another process, as on serverless platforms, set `hold: false` and ask with `context.inputRequired`.
 */
import { createHandler, type Handler } from "holdline";

/** How many nights: a form in the client, a number here. */
const nights = { type: "integer", minimum: 1, maximum: 30, title: "Nights" };

const create = () =>
  createHandler({
    agent: async (context) => {
      const count = await context.input<number>("How many nights in Frankfurt?", { jsonSchema: nights });
      await context.text(`${count} nights are ${count * 95} EUR.`);
    },
  });

// In development Next loads this file anew whenever it is edited. The turns held meanwhile outlive that only with their
// handler; a change to the agent itself then takes a restart.
const kept = globalThis as { agentHandler?: Handler };
kept.agentHandler ??= create();
const { fetch } = kept.agentHandler;

/** Never prerendered, and on Node: the edge runtime keeps no turn. */
export const dynamic = "force-dynamic";
export const runtime = "nodejs";

export { fetch as GET, fetch as OPTIONS, fetch as POST };
