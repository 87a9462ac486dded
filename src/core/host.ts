/**
 * What the turns of one handler share.
 */
import type { HeldTurns } from "./held-turns.ts";
import type { EventCheck } from "./output.ts";
import type { InterruptIds } from "./proof.ts";
import type { Settings } from "./settings.ts";
import type { SpentInterrupts } from "./spent-interrupts.ts";
import type { Turn } from "./turn.ts";

/** Counts since the handler was made. */
export interface Counts {
  /** Turns that were begun. */
  started: number;
  /** Turns that ended other than by an error. */
  finished: number;
  /** Turns that ended with an error. */
  failed: number;
  /** Questions that were answered. */
  answered: number;
  /** Questions that were given up. */
  abandoned: number;
  /** Questions whose deadline passed. */
  expired: number;
  /** Turns that were let go because there were too many. */
  evicted: number;
}

export interface Host {
  readonly settings: Settings;
  readonly held: HeldTurns<Turn>;
  readonly ids: InterruptIds;
  readonly spent: SpentInterrupts;
  /** Every turn whose function has not ended, wherever it stands. */
  readonly turns: Set<Turn>;
  readonly counts: Counts;
  /** Runs that were refused, by code. */
  readonly refused: Record<string, number>;
  /** Checks events against the protocol's schemas, with `validate: true` and once they have loaded. */
  check: EventCheck | undefined;
}
