/**
 * Holdline on a plain Cloudflare Worker. It keeps nothing between two requests, so no turn can be held:
 * `context.input` rejects at once with `HoldUnavailableError`, whose message names the ways out
 * (`holdline/durable-object`, `context.inputRequired`), and the capabilities say `interrupts: false`.
 *
 * Add `compatibility_flags = ["enable_request_signal"]` to wrangler.toml: only with it does `request.signal`
 * abort when a client leaves. Without it that is noticed by the next write that fails.
 *
 * @module holdline/workers
 */
import { createHandler, type HandlerOptions } from "../src/index.ts";

/** The member used of a Worker's execution context. */
export interface WorkerContext {
  waitUntil(work: Promise<unknown>): void;
}

/** A module Worker: what its default export is. */
export interface Worker<Env> {
  /** Serves one request, with a handler of its own. */
  fetch(request: Request, env: Env, context?: WorkerContext): Promise<Response>;
}

/** How long a turn may be waited for; the platform itself ends a Worker 30 seconds after its client has left. */
const LONGEST_TURN_MS = 86_400_000;

/**
 * Serves an agent from a module Worker: `export default createWorker((env) => ({ agent }))`. The options may read the
 * environment's bindings; they are made anew for each request, and so is the handler: a Worker may not do one
 * request's work in another's, so nothing is shared. `hold` is always `false`.
 * `fetch` throws what `createHandler` throws for options outside their range.
 */
export function createWorker<Env = unknown>(options: (env: Env) => HandlerOptions): Worker<Env> {
  return {
    async fetch(request, env, context) {
      const handler = createHandler({ ...options(env), hold: false });
      const response = await handler.handle(request);
      // Resolves once the turn has ended. Without it the runtime would drop the agent's code the instant its client
      // leaves, and neither its signal nor a `finally` would be heard.
      context?.waitUntil(handler.close({ graceMs: LONGEST_TURN_MS }));
      return response;
    },
  };
}
