/**
 * A turn's way to the wire. Every event passes here: shaped, checked by the ledger, framed, and
 * written to whatever the turn has now — the open run, the kept events of a pause, or nobody.
 */
import type { Interrupt, RunAgentInput } from "@ag-ui/core";
import { Chunks } from "./chunks.ts";
import { type Ending, withPending } from "./ending.ts";
import { EventRefusedError } from "./errors.ts";
import { shape, shapeInterrupts } from "./event-shape.ts";
import { deltaHead, frame, isPlain, isTooLong, LONGEST_FRAME, quoted } from "./frames.ts";
import { appendTo, endOf, type Item, joinHalves, type WireEvent } from "./items.ts";
import { KeptEvents, nobody, type Sink } from "./kept-events.ts";
import { Ledger, type WarningListener } from "./ledger.ts";
import { type Finding, formatPath } from "./read-shape.ts";
import { TurnState } from "./state.ts";

/** Checks one event against the protocol's schemas; throws EventRefusedError. */
export type EventCheck = (event: WireEvent) => void;

const NONE: readonly Item[] = [];

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
  readonly #listener: WarningListener;
  #sink: Sink = nobody;
  #messages: (() => unknown) | undefined;
  /** Where something was stripped, indexes aside: said once. */
  #stripped: Set<string> | undefined;

  constructor(
    options: { state: unknown; keptEvents: number; check: EventCheck | undefined },
    listener: WarningListener,
  ) {
    this.#listener = listener;
    this.ledger = new Ledger(listener);
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
   * @param ends what the event ends, once it is taken: their ends go out before it.
   */
  send(given: unknown, strict = false, ends: readonly Item[] = NONE): void {
    const shaped = shape(given, (type, finding) => this.#tellStripped(type, finding));
    this.#check?.(shaped);
    const { delta } = shaped;
    if (typeof delta !== "string" || delta.length <= LONGEST_DELTA) return this.#put(shaped, strict, ends);
    const { metadata: _metadata, rawEvent: _rawEvent, ...further } = shaped;
    for (let at = 0; at < delta.length; at += LONGEST_DELTA) {
      const piece = delta.slice(at, at + LONGEST_DELTA);
      this.#put({ ...(at === 0 ? shaped : further), delta: piece } as WireEvent, strict, at === 0 ? ends : NONE);
    }
  }

  #put(shaped: WireEvent, strict: boolean, ends: readonly Item[]): void {
    const change = this.state.take(shaped, (cause) => {
      if (strict)
        throw new EventRefusedError("STATE_DELTA: the patch does not apply to the state as it stands.", { cause });
      this.#listener.warn(
        "PATCH_NOT_APPLIED",
        "A STATE_DELTA does not apply to the state as it stands: the state was sent instead, unchanged.",
      );
    });
    const event = change?.event ?? shaped;
    const text = framed(event);
    const taken = this.#chunks.take(event);
    for (const item of ends) {
      if (item.state !== "closed") for (const end of this.ledger.take(endOf(item))) this.#sink.write(frame(end));
    }
    for (const one of taken) this.#sink.write(one === event ? text : frame(one));
    change?.commit();
  }

  /** Interrupts that the agent keeps itself, as they may go out. @throws EventRefusedError */
  interrupts(given: unknown): Interrupt[] {
    return shapeInterrupts(given, (type, finding) => this.#tellStripped(type, finding));
  }

  #tellStripped(type: string, { path, message }: Finding): void {
    const where = `${type}: ${formatPath(path, "the whole")}`;
    const kind = where.replace(/\d+/g, "");
    this.#stripped ??= new Set();
    if (this.#stripped.has(kind) || this.#stripped.size >= MOST_STRIPPED) return;
    this.#stripped.add(kind);
    this.#listener.warn("EVENT_STRIPPED", `${where}: ${message}.`);
  }

  /** Appends to an item: `send` of its content event, for the one event that comes by the thousand. */
  append(item: Item, delta: string): void {
    if (item.state !== "open" || delta.length > LONGEST_DELTA) return this.send(appendTo(item, delta));
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
  attach(sink: Sink, input: RunAgentInput): void {
    const kept = this.#sink;
    this.#sink = sink;
    this.ledger.beginRun(input);
    const told = this.state.beginRun(input.state);
    if (told !== undefined && !this.#tellState(told))
      this.#listener.warn(
        "STATE_NOT_SHOWN",
        "The client holds another state than the turn's, which no frame can hold.",
      );
    if (kept instanceof KeptEvents) kept.drain(sink);
  }

  /** Closes a run that is restated. What was told in it is what the next one's client has. @returns its calls without a result. */
  endRestated(sink: Sink): string[] {
    const unanswered = this.ledger.unanswered();
    for (const event of this.ledger.endRun()) sink.write(frame(event));
    this.state.endRun();
    this.state.beginRun(this.state.value);
    return unanswered;
  }

  /** Goes on with a run where `before` has sent nothing. */
  take(sink: Sink, before: Output): void {
    this.#sink = sink;
    this.#messages = before.#messages;
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
    this.state.lose();
  }

  /** Asks for the whole conversation before each interrupt, to show it. */
  keepMessages(give: () => unknown): void {
    this.#messages = give;
  }

  /** Writes what closes the run's stream before an interrupt. What was open is only suspended. */
  suspend(interrupts: readonly Interrupt[]): void {
    this.#showWhole();
    const raisedBy = (owner: string) =>
      interrupts.filter(({ subagentRunId }) => subagentRunId === owner).map(({ id }) => id);
    for (const event of this.ledger.endRun(raisedBy)) this.#sink.write(frame(event));
  }

  /** Tells the whole state, unless it has grown, in patches, too long for a frame or too deep for JSON. @returns whether it was told. */
  #tellState(state: WireEvent): boolean {
    let told: string;
    try {
      told = frame(state);
    } catch {
      // No question, and no answer, is lost for that.
      return false;
    }
    if (isTooLong(told)) return false;
    this.#sink.write(told);
    return true;
  }

  /** Before an interrupt its client is told the whole: the state, where the turn changed it, and the messages, where the agent keeps them. */
  #showWhole(): void {
    const state = this.state.endRun();
    if (state !== undefined) this.#tellState(state);
    if (this.#messages === undefined) return;
    try {
      this.send({ type: "MESSAGES_SNAPSHOT", messages: this.#messages() });
    } catch (error) {
      // The question goes out all the same: an answer to it is worth more than a view of what led to it.
      const why = error instanceof EventRefusedError ? error.message : "giving them failed.";
      this.#listener.warn("MESSAGES_NOT_SHOWN", `The agent's messages could not be shown before an interrupt: ${why}`);
    }
  }

  /** Writes what closes the run's stream before its last event, and gives that event its list of unanswered calls. */
  close(ending: Ending): Ending {
    // RUN_ERROR ends whatever is open (AG-UI lifecycle).
    if ("error" in ending) return ending;
    if (ending.outcome.type === "interrupt") {
      this.suspend(ending.outcome.interrupts);
      return ending;
    }
    const unanswered = this.ledger.unanswered();
    for (const event of this.ledger.endRun()) this.#sink.write(frame(event));
    return withPending(ending, unanswered);
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
