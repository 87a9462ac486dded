/**
 * What comes before any turn: who calls, what is asked for, and whether the request is one. It either
 * has an answer already or is a run to be admitted. A process that only routes runs needs no more than this.
 */
import { answerJson, answerOptions, answerRefusal, type Head } from "./answer.ts";
import { capabilities } from "./capabilities.ts";
import { RequestError, RequestErrorCode } from "./errors.ts";
import { type ExchangeAnswer, type ExchangeRequest, webRequest } from "./outlet.ts";
import { type Parsed, parse, readBody } from "./parse.ts";
import type { Settings } from "./settings.ts";

/** Who a request is from, and what the agent gets of the application's. */
export interface HandleOptions {
  /** Takes the place of `identify`; `null` is nobody. Absent: `identify` is asked. */
  identity?: string | null;
  /** Handed to the agent as `context.locals`. */
  locals?: unknown;
}

/** A request that is a run, or the answer of one that is none. */
export type Received = { readonly answer: ExchangeAnswer } | (Parsed & { readonly identity: string | null });

/** Answers OPTIONS, GET and callers that `identify` refuses; reads the rest. @throws RequestError */
export async function receive(
  request: ExchangeRequest,
  given: HandleOptions,
  settings: Settings,
  head: Head,
): Promise<Received> {
  const { method } = request;
  if (method === "OPTIONS") return { answer: answerOptions(settings, request, head) };
  if (method !== "POST" && method !== "GET" && method !== "HEAD") {
    throw new RequestError(RequestErrorCode.METHOD_NOT_ALLOWED, "Send a run as POST; GET tells the capabilities.");
  }
  const identity = await identify(request, given, settings);
  if (typeof identity === "object" && identity !== null) return { answer: await answerRefusal(identity, head) };
  if (method !== "POST") return { answer: answerJson(200, capabilities(settings), head, method === "HEAD") };
  return { ...(await parse(request, settings)), identity };
}

/** A web request as the core sees it. */
export const fromWeb = (request: Request): ExchangeRequest => ({
  method: request.method,
  headers: request.headers,
  text: (limit) => readBody(request, limit),
  signal: request.signal,
  toRequest: () => request,
});

/** Who is calling: what the mount says, else what `identify` says. A `Response` refuses. @throws RequestError */
async function identify(
  request: ExchangeRequest,
  given: HandleOptions,
  { identify: ask, report }: Settings,
): Promise<string | null | Response> {
  if (given.identity !== undefined) return given.identity;
  if (ask === undefined) return null;
  try {
    const identity = await ask(webRequest(request));
    if (typeof identity === "string" || identity === null) return identity;
    // What `Response.error()` gives has a status that no server may send.
    if (isResponse(identity) && identity.status >= 200) return identity;
    throw new TypeError("identify must give a string, null or a Response.");
  } catch (cause) {
    report(cause, {});
    throw new RequestError(RequestErrorCode.IDENTIFY_FAILED, "The caller could not be identified.", { cause });
  }
}

/** By its members: a Response may come from another realm or library. */
const isResponse = (value: unknown): value is Response =>
  typeof value === "object" && value !== null && "status" in value && "headers" in value && "arrayBuffer" in value;
