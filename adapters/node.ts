/**
 * Holdline on `node:http`, by an outlet of its own: no Request, Response or web stream stands
 * between the agent and the socket. A Request is made only when `identify` or `context.request` asks.
 *
 * @module
 */
import { isUtf8 } from "node:buffer";
import { createServer, type Server } from "node:http";
import {
  type ExchangeRequest,
  type HandleOptions,
  type Handler,
  type Outlet,
  RequestError,
  RequestErrorCode,
} from "../src/index.ts";

/** The members used of an `http.IncomingMessage`, or of its HTTP/2 likeness; `body` is what a body parser left. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly httpVersionMajor: number;
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  readonly body?: unknown;
  on(event: string, listener: (...args: never[]) => void): unknown;
  resume(): unknown;
}

/** The members used of an `http.ServerResponse`, or of its HTTP/2 likeness. */
export interface NodeResponse {
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  write(chunk: string): boolean;
  end(chunk?: string | Uint8Array): unknown;
  on(event: string, listener: () => void): unknown;
}

/** Characters that may wait to be written before a writer has to. */
const HIGH_WATER_MARK = 16_384;

/** Frames to a response: those of one turn of the event loop in one write. */
class ResponseOutlet implements Outlet {
  readonly #response: NodeResponse;
  #pending = "";
  #flushDue = false;
  #ended = false;
  #gone = false;
  #left: (() => void) | undefined;
  #waiting: (() => void)[] = [];
  readonly #flush = () => {
    this.#flushDue = false;
    if (this.#gone) return;
    const frames = this.#pending;
    this.#pending = "";
    if (this.#ended) this.#response.end(frames);
    else if (this.#response.write(frames)) this.#wake();
  };

  constructor(response: NodeResponse) {
    this.#response = response;
    response.on("drain", () => this.#wake());
    // Comes after every response; only before its end does it mean that the client left.
    response.on("close", () => {
      this.#gone = true;
      this.#wake();
      if (!this.#ended) this.#left?.();
    });
  }

  write(frame: string): void {
    this.#pending += frame;
    this.#schedule();
  }

  get full(): boolean {
    return this.#pending.length >= HIGH_WATER_MARK || this.#response.writableNeedDrain;
  }

  room(): Promise<void> {
    if (this.#gone || this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    this.#ended = true;
    this.#schedule();
    this.#wake();
  }

  left(callback: () => void): void {
    this.#left = callback;
    if (this.#response.destroyed) callback();
  }

  #schedule(): void {
    if (this.#flushDue || this.#gone) return;
    this.#flushDue = true;
    setImmediate(this.#flush);
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * A listener for an existing `http.Server`, an Express app or the like. It may stand behind a JSON body parser:
 * what that left in `request.body` is taken.
 */
export function toNodeListener(
  handler: Handler,
  options?: HandleOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  return (request, response) => {
    const outlet = new ResponseOutlet(response);
    void handler.exchange(exchangeRequest(request, response), outlet, options).then(({ status, headers, body }) => {
      if (response.destroyed) return;
      // A body nobody will read would keep the connection busy: it is closed after the answer.
      const unread = body !== undefined && !request.readableEnded && request.method === "POST";
      response.writeHead(
        status,
        unread && request.httpVersionMajor < 2 ? { ...headers, connection: "close" } : headers,
      );
      if (body === undefined) return;
      response.end(body);
      if (unread) request.resume();
    });
  };
}

function exchangeRequest(request: NodeRequest, response: NodeResponse): ExchangeRequest {
  const { headers, method = "GET" } = request;
  return {
    method,
    headers: {
      get(name) {
        const value = headers[name];
        return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
      },
    },
    text: (limit) => readText(request, limit),
    toRequest: () => toRequest(request, response),
  };
}

function readText(request: NodeRequest, limit: number): Promise<string> {
  const tooLarge = () => new RequestError(RequestErrorCode.BODY_TOO_LARGE, `The body is larger than ${limit} bytes.`);
  const unreadable = (message: string) => new RequestError(RequestErrorCode.INVALID_JSON, message);
  return new Promise((resolve, reject) => {
    if (request.readableEnded) {
      const { body } = request;
      if (body === undefined) return reject(unreadable("The body had been read before it reached the handler."));
      return resolve(
        body instanceof Uint8Array ? decode(body) : typeof body === "string" ? body : JSON.stringify(body),
      );
    }
    if (Number(request.headers["content-length"]) > limit) return reject(tooLarge());
    if (request.destroyed) return reject(unreadable("The body could not be read."));
    let parts: Uint8Array[] = [];
    let size = 0;
    request.on("data", (part: Uint8Array) => {
      size += part.length;
      if (size <= limit) return parts.push(part);
      parts = [];
      reject(tooLarge());
    });
    request.on("end", () => {
      try {
        resolve(decode(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)));
      } catch (error) {
        reject(error);
      }
    });
    // A client that leaves half-way: `end` never comes.
    request.on("close", () => reject(unreadable("The body could not be read.")));
    request.on("error", () => reject(unreadable("The body could not be read.")));
  });
}

/** Strict UTF-8, a byte order mark dropped. */
function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new RequestError(RequestErrorCode.INVALID_JSON, "The body is not UTF-8.");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** The request as the web has it, without its body, which the handler reads; its signal aborts when the client leaves. */
function toRequest(request: NodeRequest, response: NodeResponse): Request {
  const { method = "GET", url = "/" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // Names that begin with a colon are HTTP/2's own.
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const base = `http://${request.headers.host ?? "localhost"}`;
  const target = URL.canParse(url, base) ? new URL(url, base) : new URL("http://localhost/");
  return new Request(target, { method, headers, signal: gone.signal });
}

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
  readonly port: number;
  /**
   * Closes the handler and then the server. While the handler's grace lasts the server still listens, since the answers
   * to held turns come in new requests; new runs get 503. Idempotent.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Serves a handler on a port of its own. Rejects when it cannot listen. */
export async function serve(handler: Handler, options: ServeOptions = {}): Promise<Serving> {
  const { port = 0, hostname = "127.0.0.1", path = "/", healthPath, signals = false } = options;
  const listener = toNodeListener(handler);
  let draining = false;
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? "/", "http://localhost").pathname;
    if (asked === path) return listener(request, response);
    const healthy = asked === healthPath ? !draining && !handler.closing : undefined;
    const status = healthy === undefined ? 404 : healthy ? 200 : 503;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(
      JSON.stringify(
        healthy === undefined ? { error: { code: "NOT_FOUND", message: `The agent is at ${path}.` } } : { healthy },
      ),
    );
    request.resume();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, resolve);
  });
  const address = server.address() as { port: number };
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  let closed: Promise<void> | undefined;
  const serving: Serving = {
    url: `http://${host}:${address.port}${path}`,
    port: address.port,
    close(closing) {
      closed ??= handler.close(closing).then(() => stopListening(server));
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

/** How long a response that has ended may take to reach a slow reader, in milliseconds. */
const LINGER_MS = 1_000;

/** Resolves when every connection is closed: idle ones at once, others when their last bytes are read or the time is up. */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), LINGER_MS);
    // A response's last bytes leave at the end of this turn of the event loop; only then is its connection idle.
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(late);
      clearInterval(sweep);
      resolve();
    });
  });
}
