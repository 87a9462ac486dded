/**
 * What stops a turn from outside, one row each: what its questions reject with, whether what it
 * still emits goes out, and what a late answer is told.
 */
import {
  type HoldlineError,
  InputTimeoutError,
  InterruptCancelledError,
  type InterruptCause,
  TurnReleasedError,
} from "./errors.ts";

export interface Stop {
  /** What asks reject with, and `signal.reason`. */
  readonly error: HoldlineError;
  /** What questions that had not gone out reject with, where that differs. */
  readonly unasked?: HoldlineError;
  /**
   * Whether events still go out while the agent unwinds, its thread busy until then; otherwise they reject and the
   * thread is free at once.
   */
  readonly emits: boolean;
  readonly cause: InterruptCause;
}

export const clientLeft = (): Stop => ({
  error: new TurnReleasedError("The client left."),
  emits: false,
  cause: "ended",
});

export const expired = (): Stop => ({
  error: new InputTimeoutError(),
  unasked: new TurnReleasedError(),
  emits: false,
  cause: "expired",
});

export const evicted = (): Stop => ({
  error: new TurnReleasedError("The turn was released to make room for another."),
  emits: false,
  cause: "evicted",
});

export const abandoned = (): Stop => ({ error: new InterruptCancelledError(), emits: true, cause: "abandoned" });

export const stopped = (): Stop => ({
  error: new TurnReleasedError("The turn was stopped."),
  emits: true,
  cause: "stopped",
});

export const closed = (): Stop => ({
  error: new TurnReleasedError("The turn was stopped: its server is closing."),
  emits: true,
  cause: "closed",
});
