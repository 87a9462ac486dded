/**
 * The AI SDK's `timeout`, counted while a model is at work: it stands still while tools run, so that
 * a human who thinks about a question does not run it down.
 */
import type { TimeoutConfiguration } from "ai";

/** One call of a model: its signal, and what keeps or ends its time. */
export interface Timer {
  /** Aborts with what the caller's signal aborts with, or because the time is up. */
  readonly signal: AbortSignal;
  /** Something came: the silence begins anew. */
  touch(): void;
  end(): void;
}

/** Milliseconds each; absent: without bound. */
interface Bounds {
  /** All calls of a turn together. */
  readonly totalMs?: number | undefined;
  /** One call. */
  readonly stepMs?: number | undefined;
  /** The silence within one call. */
  readonly chunkMs?: number | undefined;
}

export class ModelTime {
  readonly #bounds: Bounds;
  #used = 0;
  #end: () => void = () => {};

  constructor(timeout: TimeoutConfiguration | undefined) {
    this.#bounds = typeof timeout === "number" ? { totalMs: timeout } : (timeout ?? {});
  }

  start(caller: AbortSignal | undefined): Timer {
    const { totalMs = Infinity, stepMs = Infinity, chunkMs = Infinity } = this.#bounds;
    const up = new AbortController();
    const signal = caller === undefined ? up.signal : AbortSignal.any([caller, up.signal]);
    const began = Date.now();
    const expire = (what: string) => () => up.abort(new DOMException(`The model's ${what} is over.`, "TimeoutError"));
    const call = arm(Math.min(totalMs - this.#used, stepMs), expire("time"));
    let silence = arm(chunkMs, expire("time to say something"));
    let ended = false;
    this.#end = () => {
      if (ended) return;
      ended = true;
      clearTimeout(call);
      clearTimeout(silence);
      this.#used += Date.now() - began;
    };
    return {
      signal,
      touch: () => {
        if (ended) return;
        clearTimeout(silence);
        silence = arm(chunkMs, expire("time to say something"));
      },
      end: this.#end,
    };
  }

  /** Nothing is called any more. */
  end(): void {
    this.#end();
  }
}

/** Past this a timer would fire at once. */
const LONGEST = 2 ** 31 - 1;

const arm = (ms: number, expire: () => void): ReturnType<typeof setTimeout> | undefined =>
  ms > LONGEST ? undefined : setTimeout(expire, Math.max(ms, 0));
