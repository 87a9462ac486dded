/**
 * Holdline on `node:http`, by an outlet of its own: no Request, Response or web stream stands
 * between the agent and the socket. A Request is made only when `identify` or `context.request` asks.
 *
 * @module holdline/node
 */
import { isUtf8 } from "node:buffer";
import { createServer, type Server } from "node:http";
import {
  type ExchangeRequest,
  type HandleOptions,
  type Handler,
  RequestError,
  RequestErrorCode,
} from "../src/index.ts";
import { type NodeResponse, ResponseOutlet } from "./_node-outlet.ts";
import { LINGER_MS, listen, type ServeOptions, type Serving } from "./_serve.ts";

export type { NodeResponse, ServeOptions, Serving };

/** The members used of an `http.IncomingMessage`, or of its HTTP/2 likeness; `body` is what a body parser left. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly httpVersionMajor: number;
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  readonly body?: unknown;
  readonly socket?: { on(event: "close", listener: () => void): unknown } | undefined;
  on(event: string, listener: (...args: never[]) => void): unknown;
  resume(): unknown;
}

/**
 * A listener for an existing `http.Server`, an Express app or the like. It may stand behind a JSON body parser:
 * what that left in `request.body` is taken.
 */
export function toNodeListener(
  handler: Handler,
  options?: HandleOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  if (typeof handler?.exchange !== "function") throw new TypeError("toNodeListener needs what createHandler gives.");
  return (request, response) => {
    const outlet = new ResponseOutlet(response);
    if (request.httpVersionMajor < 2 && !response.socket) awaitTurn(request, response, outlet);
    void handler.exchange(exchangeRequest(request, response), outlet, options).then(({ status, headers, body }) => {
      // Gone, or answered by somebody else meanwhile: a timeout, say.
      if (response.destroyed || response.headersSent) return outlet.leave();
      // A body nobody will read would keep the connection busy: it is closed after the answer.
      const unread = body !== undefined && !request.readableEnded && request.method === "POST";
      response.writeHead(
        status,
        unread && request.httpVersionMajor < 2 ? { ...headers, connection: "close" } : headers,
      );
      if (body === undefined) return outlet.open();
      response.end(body);
      if (unread) request.resume();
    });
  };
}

/** The pipelined answers of a connection that are not out: one listener serves them all, and they are forgotten when they are. */
const pipelined = new WeakMap<object, Set<ResponseOutlet>>();

/** A pipelined response has no socket before its turn, and nothing else tells it that the socket has closed. */
function awaitTurn({ socket }: NodeRequest, response: NodeResponse, outlet: ResponseOutlet): void {
  if (socket === undefined) return;
  const waiting = pipelined.get(socket) ?? new Set();
  if (!pipelined.has(socket)) {
    pipelined.set(socket, waiting);
    socket.on("close", () => {
      for (const one of waiting) one.leave();
    });
  }
  waiting.add(outlet);
  response.on("close", () => waiting.delete(outlet));
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
      const bytes =
        body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
      if (bytes.length > limit) return reject(tooLarge());
      return resolve(decode(bytes));
    }
    const declared = Number(request.headers["content-length"]);
    if (declared > 2 * limit) return reject(tooLarge());
    if (request.destroyed) return reject(unreadable("The body could not be read."));
    let parts: Uint8Array[] = [];
    let size = 0;
    request.on("data", (part: Uint8Array) => {
      size += part.length;
      if (size <= limit) return parts.push(part);
      parts = [];
      // Up to here it is read on and dropped: many clients listen only once they have sent everything.
      if (size > 2 * limit) reject(tooLarge());
    });
    request.on("end", () => {
      if (size > limit) return reject(tooLarge());
      try {
        resolve(decode(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)));
      } catch (error) {
        reject(error);
      }
    });
    // A client that leaves half-way: `end` never comes. After it, an error would be made for nothing at every request.
    request.on("close", () => {
      if (!request.readableEnded) reject(unreadable("The body could not be read."));
    });
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
  response.on("close", () => {
    if (!response.writableEnded) gone.abort();
  });
  const base = `http://${request.headers.host ?? request.headers[":authority"] ?? "localhost"}`;
  const target = URL.canParse(url, base) ? new URL(url, base) : new URL("http://localhost/");
  // No Request takes them, and a client may put them into its Host or its request line.
  target.username = target.password = "";
  return new Request(target, { method, headers, signal: gone.signal });
}

/** Serves a handler on a port of its own. Rejects when it cannot listen. */
export function serve(handler: Handler, options: ServeOptions = {}): Promise<Serving> {
  return listen(handler, options, async ({ hostname, port }, elsewhere) => {
    const listener = toNodeListener(handler);
    const server = createServer((request, response) => {
      const other = elsewhere(request.url ?? "/");
      if (other === undefined) return listener(request, response);
      response.writeHead(other.status, other.headers);
      response.end(other.body);
      request.resume();
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, hostname, resolve);
    });
    return { port: (server.address() as { port: number }).port, stop: () => stopListening(server) };
  });
}

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
