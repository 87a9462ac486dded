/**
 * What carries a turn: one run after another, with nothing but kept events in between, and the output
 * that goes with it through all of them. When a run is opened and closed is the turn's business.
 */
import type { Interrupt, TokenUsage } from "@ag-ui/core";
import type { Ending } from "./ending.ts";
import { EventRefusedError, type HoldlineError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { KeptEvents } from "./kept-events.ts";
import { LateWork } from "./late-work.ts";
import type { WarningListener } from "./ledger.ts";
import { Output } from "./output.ts";
import { type ReplayedRun, replayed } from "./replay.ts";
import type { Run } from "./run.ts";

export class Carriage implements WarningListener {
  output: Output;
  /** The run that carries the turn, or carried it last. */
  latest: Run;
  readonly #host: Host;
  #live: Run | undefined;
  #kept: KeptEvents | undefined;
  // Made when first needed, like all that most turns do without: what a turn has while it is held, it keeps.
  #late: LateWork | undefined;
  /** Lets go those who wait for room. */
  #waiting: Set<() => void> | undefined;
  /** Used while no run was open. */
  #usage: TokenUsage[] | undefined;

  constructor(host: Host, run: Run) {
    this.#host = host;
    this.latest = run;
    this.output = this.#createOutput();
  }

  #createOutput(): Output {
    const { settings, check } = this.#host;
    return new Output({ state: this.latest.input.state, keptEvents: settings.keptEvents, check }, this);
  }

  /** The run that is open. */
  get live(): Run | undefined {
    return this.#live;
  }

  /** Resolves when there is room, and when the turn is stopped: a reader that does not read must not hold that up. */
  room(): Promise<void> {
    this.#waiting ??= new Set();
    const waiting = this.#waiting;
    return new Promise((resolve) => {
      waiting.add(resolve);
      void this.output.room().then(() => {
        waiting.delete(resolve);
        resolve();
      });
    });
  }

  /** The turn was stopped: whoever waits for room may go on. */
  wake(): void {
    for (const resolve of this.#waiting ?? []) resolve();
    this.#waiting = undefined;
  }

  /** A run carries the turn from here; what was kept is sent first. */
  open(run: Run, onLeft: () => void): void {
    this.latest = run;
    this.#live = run;
    run.onLeft = onLeft;
    for (const entry of this.#usage ?? []) run.addUsage(entry);
    this.#usage = undefined;
    run.start();
    this.output.attach(run, run.input);
  }

  /** Whoever waited to emit while paused may go on: the answers are delivered. */
  release(): void {
    this.#kept?.release();
    this.#kept = undefined;
  }

  /** Closes what the run shows; what is emitted from here on is kept for the next one. @returns the run that was open. */
  pause(interrupts: readonly Interrupt[]): Run | undefined {
    const run = this.#live;
    this.#live = undefined;
    if (this.#kept !== undefined) return run;
    this.output.suspend(interrupts);
    this.#kept = this.output.pause();
    return run;
  }

  /** No run carries the turn any more: what it emits goes nowhere. */
  drop(): void {
    this.#live = undefined;
    this.output.drop();
  }

  /** Closes what the run shows. @returns what ends it, to be called once its thread is free; nothing without a run. */
  close(ending: Ending, late: boolean): (() => void) | undefined {
    const run = this.#live;
    if (run === undefined) {
      this.output.drop();
      // Nobody is left to be told of a late failure but the operator.
      if (late) void this.#lateFailure();
      return undefined;
    }
    const last = this.output.close(ending);
    this.drop();
    return () => run.finish(last, late ? this.#lateFailure() : undefined);
  }

  /** Earlier runs go before the one that is open. @throws EventRefusedError, or `gone()` once that run is not open any more. */
  async replay(
    given: readonly ReplayedRun[] | PromiseLike<readonly ReplayedRun[]>,
    gone: () => HoldlineError,
  ): Promise<void> {
    const run = this.#live;
    if (run === undefined || !run.isFresh)
      throw new EventRefusedError("replay comes first: call it before anything is awaited or emitted.");
    try {
      const runs = await given;
      // Meanwhile the client may have left, and the turn may be over.
      if (this.#live !== run) throw gone();
      const output = this.#createOutput();
      const frames = replayed(runs, run.input, output);
      output.take(run, this.output);
      this.output = output;
      run.begin(frames);
    } finally {
      run.begin();
    }
  }

  /** Work whose failure is told even after the run has finished. */
  waitUntil(work: PromiseLike<unknown>): void {
    this.#late ??= new LateWork();
    this.#late.add(work);
  }

  #lateFailure(): Promise<Ending | undefined> | undefined {
    const gaveUp = "What the agent waited for after its run had not settled in time; nobody waits for it any more.";
    return this.#late?.over(this.#host.settings, {
      report: (error) => this.report(error),
      gaveUp: () => this.warn("LATE_WORK_NOT_SETTLED", gaveUp),
    });
  }

  /** Counts what a model used: into the open run, or while paused into the next. */
  addUsage(entry: TokenUsage): void {
    if (this.#live !== undefined) return this.#live.addUsage(entry);
    this.#usage ??= [];
    this.#usage.push(entry);
  }

  warn(code: string, message: string): void {
    const { threadId, runId } = this.latest.input;
    this.#host.settings.warn({ code, message, threadId, runId });
  }

  report(error: unknown): void {
    const { threadId, runId } = this.latest.input;
    this.#host.settings.report(error, { threadId, runId });
  }
}
