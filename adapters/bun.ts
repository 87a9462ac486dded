/**
 * Holdline on `Bun.serve`. `Bun.serve(handler)` works as well; this adds what a deployment needs:
 * one path, a health check, signals, a close that waits, and no idle timeout.
 *
 * @module holdline/bun
 */
import type { Handler } from "../src/index.ts";
import { LINGER_MS, listen, type ServeOptions, type Serving } from "./_serve.ts";

export type { ServeOptions, Serving };

/** The members used of the `Bun` global. */
interface BunRuntime {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    fetch: (request: Request) => Response | Promise<Response>;
  }): { readonly port: number; stop(closeConnections?: boolean): Promise<void> };
}

/** Serves a handler on a port of its own. Rejects when it cannot listen, and with a `TypeError` when this is not Bun. */
export function serve(handler: Handler, options: ServeOptions = {}): Promise<Serving> {
  return listen(handler, options, ({ hostname, port }, elsewhere) => {
    const { Bun } = globalThis as { Bun?: BunRuntime };
    if (Bun === undefined)
      throw new TypeError("holdline/bun serves on Bun; elsewhere take holdline/node or holdline/deno.");
    const server = Bun.serve({
      hostname,
      port,
      // Bun closes a connection that was silent for 10 seconds; how long an agent may think is not the socket's to say.
      idleTimeout: 0,
      fetch(request) {
        const other = elsewhere(request.url);
        return other === undefined ? handler.handle(request) : new Response(other.body, other);
      },
    });
    return {
      port: server.port,
      async stop() {
        const late = setTimeout(() => void server.stop(true), LINGER_MS);
        await server.stop();
        clearTimeout(late);
      },
    };
  });
}
