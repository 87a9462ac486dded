/**
 * A clock whose timers come late: its reading can be moved ahead of them, as when the event loop was blocked or the
 * machine slept past a deadline.
 */
import { createTestClock, type TestClock } from "../../src/testing/index.ts";

export interface LateClock extends TestClock {
  /** Moves the reading on at once, and fires nothing. */
  jump(ms: number): void;
}

export function createLateClock(): LateClock {
  const clock = createTestClock();
  let ahead = 0;
  return {
    now: () => clock.now() + ahead,
    setTimeout: clock.setTimeout,
    clearTimeout: clock.clearTimeout,
    advance: clock.advance,
    get pending() {
      return clock.pending;
    },
    jump(ms) {
      ahead += ms;
    },
  };
}
