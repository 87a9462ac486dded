/**
 * The outlet of the Node adapter: frames straight to a response, with its drain as the back-pressure.
 */
import type { Outlet } from "../src/index.ts";

/** The members used of an `http.ServerResponse`, or of its HTTP/2 likeness. */
export interface NodeResponse {
  readonly writableNeedDrain: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Absent until the answers before it on a pipelined connection are out. */
  readonly socket?: unknown;
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  /** Of HTTP/1 only: the head of an HTTP/2 answer leaves at once anyway. */
  flushHeaders?(): void;
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  on(event: string, listener: () => void): unknown;
}

/** Characters that may wait to be written before a writer has to. */
const HIGH_WATER_MARK = 16_384;

/** Frames to a response: those of one turn of the event loop in one write. */
export class ResponseOutlet implements Outlet {
  readonly #response: NodeResponse;
  #pending = "";
  #encode: ((frames: string) => Uint8Array) | undefined;
  #flushDue = false;
  #ended = false;
  #gone = false;
  #left: (() => void) | undefined;
  #waiting: (() => void)[] = [];
  readonly #flush = () => {
    this.#flushDue = false;
    if (this.#gone) return;
    // Somebody else ended it, a timeout say, though a slow reader has not read that yet: a write would be an uncaught error.
    if (this.#response.writableEnded) return this.leave();
    const frames = this.#pending;
    this.#pending = "";
    const written = this.#encode === undefined ? frames : this.#encode(frames);
    if (this.#ended) this.#response.end(written);
    else if (this.#response.write(written)) this.#wake();
  };

  constructor(response: NodeResponse) {
    this.#response = response;
    response.on("drain", () => this.#wake());
    // Comes after every response; only before its end does it mean that the client left.
    response.on("close", () => this.leave());
  }

  /** The head is sent: it leaves at once, with the first frames or, where those have to wait, before them. */
  open(): void {
    if (!this.#flushDue) this.#response.flushHeaders?.();
  }

  /** Nobody reads on. */
  leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#pending = "";
    this.#wake();
    if (!this.#ended) this.#left?.();
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

  encode(encode: (frames: string) => Uint8Array): void {
    this.#encode = encode;
  }

  left(callback: () => void): void {
    this.#left = callback;
    if (this.#gone || this.#response.destroyed) callback();
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
