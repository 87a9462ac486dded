/**
 * What the servers of Node, Bun and Deno have in common: their options, which path is whose, and how
 * they close. Each adapter brings the listening.
 */
import process from "node:process";
import type { Handler } from "../src/index.ts";

/** Options of `serve`. */
export interface ServeOptions {
  /** Default 0: any free one. */
  port?: number;
  /** Address to listen on. Default `"127.0.0.1"`: a server for others says so. */
  hostname?: string;
  /** The one path the agent is served at. Default `"/"`; others get 404. */
  path?: string;
  /** Where GET answers 200, and 503 once closing. Absent: nowhere. */
  healthPath?: string;
  /**
   * Whether SIGTERM and SIGINT close the server and exit with 0: health turns 503, `drainMs` (default 0) pass for load
   * balancers to notice, then `close({ graceMs })` (default 0). A second signal exits at once. Default `false`.
   */
  signals?: boolean | { drainMs?: number; graceMs?: number };
}

/** A server that is listening. */
export interface Serving {
  /** Where the agent is served. */
  readonly url: string;
  /** The port that is listened on. */
  readonly port: number;
  /**
   * Closes the handler and then the server. While the handler's grace lasts the server still listens, since the answers
   * to held turns come in new requests; new runs get 503. Idempotent.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** An answer for a path that is not the agent's. */
export interface Elsewhere {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What an adapter's own server gives back once it listens. */
export interface Listening {
  readonly port: number;
  /** Resolves when nothing listens any more and every connection is closed. */
  stop(): Promise<void>;
}

/** How long a response that has ended may take to reach a slow reader when a server stops, in milliseconds. */
export const LINGER_MS = 1_000;

/**
 * Starts a server and says how it is closed. `elsewhere` takes a request's URL and answers for every path but the
 * agent's, for which it gives `undefined`. Rejects with a TypeError for a handler or a path that is none.
 */
export async function listen(
  handler: Handler,
  { hostname = "127.0.0.1", port = 0, path = "/", healthPath, signals = false }: ServeOptions,
  start: (
    address: { hostname: string; port: number },
    elsewhere: (url: string) => Elsewhere | undefined,
  ) => Listening | Promise<Listening>,
): Promise<Serving> {
  if (typeof handler?.exchange !== "function") throw new TypeError("serve needs what createHandler gives.");
  for (const [name, value] of Object.entries({ path, healthPath })) {
    if (value !== undefined && !value.startsWith("/")) throw new TypeError(`${name} must begin with a slash.`);
  }
  let draining = false;
  const listening = await start({ hostname, port }, (url) => {
    const asked = pathOf(url);
    if (asked === path) return undefined;
    const headers = { "content-type": "application/json" };
    if (asked === healthPath) {
      const healthy = !draining && !handler.closing;
      return { status: healthy ? 200 : 503, headers, body: JSON.stringify({ healthy }) };
    }
    const error = { code: "NOT_FOUND", message: `The agent is at ${path}.` };
    return { status: 404, headers, body: JSON.stringify({ error }) };
  });
  let closed: Promise<void> | undefined;
  const serving: Serving = {
    url: `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${listening.port}${path}`,
    port: listening.port,
    close(options) {
      closed ??= handler.close(options).then(() => listening.stop());
      return closed;
    },
  };
  if (signals !== false) {
    const { drainMs = 0, graceMs = 0 } = signals === true ? {} : signals;
    const onSignal = () => {
      if (draining) process.exit(1);
      draining = true;
      setTimeout(() => void serving.close({ graceMs }).then(() => process.exit(0)), drainMs);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  }
  return serving;
}

/** The path of a request's URL: absolute, as Bun and Deno have it, or what stood in the request line, which may be anything. */
function pathOf(url: string): string {
  if (!url.startsWith("/")) return URL.canParse(url) ? new URL(url).pathname : url;
  return url.split(/[?#]/, 1)[0] as string;
}
