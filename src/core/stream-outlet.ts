/**
 * The outlet that is the body of a `Response`: frames that are ready by the end of the current
 * turn of the event loop are joined and pass a TransformStream, frames in, bytes out. Its
 * back-pressure is what the agent waits for.
 */
import { nextMacrotask } from "./clock.ts";
import type { Outlet } from "./outlet.ts";

/** Characters that may wait, here and again in the stream, before a writer has to. */
const HIGH_WATER_MARK = 16_384;

const ignore = () => {};
const encoder = new TextEncoder();

export class StreamOutlet implements Outlet {
  /** The response's body. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<string>;
  #encode = (frames: string): Uint8Array => encoder.encode(frames);
  #pending = "";
  #flushDue = false;
  #ended = false;
  #gone = false;
  #left: () => void = ignore;
  #waiting: (() => void)[] = [];

  constructor() {
    const { readable, writable } = new TransformStream<string, Uint8Array>(
      {
        transform: (frames, controller) => {
          const bytes = this.#encode(frames);
          if (bytes.byteLength > 0) controller.enqueue(bytes);
        },
      },
      { highWaterMark: HIGH_WATER_MARK, size: (frames) => frames.length },
      { highWaterMark: 1 },
    );
    this.body = readable;
    this.#writer = writable.getWriter();
    // A reader that cancels errors the writing side; that and nothing else rejects `closed`.
    this.#writer.closed.catch(() => this.#readerLeft());
  }

  write(frame: string): void {
    if (this.#gone || this.#ended) return;
    this.#pending += frame;
    if (this.#flushDue) return;
    this.#flushDue = true;
    nextMacrotask(() => this.#flush());
  }

  get full(): boolean {
    return this.#pending.length >= HIGH_WATER_MARK || (this.#writer.desiredSize ?? 0) <= 0;
  }

  room(): Promise<void> {
    if (this.#gone || this.#ended) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  end(): void {
    this.#ended = true;
    // A flush that is due closes after itself; without one nothing is pending.
    if (!this.#flushDue) this.#close();
    this.#wake();
  }

  encode(encode: (frames: string) => Uint8Array): void {
    this.#encode = encode;
  }

  left(callback: () => void): void {
    this.#left = callback;
  }

  #flush(): void {
    this.#flushDue = false;
    if (this.#gone) return;
    const frames = this.#pending;
    this.#pending = "";
    // Rejects when the reader has left, which `closed` tells too; meanwhile the agent may write on.
    this.#writer.write(frames).catch(() => this.#readerLeft());
    if (this.#ended) return this.#close();
    if (this.#waiting.length > 0) this.#writer.ready.then(() => this.#wakeIfRoom(), ignore);
  }

  #wakeIfRoom(): void {
    // Woken writers may have filled it again before this ran: they wait for the flush they made due.
    if (!this.full) this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #close(): void {
    this.#writer.close().catch(ignore);
  }

  #readerLeft(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#pending = "";
    this.#wake();
    if (!this.#ended) this.#left();
  }
}
