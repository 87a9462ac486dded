/**
 * What the admin view is told, and who may be told. Reads a handler's `inspect()` and `stats()`,
 * which hold neither proofs nor answers; adds what the mount says of its tools and options.
 */
import type { Handler, JsonValue } from "../index.ts";

/** One tool the agent has, as the admin view shows it. */
export interface ConsoleTool {
  /** Its name, as the model calls it. */
  name: string;
  /** What the model is told of it. */
  description?: string;
  /** What a call of it does to the turn, in words: `"needs approval; arguments may be edited"`. */
  behaviour?: string;
  /** Whose words `description` is, where that can differ: turn control's own, or the project's. */
  descriptionFrom?: "default" | "overridden";
}

/** What the admin view reads, and who may see it. */
export interface ConsoleAdmin {
  /** The handler whose numbers and held turns are shown. */
  handler: Pick<Handler, "inspect" | "stats">;
  /** Default: none are listed. */
  tools?: readonly ConsoleTool[];
  /** Options in force, shown as they are. Keep secrets out. Default: none are listed. */
  options?: { readonly [name: string]: JsonValue };
  /**
   * Who may see it, for other than loopback. Absent: requests whose socket and `Host` are both loopback and that no
   * proxy forwarded. When it throws, the request is refused.
   */
  authorize?: (request: Request) => boolean | Promise<boolean>;
}

/** The data of the admin view; `undefined` for a request that may not have it. */
export async function readAdmin(request: Request, admin: ConsoleAdmin, address: string | undefined) {
  if (!(await isAllowed(request, admin, address))) return undefined;
  const { handler, tools = [], options = {} } = admin;
  const held = handler.inspect().map((turn) => ({ ...turn, identity: maskBrowser(turn.identity) }));
  return { now: Date.now(), stats: handler.stats(), held, tools, options };
}

async function isAllowed(request: Request, { authorize }: ConsoleAdmin, address: string | undefined): Promise<boolean> {
  if (authorize === undefined) return isLocal(request, address);
  try {
    return (await authorize(request)) === true;
  } catch {
    return false;
  }
}

/** Headers by which a proxy says that it stands between: the socket's address is then the proxy's own. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

function isLocal(request: Request, address: string | undefined): boolean {
  return (
    address !== undefined &&
    isLoopback(address) &&
    // A page of another site whose name was made to point here (DNS rebinding) still says that name.
    isLoopback(new URL(request.url).hostname.replace(/^\[|\]$/g, "")) &&
    FORWARDED.every((name) => !request.headers.has(name))
  );
}

/** Whether a host name or address is this machine's own loopback. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^(::ffff:)?127(\.\d{1,3}){3}$/i.test(host);
}

/** A browser's name is what gives it its questions back: whoever reads the list must not become it. */
function maskBrowser(identity: string | null): string | null {
  return identity?.startsWith("browser-") ? `${identity.slice(0, 16)}…` : identity;
}
