/**
 * A turn's way to the wire. Every event passes here: shaped, checked by the ledger, framed, and
 * written to whatever the turn has now — the open run, the kept events of a pause, or nobody.
 */
import type { Interrupt } from "@ag-ui/core";
import { Chunks } from "./chunks.ts";
import type { Ending } from "./ending.ts";
import { EventRefusedError } from "./errors.ts";
import { shape } from "./event-shape.ts";
import { deltaHead, frame, isPlain, quoted } from "./frames.ts";
import { appendTo, endOf, type Item, joinHalves, type WireEvent } from "./items.ts";
import { KeptEvents, nobody, type Sink } from "./kept-events.ts";
import { Ledger } from "./ledger.ts";
import { type Finding, formatPath } from "./read-shape.ts";
import type { Run } from "./run.ts";
import { TurnState } from "./state.ts";

/** Checks one event against the protocol's schemas; throws EventRefusedError. */
export type EventCheck = (event: WireEvent) => void;

/** Readers of the protocol give up on a frame of 10 MiB; none of ours is longer than this, in bytes. */
const LONGEST_FRAME = 8 * 1024 * 1024;
/** A longer delta goes out in pieces, in UTF-16 units: each may take six bytes. */
const LONGEST_DELTA = 1024 * 1024;
/** How many warnings a turn gives of what was stripped from its events. */
const MOST_STRIPPED = 20;

export class Output {
  readonly ledger: Ledger;
  readonly state: TurnState;
  readonly #chunks: Chunks;
  readonly #keptEvents: number;
  readonly #check: EventCheck | undefined;
  readonly #warn: (code: string, message: string) => void;
  #sink: Sink = nobody;
  /** Where something was stripped, indexes aside: said once. */
  readonly #stripped = new Set<string>();

  constructor(options: {
    state: unknown;
    keptEvents: number;
    check: EventCheck | undefined;
    warn: (code: string, message: string) => void;
  }) {
    this.#warn = options.warn;
    this.ledger = new Ledger(options.warn);
    this.#chunks = new Chunks(this.ledger);
    this.state = new TurnState(options.state);
    this.#keptEvents = options.keptEvents;
    this.#check = options.check;
  }

  get full(): boolean {
    return this.#sink.full;
  }

  room(): Promise<void> {
    return this.#sink.room();
  }

