/**
 * A turn: the agent's work on one input, entered once and carried by one run after another. Its
 * lifetime is the server's, not a response's: a run that ends with a question leaves it suspended
 * right where it asked. A turn owns its holding, its carriage and how it stands; its thread owns the turn.
 */
import type { Interrupt } from "@ag-ui/core";
import type { AgentContext, InputRequired } from "./agent.ts";
import { Carriage } from "./carriage.ts";
import { at } from "./clock.ts";
import { CANCELLED, type Ending, failure, inputRequired, success } from "./ending.ts";
import { enter } from "./enter.ts";
import {
  EventRefusedError,
  InputTimeoutError,
  InterruptCancelledError,
  TurnEndedError,
  TurnReleasedError,
} from "./errors.ts";
import type { Retained } from "./held-turns.ts";
import { Holding } from "./holding.ts";
import type { Host } from "./host.ts";
import type { Output } from "./output.ts";
import type { Question } from "./question.ts";
import type { Decision } from "./questions.ts";
import type { ReplayedRun } from "./replay.ts";
import type { Run } from "./run.ts";
import { Standing } from "./standing.ts";
import type { Stop } from "./stops.ts";
import * as stops from "./stops.ts";
import type { Thread } from "./threads.ts";

const LEFT_OPEN =
  "The agent ended while a question of its own was open, so nobody was asked, or heard: await what context.input, ask and approve give.";

export class Turn implements Retained {
  readonly thread: Thread;
  readonly host: Host;
  readonly carriage: Carriage;
  readonly standing = new Standing();
  readonly holding: Holding;
  // Made when first needed, like all that most turns do without: what a turn has while it is held, it keeps.
  #alwaysApproved: Set<string> | undefined;
  #calls: Map<Promise<unknown>, () => void> | undefined;
  #decided: InputRequired | undefined;
  /** Questions that the agent keeps itself, and that its run ends with. */
  #interrupts: Interrupt[] | undefined;
  /** Shows the prompt that was decided on while calls were running. */
  #showLast: (() => void) | undefined;
  #bound: (() => void) | undefined;
  /** Kept once another run carries the turn. */
  #userText: string | undefined;
  #onOver: (() => void)[] | undefined;

  constructor(host: Host, thread: Thread, run: Run) {
    this.host = host;
    this.thread = thread;
    this.carriage = new Carriage(host, run);
    this.holding = new Holding(this);
  }

  get identity(): string | null {
    return this.thread.identity;
  }

  get deadline(): number {
    return this.holding.deadline;
  }

  get output(): Output {
    return this.carriage.output;
  }

  /** What the user said that began the turn; the runs that bring answers have messages of their own. */
  get userText(): string {
    return this.#userText ?? this.carriage.latest.userText;
  }

  /** Tools whose later calls this turn's human approved with "always". */
  get alwaysApproved(): Set<string> {
    this.#alwaysApproved ??= new Set();
    return this.#alwaysApproved;
  }

  /** Tool calls that have not settled, and what answers each where the turn ends before it does. */
  get calls(): Map<Promise<unknown>, () => void> {
    this.#calls ??= new Map();
    return this.#calls;
  }

  /** The questions that can be answered now. */
  get outstanding(): Question[] {
    return this.holding.questions.outstanding;
  }

  /** Lets go of questions whose own deadline has passed. May end the holding of this turn. */
  expireDue(): void {
    this.holding.questions.expireDue();
  }

  // ── from start to end ─────────────────────────────────────────────────────────

