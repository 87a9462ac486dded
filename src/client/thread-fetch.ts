/**
 * The `fetch` of a client whose agent is served by several processes: it names the thread in a header, so that a
 * proxy which routes by headers sends every run of the thread to the same one.
 */
import { THREAD_HEADER, threadHeader } from "../core/thread-header.ts";

/** A function that takes what `fetch` takes. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Wraps a `fetch` (default: the global one): a request whose body is JSON with a `threadId` carries it in the header
 * `x-holdline-thread`, percent-encoded. Other requests pass as they are; so does a body that is a stream, since it can be
 * read only once. For `HttpAgent` of `@ag-ui/client`: `new HttpAgent({ url, fetch: threadFetch() })`.
 */
export function threadFetch(fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    const threadId = threadIdOf(await textOf(input, init));
    if (threadId === undefined) return fetch(input, init);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set(THREAD_HEADER, threadHeader(threadId));
    return fetch(input, { ...init, headers });
  };
}

/** The body as text, where it can be read without being used up. */
async function textOf(input: string | URL | Request, init: RequestInit | undefined): Promise<string | undefined> {
  const body = init?.body;
  if (typeof body === "string") return body;
  if (body instanceof Blob) return body.text();
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new TextDecoder().decode(body);
  if (body === undefined && input instanceof Request && !input.bodyUsed) return input.clone().text();
  return undefined;
}

function threadIdOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const { threadId } = JSON.parse(text) ?? {};
    return typeof threadId === "string" ? threadId : undefined;
  } catch {
    return undefined;
  }
}
