/**
 * Where the frames of one exchange go. The core writes finished frames to an outlet and knows
 * nothing of sockets or streams; one outlet is the body of a `Response` (`stream-outlet.ts`),
 * the Node adapter brings its own on `http.ServerResponse`.
 *
 * An outlet joins what is written within one turn of the event loop into one write, and keeps
 * frames back until its adapter has sent the head of the answer: the first frames may be
 * written before `handler.exchange` has resolved.
 */
export interface Outlet {
  /** Takes one whole frame, an SSE block with its blank line. Never throws, also after the reader left. */
  write(frame: string): void;
  /** Whether a writer ought to wait for `room()` before it goes on. */
  readonly full: boolean;
  /** Resolves when there is room again, and also when the reader leaves or the outlet ends. Never rejects. */
  room(): Promise<void>;
  /** Nothing follows: what was written goes out, then the body closes. Called at most once. */
  end(): void;
  /**
   * From here on what is written goes out as the bytes that `encode` makes of it: of one frame, or of several joined;
   * they may be none. Called at most once, before anything is written. An outlet without it serves text only.
   */
  encode?(encode: (frames: string) => Uint8Array): void;
  /** Registers the one callback to be called, at most once, if the reader leaves before `end()`. */
  left(callback: () => void): void;
}

/** One request as the core sees it, whatever server it came through. */
export interface ExchangeRequest {
  /** In capitals: `"POST"`. */
  readonly method: string;
  /** Case-insensitive look-up, `null` for a header that is absent; a `Headers` does. */
  readonly headers: { get(name: string): string | null };
  /**
   * The body as text, read at most once: UTF-8 without its byte order mark. Rejects with a
   * `RequestError` when it is longer than `limit` bytes (`BODY_TOO_LARGE`, counted while reading) or is
   * not UTF-8 (`INVALID_JSON`).
   */
  text(limit: number): Promise<string>;
  /** Aborts when the client leaves, where the runtime can tell. One of several ways to know: see `Outlet.left`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Gives the request as a web `Request`, its body possibly read already. Called only when `identify` or
   * `context.request` asks. Absent: one is made of the method and, where they are a `Headers`, the headers.
   */
  readonly toRequest?: (() => Request) | undefined;
}

/** The request as the web has it. */
export function webRequest({ toRequest, method, headers, signal }: ExchangeRequest): Request {
  if (toRequest !== undefined) return toRequest();
  const known = headers instanceof Headers ? { headers } : {};
  return new Request("http://localhost/", { method, ...known, ...(signal === undefined ? {} : { signal }) });
}

/** The head of an answer, and its body where that is known at once. */
export interface ExchangeAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, in lower case. */
  readonly headers: Record<string, string | string[]>;
  /** The whole body; `undefined` when the body is what is written to the outlet. */
  readonly body: string | Uint8Array | undefined;
}