  /** Enters the agent's function. The thread is this turn's already: nothing was awaited since it was found free. */
  start(run: Run, context: AgentContext): void {
    this.host.turns.add(this);
    this.host.counts.started++;
    this.carriage.open(run, () => this.#clientLeft());
    const onGenerator = (leave: () => void) => {
      this.standing.onStop = leave;
    };
    enter(this.host.settings.agent, context, onGenerator)
      .then(
        (result) => this.#returned(result),
        (error) => this.#threw(error),
      )
      // What was thrown may itself throw when it is looked at (a proxy): the run still ends.
      .catch((thrown) => {
        this.carriage.report(thrown);
        this.#end(failure(undefined));
      });
    // The agent's first step is over: where it does not replay, its run has begun.
    if (!this.standing.replaying) run.begin();
  }

  #returned(result: unknown): void {
    if (this.standing.stop !== undefined) return this.#end(CANCELLED);
    if (this.#decided !== undefined) return this.#endDecided(this.#decided);
    try {
      const kept = this.#interrupts;
      this.#end(kept === undefined ? success(result) : { outcome: { type: "interrupt", interrupts: kept } });
    } catch (error) {
      this.#threw(error);
    }
  }

  /** Turn control has decided the result: calls that still run go on to their end, and the prompt comes after them. */
  #endDecided(decided: InputRequired): void {
    if (this.calls.size === 0) return this.#end(success(decided));
    // Meanwhile the client may leave and the turn be stopped: its function is over, so that ends it.
    this.standing.onStop = () => this.#end(CANCELLED);
    void Promise.allSettled(this.calls.keys()).then(() => this.#end(success(decided)));
  }

  #threw(error: unknown): void {
    const { over, stop } = this.standing;
    if (over) return;
    const abandoned = error instanceof InterruptCancelledError;
    const awaited = abandoned || error instanceof InputTimeoutError || error instanceof TurnReleasedError;
    // An error that tells of a question's end is news only where a client is listening, or is still to answer another one.
    const isWaitedFor = this.carriage.live !== undefined || this.outstanding.length > 0;
    const isNews = !awaited || (stop === undefined && !abandoned && isWaitedFor);
    if (isNews) this.carriage.report(error);
    if (abandoned && (stop === undefined || stop.emits)) return this.#unwind();
    if (stop !== undefined) return this.#end(CANCELLED);
    if (this.#decided !== undefined) return this.#endDecided(this.#decided);
    this.host.counts.failed++;
    this.#end(failure(error));
  }

  /** The function ended by an abandoned question: calls that still run may settle, then the run is cancelled. */
  #unwind(): void {
    this.standing.winding = true;
    // Asked, meanwhile, by a sibling of what was abandoned: nobody may answer it any more, nor be asked it again.
    this.#takeBack();
    this.holding.questions.rejectAll(new TurnReleasedError(), "ended");
    this.#armBound();
    // Meanwhile only those calls emit; whoever ends the turn first (they, the bound, a stop) ends it once.
    void Promise.allSettled(this.calls.keys()).then(() => this.#end(CANCELLED));
  }

  #end(ending: Ending): void {
    const { standing } = this;
    if (standing.over) return;
    standing.over = true;
    this.#bound?.();
    if (!("error" in ending)) this.host.counts.finished++;
    const stands = standing.stop === undefined;
    const succeeds = stands && !("error" in ending);
    // Looked at first: an error is dear to make, and most turns end with nothing open.
    const { questions } = this.holding;
    if (questions.any) {
      // Most likely an `await` that was forgotten.
      if (succeeds) this.carriage.warn("QUESTION_LEFT_OPEN", LEFT_OPEN);
      questions.rejectAll(new TurnReleasedError("The turn ended before the question was answered."), "ended");
    }
    if (this.carriage.live !== undefined) {
      // A call without a result would be named as the client's to answer.
      if (succeeds) for (const answer of this.#calls?.values() ?? []) answer();
      if (stands) this.#showLast?.();
    }
    const finish = this.carriage.close(ending, stands);
    this.host.turns.delete(this);
    this.host.held.delete(this);
    // Free before the last event goes out: a client may send its next run the moment it reads it.
    this.thread.free(this);
    finish?.();
    for (const callback of this.#onOver ?? []) callback();
    this.thread.next();
  }

  /** Earlier runs go before the one that is open. @throws EventRefusedError, TurnEndedError, TurnReleasedError */
  async replay(given: readonly ReplayedRun[] | PromiseLike<readonly ReplayedRun[]>): Promise<void> {
    const { standing } = this;
    if (standing.replaying) throw new EventRefusedError("Earlier runs are being replayed already.");
    standing.replaying = true;
    try {
      await this.carriage.replay(given, () => standing.stop?.error ?? new TurnEndedError());
    } finally {
      standing.replaying = false;
    }
  }

  /** The agent's own questions, which nothing here waits on. @throws TypeError, EventRefusedError */
  interrupted(interrupts: readonly Interrupt[]): void {
    if (!this.host.settings.agent.keepsInterrupts)
      throw new TypeError("Only an agent with `keepsInterrupts` may end its run with interrupts of its own.");
    this.#interrupts = this.output.interrupts(interrupts);
  }

  /** Calls back when the turn is over, at once if it is. */
  whenOver(callback: () => void): void {
    if (this.standing.over) return callback();
    this.#onOver ??= [];
    this.#onOver.push(callback);
  }

  /** The answers have come, all checked and the turn found held in this same step. */
  resume(run: Run, decisions: ReadonlyMap<Question, Decision>): void {
    this.host.held.delete(this);
    this.thread.take(this);
    this.#userText = this.userText;
    this.carriage.open(run, () => this.#clientLeft());
    run.begin();
    // A socket may turn out to be dead as soon as it is written to; then the turn was released, and nothing is delivered.
    this.holding.deliver(this.standing.stop === undefined ? decisions : []);
    this.carriage.release();
    if (this.standing.stop !== undefined) return;
    if ([...decisions.values()].every((decision) => "error" in decision)) this.#halt(stops.abandoned());
    else this.holding.goOn();
  }

  // ── what stops a turn ───────────────────────────────────────────────────────────

  expire(): void {
    this.#release(stops.expired());
  }

  evict(): void {
    this.host.counts.evicted++;
    const { threadId } = this.thread;
    const message = `A turn held on thread ${JSON.stringify(threadId)} was released to make room for another: raise retention.maxHeld or shorten ttlMs.`;
    this.host.settings.warn({ code: "TURN_EVICTED", message, threadId });
    this.#release(stops.evicted());
  }

  /** Ends the turn as cancelled, once its function has unwound; until then the thread is busy with it. */
  stop(stop: Stop): void {
    if (this.standing.stop !== undefined) return;
    this.#takeBack();
    this.#halt(stop);
  }

  /** Held no more, though no run carries it: the thread is busy with it until its function has unwound. */
  #takeBack(): void {
    if (this.thread.held !== this) return;
    this.host.held.delete(this);
    this.thread.take(this);
    this.carriage.drop();
  }

  #clientLeft(): void {
    const { standing, carriage } = this;
    carriage.drop();
    if (!this.host.settings.finishAlone || standing.stop !== undefined || standing.winding)
      return this.#release(stops.clientLeft());
    standing.alone = true;
    const { refusal, questions } = this.holding;
    // A question asked in this very turn of the event loop is still held, for an owner who can be told again.
    if (refusal !== undefined) questions.rejectAll(refusal, "ended");
    else if (questions.waiting.length > 0) carriage.pause([]);
  }

  /** The thread is free at once; the function unwinds by itself. */
  #release(stop: Stop): void {
    this.thread.free(this);
    this.carriage.drop();
    this.#halt(stop);
    this.thread.next();
  }

