/**
 * Who may call from a browser. Without the option no header is ever added: an application that
 * sets its own keeps them.
 */
import type { HandlerOptions } from "./options.ts";
import type { ExchangeRequest } from "./outlet.ts";

const ALLOWED_METHODS = "GET, POST, OPTIONS";
/** Seconds a browser may remember a preflight's answer. */
const MAX_AGE = "86400";

/** The headers every response to `request` carries. */
export function corsHeaders(cors: HandlerOptions["cors"], { headers }: ExchangeRequest): Record<string, string> {
  if (cors === undefined) return {};
  if (cors === "*") return { "access-control-allow-origin": "*", vary: "Origin" };
  const origin = headers.get("origin");
  if (origin === null || !(typeof cors === "function" ? cors(origin) === true : cors.includes(origin)))
    return { vary: "Origin" };
  return { "access-control-allow-origin": origin, "access-control-allow-credentials": "true", vary: "Origin" };
}

/** What a preflight is told besides. */
export function preflightHeaders({ headers }: ExchangeRequest): Record<string, string> {
  const asked = headers.get("access-control-request-headers");
  return {
    "access-control-allow-methods": ALLOWED_METHODS,
    "access-control-max-age": MAX_AGE,
    ...(asked === null ? {} : { "access-control-allow-headers": asked }),
  };
}
