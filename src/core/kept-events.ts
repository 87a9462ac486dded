/**
 * Where a paused turn's frames go: kept, in order, until a later run sends them first. When as many
 * are kept as may be, the agent waits for that run.
 */
import type { Outlet } from "./outlet.ts";

/** What frames are written to: an open run, or what stands in for one. */
export type Sink = Pick<Outlet, "write" | "full" | "room">;

/** The most characters kept, beside the limit on how many events. */
const MOST_KEPT = 1024 * 1024;

const atOnce = Promise.resolve();

/** For a turn nobody listens to: what it emits is accepted and dropped. */
export const nobody: Sink = { write() {}, full: false, room: () => atOnce };

export class KeptEvents implements Sink {
  readonly #most: number;
  #frames: string[] = [];
  #size = 0;
  #room: Promise<void> | undefined;
  #release: (() => void) | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  write(frame: string): void {
    this.#frames.push(frame);
    this.#size += frame.length;
  }

  get full(): boolean {
    return this.#frames.length >= this.#most || this.#size >= MOST_KEPT;
  }

  room(): Promise<void> {
    this.#room ??= new Promise((resolve) => {
      this.#release = resolve;
    });
    return this.#room;
  }

  /** Hands what was kept over, in order. */
  drain(sink: Sink): void {
    for (const frame of this.#frames) sink.write(frame);
    this.#frames = [];
  }

  /** Lets whoever waits for room go on. */
  release(): void {
    this.#release?.();
  }
}
