/**
 * A clock that a test moves. Deadlines fire when the test says so and in their order; what they
 * wake runs on the real event loop, which `advance` waits for, so that no test needs to sleep.
 */
import type { Clock, TimerHandle } from "../index.ts";

/** A clock for the `clock` option that stands still until it is advanced. */
export interface TestClock extends Clock {
  /**
   * Moves time on by `ms`, firing what falls due on the way: by due time, then in the order the timers
   * were set, those included that were set meanwhile. While one fires, `now()` is the instant it was due.
   * Before the first and after each, what is ready on the event loop runs; so `advance(0)` lets work that is under
   * way settle, and fires what is due now. Calls wait for each other.
   * Rejects with what a timer's callback threw; the clock then stands at that timer's instant.
   * @throws RangeError when `ms` is negative or not finite.
   */
  advance(ms: number): Promise<void>;
  /** How many timers wait to fire. */
  readonly pending: number;
}

/** Later than any real clock says, so that a client that reads its own takes no deadline here for past. */
const START = Date.UTC(2100, 0, 1);

/** How many turns of the event loop what a timer woke gets: asking, ending a run and writing it are one each. */
const TURNS = 10;

/** Loaded when a question first needs it, and no number of turns is long enough to read files in. */
let validator: Promise<unknown> | undefined;

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * Creates a clock that stands at `startMs`, milliseconds since the epoch (default: the first instant of the year 2100, UTC).
 * @throws RangeError when `startMs` is not finite.
 */
export function createTestClock(startMs: number = START): TestClock {
  if (!Number.isFinite(startMs)) throw new RangeError(`A clock cannot start at ${startMs}.`);
  let now = startMs;
  let lastHandle = 0;
  /** In the order they were set, which a Map keeps and which decides between equals. */
  const timers = new Map<TimerHandle, Timer>();
  let advanced: Promise<void> = Promise.resolve();

  function earliest(until: number): [TimerHandle, Timer] | undefined {
    let found: [TimerHandle, Timer] | undefined;
    for (const entry of timers) {
      if (entry[1].due <= until && (found === undefined || entry[1].due < found[1].due)) found = entry;
    }
    return found;
  }

  async function move(ms: number): Promise<void> {
    validator ??= import("@cfworker/json-schema");
    await validator;
    // Work that is under way may be about to set the very timer that this advance is meant to fire.
    await settle();
    const until = now + ms;
    for (let next = earliest(until); next !== undefined; next = earliest(until)) {
      const [handle, timer] = next;
      timers.delete(handle);
      now = timer.due;
      timer.callback();
      await turns();
    }
    now = until;
    await settle();
  }

  return {
    now: () => now,
    setTimeout(callback, ms) {
      lastHandle += 1;
      timers.set(lastHandle, { due: now + delayOf(ms), callback });
      return lastHandle;
    },
    clearTimeout(handle) {
      timers.delete(handle);
    },
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) return Promise.reject(new RangeError(`Time cannot be advanced by ${ms} ms.`));
      const moved = advanced.then(() => move(ms));
      advanced = moved.catch(() => {});
      return moved;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** As real timers have it: a delay that is negative or no number is none, and one that they cannot count is one millisecond. */
function delayOf(ms: number): number {
  if (!(ms > 0)) return 0;
  return ms > 2 ** 31 - 1 ? 1 : ms;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise<void>((resolve) => afterThisTurn(resolve));
}

declare const setImmediate: ((callback: () => void) => unknown) | undefined;
/** The next turn of the real event loop, by the same means as the server yields. */
const afterThisTurn: (callback: () => void) => void =
  typeof setImmediate === "function"
    ? (callback) => void setImmediate(callback)
    : (callback) => void setTimeout(callback, 0);

async function settle(): Promise<void> {
  await turns();
  // Zero timers come in a phase of their own in Node: code that yields by them has not run yet.
  await new Promise<void>((resolve) => setTimeout(resolve, 0));
  await turns();
}
