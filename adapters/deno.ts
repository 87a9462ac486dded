/**
 * Holdline on `Deno.serve`. `Deno.serve(handler.fetch)` works as well; this adds what a deployment
 * needs: one path, a health check, signals, a close that waits, and no abort after a success.
 *
 * @module holdline/deno
 */
import type { Handler } from "../src/index.ts";
import { LINGER_MS, listen, type ServeOptions, type Serving } from "./_serve.ts";

export type { ServeOptions, Serving };

/** The members used of the `Deno` global. */
interface DenoRuntime {
  serve(
    options: { hostname: string; port: number; signal: AbortSignal; onListen: () => void },
    serve: (request: Request) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; readonly finished: Promise<void>; shutdown(): Promise<void> };
}

/** Serves a handler on a port of its own. Rejects when it cannot listen, and with a `TypeError` when this is not Deno. */
export function serve(handler: Handler, options: ServeOptions = {}): Promise<Serving> {
  return listen(handler, options, ({ hostname, port }, elsewhere) => {
    const { Deno } = globalThis as { Deno?: DenoRuntime };
    if (Deno === undefined)
      throw new TypeError("holdline/deno serves on Deno; elsewhere take holdline/node or holdline/bun.");
    const late = new AbortController();
    const server = Deno.serve({ hostname, port, signal: late.signal, onListen() {} }, (request) => {
      const other = elsewhere(request.url);
      if (other !== undefined) return new Response(other.body, other);
      // Deno 2 aborts a request's own signal also once its answer was delivered, and warns of whoever looks at it: this one
      // has none of it. A client that leaves cancels the body of the answer, at once and in any silence.
      const { url, method, headers, body } = request;
      return handler.handle(new Request(url, { method, headers, body, duplex: "half" } as RequestInit));
    });
    return {
      port: server.addr.port,
      async stop() {
        const timer = setTimeout(() => late.abort(), LINGER_MS);
        await server.shutdown();
        clearTimeout(timer);
      },
    };
  });
}
