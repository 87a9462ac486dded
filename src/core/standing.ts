/**
 * How a turn stands: what it may still emit and ask, and what it is told instead. Pure but for its
 * signal; the turn sets it, everything that speaks for the turn asks it.
 */
import { EventRefusedError, type HoldlineError, TurnEndedError, TurnReleasedError } from "./errors.ts";
import type { Stop } from "./stops.ts";

const REPLAYING = "Earlier runs are being replayed: await that first.";

export class Standing {
  /** Its function has ended, or was given up on. */
  over = false;
  /** Its result was decided by turn control. */
  decided = false;
  /** The function has ended by an abandoned question and only running calls are waited for. */
  winding = false;
  /** Its question died unanswered: nobody will hear it again. */
  unheard = false;
  /** Earlier runs are being put before the open one. */
  replaying = false;
  /** The client left and the turn runs on without one (`onDisconnect: "finish"`). */
  alone = false;
  #stop: Stop | undefined;
  #controller: AbortController | undefined;
  /** Leaves the agent's generator, where it is one; ends the turn, where its function is over and only calls are waited for. */
  onStop: (() => void) | undefined;

  /** What stopped it; the first to do so stays. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stop !== undefined) this.#controller.abort(this.#stop.error);
    }
    return this.#controller.signal;
  }

  /** Stops it. The agent hears after its questions were rejected: `tell` does that. */
  halt(stop: Stop, tell: () => void): void {
    this.#stop = stop;
    tell();
    this.#controller?.abort(stop.error);
    this.onStop?.();
  }

  /** The error of a turn whose output leads nowhere any more, for those who waited to emit. */
  get released(): HoldlineError | undefined {
    return this.#stop?.emits === false ? this.#stop.error : undefined;
  }

  /** Whether nothing at all goes out any more, not even the result of a call that was shown. */
  get silent(): boolean {
    return this.over || this.released !== undefined;
  }

  /** Whether anybody may still hear what the agent would do next. */
  get heard(): boolean {
    return this.#stop === undefined && !this.decided && !this.unheard && !this.winding && !this.over;
  }

  /** What an emit is answered with instead of being sent; `undefined` while it may go out. */
  get emitRefusal(): HoldlineError | undefined {
    if (this.released !== undefined) return this.released;
    if (this.over || this.decided) return new TurnEndedError();
    return this.replaying ? new EventRefusedError(REPLAYING) : undefined;
  }

  /** Why nothing can be asked now; `undefined` while it can. `anybodyElse`: somebody is there even when the client is not. */
  askRefusal(anybodyElse: boolean): HoldlineError | undefined {
    if (this.#stop !== undefined) return this.#stop.error;
    if (this.over || this.decided) return new TurnEndedError();
    if (this.winding || this.unheard) return new TurnReleasedError();
    if (this.replaying) return new EventRefusedError(REPLAYING);
    return this.alone && !anybodyElse
      ? new TurnReleasedError("The client left, and nobody else can be asked.")
      : undefined;
  }
}