  /**
   * Sends one event of the agent's. @throws EventRefusedError, and then the stream is as sound as before.
   * @param strict refuses a STATE_DELTA that does not apply, which else goes out as the state as it stands.
   */
  send(given: unknown, strict = false): void {
    const shaped = shape(given, this.#tellStripped);
    this.#check?.(shaped);
    const { delta } = shaped;
    if (typeof delta !== "string" || delta.length <= LONGEST_DELTA) return this.#put(shaped, strict);
    const { metadata: _metadata, rawEvent: _rawEvent, ...further } = shaped;
    for (let at = 0; at < delta.length; at += LONGEST_DELTA) {
      const piece = delta.slice(at, at + LONGEST_DELTA);
      this.#put({ ...(at === 0 ? shaped : further), delta: piece } as WireEvent, strict);
    }
  }

  #put(shaped: WireEvent, strict: boolean): void {
    const change = this.state.take(shaped, (cause) => {
      if (strict)
        throw new EventRefusedError("STATE_DELTA: the patch does not apply to the state as it stands.", { cause });
      this.#warn(
        "PATCH_NOT_APPLIED",
        "A STATE_DELTA does not apply to the state as it stands: the state was sent instead, unchanged.",
      );
    });
    const event = change?.event ?? shaped;
    const text = framed(event);
    const out: WireEvent[] = [];
    try {
      this.#chunks.take(event, out);
    } finally {
      for (const one of out) this.#sink.write(one === event ? text : frame(one));
    }
    change?.commit();
  }

  readonly #tellStripped = (type: string, { path, message }: Finding): void => {
    const where = `${type}: ${formatPath(path, "the event")}`;
    const kind = where.replace(/\d+/g, "");
    if (this.#stripped.has(kind) || this.#stripped.size >= MOST_STRIPPED) return;
    this.#stripped.add(kind);
    this.#warn("EVENT_STRIPPED", `${where}: ${message}.`);
  };

  /** Appends to an item: `send` of its content event, for the one event that comes by the thousand. */
  append(item: Item, delta: string): void {
    if (item.state !== "open" || this.ledger.restarting || delta.length > LONGEST_DELTA)
      return this.send(appendTo(item, delta));
    item.head ??= deltaHead(appendTo(item));
    // Most deltas need neither an escape nor a look at surrogate pairs: one regular expression tells.
    if (item.half === "" && isPlain(delta)) {
      if (delta !== "") this.#sink.write(`${item.head}"${delta}"}\n\n`);
      return;
    }
    const whole = joinHalves(item, delta);
    if (whole !== "") this.#sink.write(`${item.head}${quoted(whole)}}\n\n`);
  }

  /** Ends an item that is still open; one that an interrupt closed meanwhile just stays so. */
  end(item: Item): void {
    if (item.state === "closed") return;
    this.send(endOf(item));
  }

  /** A run carries the turn from here: what its client must know, then what was kept. */
  attach(run: Run): void {
    const kept = this.#sink;
    this.#sink = run;
    this.ledger.beginRun(run.input);
    const told = this.state.beginRun(run.input.state);
    if (told !== undefined) run.write(frame(told));
    if (kept instanceof KeptEvents) kept.drain(run);
  }

  /** The sink that a resume took the place of lets its writers go on. */
  pause(): KeptEvents {
    const kept = new KeptEvents(this.#keptEvents);
    this.#sink = kept;
    return kept;
  }

  /** From here on what is emitted goes nowhere. Writers that wait go on. */
  drop(): void {
    if (this.#sink instanceof KeptEvents) this.#sink.release();
    this.#sink = nobody;
  }

  /** Writes what closes the run's stream before an interrupt. What was open is only suspended. */
  suspend(interrupts: readonly Interrupt[]): void {
    const state = this.state.endRun();
    // A state that has grown too large for a frame was told in patches.
    const told = state === undefined ? "" : frame(state);
    if (told !== "" && !isTooLong(told)) this.#sink.write(told);
    const raisedBy = (owner: string) =>
      interrupts.filter(({ subagentRunId }) => subagentRunId === owner).map(({ id }) => id);
    for (const event of this.ledger.endRun(raisedBy)) this.#sink.write(frame(event));
  }

  /** Writes what closes the run's stream before its last event, and gives that event its list of unanswered calls. */
  close(ending: Ending): Ending {
    // RUN_ERROR ends whatever is open (AG-UI lifecycle).
    if ("error" in ending) return ending;
    const pendingToolCallIds = this.ledger.unanswered();
    for (const event of this.ledger.endRun()) this.#sink.write(frame(event));
    return ending.outcome.type === "success" && pendingToolCallIds.length > 0
      ? { ...ending, outcome: { type: "success", pendingToolCallIds } }
      : ending;
  }
}

/** As a frame that every reader takes. @throws EventRefusedError */
function framed(event: WireEvent): string {
  let text: string;
  try {
    text = frame(event);
  } catch (cause) {
    throw new EventRefusedError(`${event.type} cannot be said in JSON.`, { cause });
  }
  if (isTooLong(text))
    throw new EventRefusedError(`${event.type} is longer than the ${LONGEST_FRAME} bytes a frame may have.`);
  return text;
}

/** Most frames are so short that nobody has to count their bytes. */
const isTooLong = (text: string): boolean =>
  text.length * 3 > LONGEST_FRAME && new TextEncoder().encode(text).byteLength > LONGEST_FRAME;
