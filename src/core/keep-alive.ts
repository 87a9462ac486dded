/**
 * Breaks the silence of open streams. One coarse timer serves them all: it ticks twice in
 * `keepAliveMs`, and a stream that was written nothing between two ticks gets a comment, so no
 * silence lasts longer than `keepAliveMs` and nothing is timed per frame.
 */
import { at, type Clock } from "./clock.ts";

/** A stream that may be silent for too long. */
export interface Quiet {
  /** Set by every write, cleared at each tick. */
  active: boolean;
  /** Writes a comment, unless the reader is behind anyway. */
  keepAlive(): void;
}

export class KeepAlive {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #streams = new Set<Quiet>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, keepAliveMs: number) {
    this.#clock = clock;
    this.#tickMs = keepAliveMs / 2;
  }

  add(stream: Quiet): void {
    if (this.#tickMs === 0) return;
    this.#streams.add(stream);
    if (this.#cancel === undefined) this.#arm();
  }

  delete(stream: Quiet): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #arm(): void {
    this.#cancel = at(this.#clock, this.#clock.now() + this.#tickMs, () => {
      this.#arm();
      for (const stream of this.#streams) {
        if (!stream.active) stream.keepAlive();
        stream.active = false;
      }
    });
  }
}
