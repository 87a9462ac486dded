/**
 * The time that turns live by. Everything with a deadline reads this clock, so that a test can
 * move it; the two things that follow the real event loop (the joining of questions asked
 * together and of frames written together) use `nextMacrotask` instead.
 */

/** What a timer is known by. Opaque: a number in browsers and Workers, an object in Node. */
export type TimerHandle = unknown;

/** A source of time, for tests. The default reads the system's. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `ms`; must not keep the process alive. */
  setTimeout(callback: () => void, ms: number): TimerHandle;
  /** Forgets a timer; a handle that has fired or is unknown is ignored. */
  clearTimeout(handle: TimerHandle): void;
}

/** The last instant a `Date` holds, in milliseconds. */
export const LAST_INSTANT = 8_640_000_000_000_000;

/** The longest delay a runtime's timer takes; more than this fires at once instead. */
const LONGEST_DELAY = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(callback, ms) {
    const handle: unknown = setTimeout(callback, ms);
    // Node, Bun and Deno: a waiting deadline must not keep the process alive.
    (handle as { unref?: () => void }).unref?.();
    return handle;
  },
  clearTimeout: (handle) => clearTimeout(handle as number),
};

/** A deadline that may lie further off than one timer reaches. Returns what cancels it. */
export function at(clock: Clock, instant: number, callback: () => void): () => void {
  let handle: TimerHandle;
  const arm = () => {
    const left = instant - clock.now();
    // A timer may fire a little early (Node rounds); the deadline is the clock's, so it is armed again.
    if (left <= 0) callback();
    else handle = clock.setTimeout(arm, Math.min(left, LONGEST_DELAY));
  };
  handle = clock.setTimeout(arm, Math.min(Math.max(instant - clock.now(), 0), LONGEST_DELAY));
  return () => clock.clearTimeout(handle);
}

/** Calls back after the current turn of the real event loop, never by the injected clock. */
export const nextMacrotask: (callback: () => void) => void =
  typeof setImmediate === "function"
    ? (callback) => void setImmediate(callback)
    : (callback) => void setTimeout(callback, 0);
declare const setImmediate: ((callback: () => void) => unknown) | undefined;
