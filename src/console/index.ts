/**
 * The console: a page to talk to an agent with, answer its questions and see its turns. One
 * Web-standard function serves it from wherever it is mounted; the page itself is built into the package.
 *
 * @module holdline/console
 */
import { type ConsoleAdmin, readAdmin } from "./admin.ts";
import { BROWSER_HEADER } from "./browser-header.ts";
import { renderDocument } from "./document.ts";

export type { ConsoleAdmin, ConsoleTool } from "./admin.ts";

/** Options of `consolePage`. */
export interface ConsoleOptions {
  /**
   * Where the agent is served, as the browser sees it: a path, `"/agent"`, or a URL. Of another origin it has to allow
   * the page by `cors`, whose answer to a preflight allows the header the page sends.
   */
  endpoint: string;
  /** The agent's name, shown on top and as the page's title. Default `"Holdline"`. */
  title?: string;
  /** What the admin view shows. Absent: there is none. */
  admin?: ConsoleAdmin;
}

/** What the server knows of a request's other end. */
export interface ConsolePeer {
  /**
   * The remote address of the socket, `request.socket.remoteAddress` on Node: the admin view is open to loopback
   * addresses when there is no `authorize`. Absent: it is closed.
   */
  address?: string | undefined;
}

/** Answers one request of a browser for the page or for the data of its admin view. Never rejects. */
export type ConsolePage = (request: Request, peer?: ConsolePeer) => Promise<Response>;

/**
 * The identity the console claims for its browser: a random name that the page keeps and sends along. As `identify`
 * of the handler it gives a reloaded page its open question back. Anyone may claim any name: it tells browsers apart
 * and authenticates nobody, so use it for development, or behind what does authenticate. `null` for other clients.
 */
export function browserOf(request: { headers: { get(name: string): string | null } }): string | null {
  const name = request.headers.get(BROWSER_HEADER);
  return name !== null && /^browser-[\w-]{16,64}$/.test(name) ? name : null;
}

/**
 * Makes the handler of the page. Mount it at any one path: all that it needs is in its answer, and it asks for
 * nothing else but that same URL and the endpoint. What it answers depends on the method and the query alone.
 * @throws TypeError for an endpoint that is no path and no http(s) URL.
 */
export function consolePage(options: ConsoleOptions): ConsolePage {
  const { endpoint, title = "Holdline", admin } = options;
  const origin = originOf(endpoint);
  return async (request, peer) => {
    try {
      if (request.method !== "GET" && request.method !== "HEAD") {
        return answerError(405, "METHOD_NOT_ALLOWED", "The console is read with GET.", { allow: "GET, HEAD" });
      }
      if (new URL(request.url).searchParams.has("data")) return await answerAdmin(request, admin, peer);
      const document = await renderDocument({ endpoint, title, hasAdmin: admin !== undefined }, origin);
      if (request.headers.get("if-none-match") === document.headers.etag) {
        return new Response(null, { status: 304, headers: document.headers });
      }
      return new Response(request.method === "HEAD" ? null : document.html, { headers: document.headers });
    } catch {
      return answerError(500, "CONSOLE_FAILED", "The console could not answer.");
    }
  };
}

async function answerAdmin(request: Request, admin: ConsoleAdmin | undefined, peer: ConsolePeer | undefined) {
  if (admin === undefined) return answerError(404, "ADMIN_ABSENT", "The console was mounted without an admin view.");
  const data = await readAdmin(request, admin, peer?.address);
  if (data === undefined) {
    const message =
      "The admin view is open on this machine's loopback address only; give the mount an `authorize` function to open it to others.";
    return answerError(403, "ADMIN_FORBIDDEN", message);
  }
  return answerJson(200, data);
}

function answerError(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return answerJson(status, { error: { code, message } }, headers);
}

function answerJson(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}

/** The origin an absolute endpoint adds to what the page may connect to; none for a path. */
function originOf(endpoint: string): string | undefined {
  if (/^(\/(?!\/)|\.)/.test(endpoint)) return undefined;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.origin;
  throw new TypeError(`consolePage: endpoint must be a path such as "/agent" or an http(s) URL, not ${endpoint}.`);
}
