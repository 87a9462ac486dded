/**
 * Holdline as a route of a Hono app, on whatever runtime the app runs: `app.all("/agent", agentRoute(handler))`.
 * Middleware in front works: a body that one of them has read is taken from Hono's own cache.
 *
 * @module holdline/hono
 */
import type { HandleOptions, Handler } from "../src/index.ts";

/** A Hono `Context`, as far as this route and its options are concerned: annotate `c` with your app's own for more. */
export interface HonoContext {
  readonly req: { readonly raw: Request; text(): Promise<string>; header(name: string): string | undefined };
  // biome-ignore lint/suspicious/noExplicitAny: what a middleware has set is the app's to know.
  readonly get: (key: string) => any;
  // biome-ignore lint/suspicious/noExplicitAny: and so are its bindings.
  readonly env: any;
}

/**
 * A route that serves a handler. `options` says who is calling and what the agent gets of the application's:
 * `(c) => ({ identity: c.get("user")?.id ?? null, locals: c })`. Absent: the handler's `identify` is asked, no locals.
 * What `options` throws is the app's to handle.
 */
export function agentRoute<C extends HonoContext>(
  handler: Handler,
  options?: (context: C) => HandleOptions | Promise<HandleOptions>,
): (context: C) => Promise<Response> {
  if (typeof handler?.handle !== "function") throw new TypeError("agentRoute needs what createHandler gives.");
  return async (context) => {
    const { raw } = context.req;
    const given = await options?.(context);
    return handler.handle(raw.bodyUsed ? await restored(raw, context) : raw, given);
  };
}

/** The request with its body once more. */
async function restored(raw: Request, context: HonoContext): Promise<Request> {
  const { url, method, headers, signal } = raw;
  return new Request(url, { method, headers, body: await context.req.text(), signal });
}
