/** What a stream owes whoever reads it, as one error that says which promise was broken and where. */

/**
 * The promises every answer keeps:
 * - `INV-1`: a run begins with RUN_STARTED (or is a lone RUN_ERROR) and ends with one terminating event.
 * - `INV-2`: everything started is ended, and nothing is continued or ended that was not started here.
 * - `INV-3`: ids are those of the request.
 * - `INV-4`: every frame is one line of JSON, and every event is one the protocol describes.
 * - `INV-5`: interrupts are at least one, unique, and new.
 */
export type Invariant = "INV-1" | "INV-2" | "INV-3" | "INV-4" | "INV-5";

/** A stream that broke one of the promises of {@link Invariant}. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
  /** Which promise. */
  readonly invariant: Invariant;
  /** The place in the stream, counted from 0: of the event, or of the block where the body itself is wrong. */
  readonly index: number;
  /** The types of all events of the stream, as far as they were read. */
  readonly eventTypes: readonly string[];

  constructor(invariant: Invariant, index: number, problem: string, eventTypes: readonly string[]) {
    super(`${invariant} at ${index}: ${problem}\n  ${list(eventTypes, index)}`);
    this.invariant = invariant;
    this.index = index;
    this.eventTypes = eventTypes;
  }
}

/** `RUN_STARTED, TEXT_MESSAGE_CONTENT x3, >RUN_ERROR<`: repeats joined, the place marked. */
function list(eventTypes: readonly string[], index: number): string {
  const shown: string[] = [];
  let from = 0;
  for (let at = 1; at <= eventTypes.length; at += 1) {
    if (at < eventTypes.length && eventTypes[at] === eventTypes[from] && at !== index && from !== index) continue;
    const name = from === index ? `>${eventTypes[from]}<` : `${eventTypes[from]}`;
    shown.push(at - from > 1 ? `${name} x${at - from}` : name);
    from = at;
  }
  return shown.length === 0 ? "(no events)" : shown.join(", ");
}