  #halt(stop: Stop): void {
    const { standing } = this;
    if (standing.over || standing.stop !== undefined) return;
    standing.halt(stop, () => {
      this.holding.questions.rejectAll(stop.error, stop.cause, stop.unasked);
      this.carriage.wake();
      if (stop.emits) this.#armBound();
    });
  }

  /** An agent that does not unwind is given up on. */
  #armBound(): void {
    const { clock, closeTimeoutMs, warn } = this.host.settings;
    this.#bound ??= at(clock, clock.now() + closeTimeoutMs, () => {
      const { threadId } = this.thread;
      warn({
        code: "TURN_NOT_UNWOUND",
        message: `The agent on thread ${JSON.stringify(threadId)} did not end within ${closeTimeoutMs} ms of being stopped.`,
        threadId,
      });
      this.#end(CANCELLED);
    });
  }

  // ── turn control ────────────────────────────────────────────────────────────────

  /** Shows the prompt as a message and decides the run's result. @throws PromptInvalidError, TurnEndedError, TurnReleasedError */
  decide(prompt: string, reason: string | undefined, show: (prompt: string) => void): InputRequired {
    const refusal = this.standing.stop?.error ?? this.standing.emitRefusal;
    if (refusal !== undefined) throw refusal;
    const decided = inputRequired(prompt);
    this.#decided = decided;
    this.standing.decided = true;
    // A running call is answered first: a model's history wants a call's result right behind it.
    if (this.calls.size === 0) show(decided.message);
    else this.#showLast = () => show(decided.message);
    this.holding.questions.rejectWaiting(new TurnEndedError());
    const { threadId } = this.thread;
    const { runId } = this.carriage.latest.input;
    const why = reason === undefined ? {} : { reason };
    this.host.settings.trace({ type: "input-required", prompt: decided.message, ...why, threadId, runId });
    return decided;
  }
}
