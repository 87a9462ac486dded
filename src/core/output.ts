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
import { KeptEvents, nobody, type Sink } from "./kept-events.ts";
import { appendTo, endOf, type Item, joinHalves, Ledger, type WireEvent } from "./ledger.ts";
import type { Run } from "./run.ts";
import { TurnState } from "./state.ts";

/** Checks one event against the protocol's schemas; throws EventRefusedError. */
export type EventCheck = (event: WireEvent) => void;

export class Output {
  readonly ledger = new Ledger();
  readonly state: TurnState;
  readonly #chunks = new Chunks(this.ledger);
  readonly #keptEvents: number;
  readonly #check: EventCheck | undefined;
  #sink: Sink = nobody;

  constructor(options: { state: unknown; keptEvents: number; check: EventCheck | undefined }) {
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

  /** Sends one event of the agent's. @throws EventRefusedError, and then the stream is as sound as before. */
  send(given: unknown): void {
    const shaped = shape(given);
    this.#check?.(shaped);
    const change = this.state.take(shaped);
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

  /** Appends to an item: `send` of its content event, for the one event that comes by the thousand. */
  append(item: Item, delta: string): void {
    if (item.state !== "open" || this.ledger.restarting) return this.send(appendTo(item, delta));
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
    if (state !== undefined) this.#sink.write(frame(state));
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

function framed(event: WireEvent): string {
  try {
    return frame(event);
  } catch (cause) {
    throw new EventRefusedError(`${event.type} cannot be said in JSON.`, { cause });
  }
}
