/**
 * The heads of answers, and the bodies of those that are no stream.
 */
import { preflightHeaders } from "./cors.ts";
import { RequestError, RequestErrorCode } from "./errors.ts";
import type { ExchangeAnswer, ExchangeRequest } from "./outlet.ts";
import type { Settings } from "./settings.ts";

/** Headers that every answer to a request carries. */
export type Head = Readonly<Record<string, string>>;

const ALLOW = "GET, HEAD, POST, OPTIONS";
/** Seconds after which a client may try a closing server's address again. */
const RETRY_AFTER = "1";

/** A stream: kept from caches, and from proxies that would collect or compress it. No hop-by-hop header: HTTP/2 has none. */
export const STREAM: Head = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export const answerJson = (status: number, value: unknown, head: Head, bodiless = false): ExchangeAnswer => ({
  status,
  headers: { "content-type": "application/json", ...head },
  body: bodiless ? "" : JSON.stringify(value),
});

export const answerOptions = ({ cors }: Settings, request: ExchangeRequest, head: Head): ExchangeAnswer => ({
  status: 204,
  headers: { allow: ALLOW, ...head, ...(cors === undefined ? {} : preflightHeaders(request)) },
  body: "",
});

/** What told of one connection, or of a body's bytes as they were on it: an answer of `fetch` passed on would be unreadable with it. */
const OF_THE_TRANSFER =
  /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length)$/;

/** A `Response` by which `identify` refuses a caller, passed on. */
export async function answerRefusal(response: Response, head: Head): Promise<ExchangeAnswer> {
  const headers: Record<string, string | string[]> = {};
  response.headers.forEach((value, name) => {
    // What was fetched has been decoded.
    if (OF_THE_TRANSFER.test(name) || (name === "content-encoding" && response.url !== "")) return;
    headers[name] = name === "set-cookie" ? response.headers.getSetCookie() : value;
  });
  const vary = [headers.vary, head.vary].filter((value) => typeof value === "string").join(", ");
  // The body is read whole: nobody streams a refusal, and an outlet of another kind can pass it on.
  const body = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: { ...headers, ...head, ...(vary === "" ? {} : { vary }) },
    body: body.length === 0 ? "" : body,
  };
}

/** What went wrong with a request, as JSON. Anything unforeseen is a server's fault and told in generic words. */
export function answerError(error: unknown, head: Head, { report }: Settings): ExchangeAnswer {
  if (!(error instanceof RequestError)) {
    report(error, {});
    return answerJson(500, { error: { code: "INTERNAL_ERROR", message: "The request could not be served." } }, head);
  }
  const { code, message, status, issues } = error;
  const extra: Record<string, string> = {};
  if (code === RequestErrorCode.METHOD_NOT_ALLOWED) extra.allow = ALLOW;
  if (code === RequestErrorCode.SERVER_CLOSING) extra["retry-after"] = RETRY_AFTER;
  return answerJson(
    status,
    { error: { code, message, ...(issues === undefined ? {} : { issues }) } },
    { ...extra, ...head },
  );
}

/** An answer as the web has it; `stream` is its body unless it brings one. */
export function toResponse(
  { status, headers: lines, body }: ExchangeAnswer,
  stream: ReadableStream<Uint8Array> | null,
): Response {
  const given = body === undefined ? stream : body === "" ? null : body;
  return new Response(given as BodyInit | null, { status, headers: headersInit(lines) });
}

/** As plain as it can be: @hono/node-server writes a record out as it is, and has to walk through a `Headers`. */
function headersInit(lines: ExchangeAnswer["headers"]): HeadersInit {
  if (Object.values(lines).every((value) => typeof value === "string")) return lines as Record<string, string>;
  const headers = new Headers();
  for (const [name, value] of Object.entries(lines)) {
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}
