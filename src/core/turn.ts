/**
 * A turn: the agent's work on one input, entered once and carried by one run after another. Its
 * lifetime is the server's, not a response's: a run that ends with a question leaves it suspended
 * right where it asked. A turn owns its questions and its output; its thread owns the turn.
 */
import type { Interrupt, TokenUsage } from "@ag-ui/core";
import type { AgentContext, InputRequired } from "./agent.ts";
import type { AnswerType } from "./answer-schema.ts";
import { at, nextMacrotask } from "./clock.ts";
import { CANCELLED, type Ending, failure, inputRequired, success } from "./ending.ts";
import { enter } from "./enter.ts";
import {
  EventRefusedError,
  type HoldlineError,
  HoldUnavailableError,
  InputTimeoutError,
  InterruptCancelledError,
  type InterruptCause,
  TurnEndedError,
  TurnReleasedError,
} from "./errors.ts";
import type { Retained } from "./held-turns.ts";
import type { Host } from "./host.ts";
import type { KeptEvents } from "./kept-events.ts";
import { LateWork } from "./late-work.ts";
import { LAST_INSTANT } from "./options.ts";
import { Output } from "./output.ts";
import type { Question, QuestionRequest } from "./question.ts";
import { type Decision, Questions, type QuestionsOwner } from "./questions.ts";
import { type ReplayedRun, replayed } from "./replay.ts";
import type { Run } from "./run.ts";
import type { Stop } from "./stops.ts";
import * as stops from "./stops.ts";
import type { Thread } from "./threads.ts";

/** In UTF-16 units, of which each may take six bytes. */
const LONGEST_QUESTIONS = 1024 * 1024;

const REPLAYING = "Earlier runs are being replayed: await that first.";

export class Turn implements Retained, QuestionsOwner {
  readonly thread: Thread;
  readonly host: Host;
  output: Output;
  /** The run that carries the turn, or carried it last. */
  latest: Run;
  deadline = 0;
  heldSince = 0;
  // Made when first needed, like all that most turns do without: what a turn has while it is held, it keeps.
  #alwaysApproved: Set<string> | undefined;
  #calls: Set<Promise<unknown>> | undefined;
  readonly #questions: Questions;
  #live: Run | undefined;
  #kept: KeptEvents | undefined;
  /** The client left and the turn runs on without one (`onDisconnect: "finish"`). */
  #alone = false;
  /** Its question died unanswered: nobody will hear it again. */
  #unheard = false;
  /** Earlier runs are being put before the open one. */
  #replaying = false;
  #late: LateWork | undefined;
  #stop: Stop | undefined;
  #decided: InputRequired | undefined;
  /** Questions that the agent keeps itself, and that its run ends with. */
  #interrupts: Interrupt[] | undefined;
  /** Shows the prompt that was decided on while calls were running. */
  #showLast: (() => void) | undefined;
  /** The function has ended by an abandoned question and only running calls are waited for. */
  #winding = false;
  #over = false;
  #outcomeDue = false;
  #controller: AbortController | undefined;
  /** Leaves the agent's generator, where it is one. */
  #leave: (() => void) | undefined;
  #bound: (() => void) | undefined;
  #onOver: (() => void)[] | undefined;
  /** Used while no run was open. */
  #usage: TokenUsage[] | undefined;

  constructor(host: Host, thread: Thread, run: Run) {
    const { settings } = host;
    this.host = host;
    this.thread = thread;
    this.latest = run;
    this.output = this.#createOutput();
    this.#questions = new Questions(settings.clock, this);
  }

  #createOutput(): Output {
    const { settings, check } = this.host;
    return new Output({ state: this.latest.input.state, keptEvents: settings.keptEvents, check }, this);
  }

  get identity(): string | null {
    return this.thread.identity;
  }

  /** Tools whose later calls this turn's human approved with "always". */
  get alwaysApproved(): Set<string> {
    this.#alwaysApproved ??= new Set();
    return this.#alwaysApproved;
  }

  /** Tool calls that have not settled. */
  get calls(): Set<Promise<unknown>> {
    this.#calls ??= new Set();
    return this.#calls;
  }

  /** The questions that can be answered now. */
  get outstanding(): Question[] {
    return this.#questions.outstanding;
  }

  /** Lets go of questions whose own deadline has passed. May end the holding of this turn. */
  expireDue(): void {
    this.#questions.expireDue();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stop !== undefined) this.#controller.abort(this.#stop.error);
    }
    return this.#controller.signal;
  }

  /** What an emit is answered with instead of being sent; `undefined` while it may go out. */
  get emitRefusal(): HoldlineError | undefined {
    const ended = this.#over || this.#decided !== undefined;
    return (
      this.released ?? (ended ? new TurnEndedError() : this.#replaying ? new EventRefusedError(REPLAYING) : undefined)
    );
  }

  /** Whether nothing at all goes out any more, not even the result of a call that was shown. */
  get silent(): boolean {
    return this.#over || this.released !== undefined;
  }

  /** The error of a turn whose output leads nowhere any more, for those who waited to emit. */
  get released(): HoldlineError | undefined {
    return this.#stop?.emits === false ? this.#stop.error : undefined;
  }

  /** Whether anybody may still hear what the agent would do next. */
  get heard(): boolean {
    return this.#stop === undefined && this.#decided === undefined && !this.#unheard && !this.#winding && !this.#over;
  }

  // ── from start to end ─────────────────────────────────────────────────────────

  /** Enters the agent's function. The thread is this turn's already: nothing was awaited since it was found free. */
  start(run: Run, context: AgentContext): void {
    this.host.turns.add(this);
    this.host.counts.started++;
    this.#carry(run);
    const onGenerator = (leave: () => void) => {
      this.#leave = leave;
    };
    enter(this.host.settings.agent, context, onGenerator).then(
      (result) => this.#returned(result),
      (error) => this.#threw(error),
    );
    // The agent's first step is over: where it does not replay, its run has begun.
    if (!this.#replaying) run.begin();
  }

  #carry(run: Run): void {
    this.latest = run;
    this.#live = run;
    run.onLeft = () => this.#clientLeft();
    for (const entry of this.#usage ?? []) run.addUsage(entry);
    this.#usage = undefined;
    run.start();
    this.output.attach(run, run.input);
  }

  #returned(result: unknown): void {
    if (this.#stop !== undefined) return this.#end(CANCELLED);
    try {
      const kept = this.#decided === undefined ? this.#interrupts : undefined;
      this.#end(
        kept === undefined ? success(this.#decided ?? result) : { outcome: { type: "interrupt", interrupts: kept } },
      );
    } catch (error) {
      this.#threw(error);
    }
  }

  #threw(error: unknown): void {
    if (this.#over) return;
    const abandoned = error instanceof InterruptCancelledError;
    const awaited = abandoned || error instanceof InputTimeoutError || error instanceof TurnReleasedError;
    // An error that tells of a question's end is news only to a client that is listening.
    const isNews = !awaited || (this.#stop === undefined && !abandoned && this.#live !== undefined);
    if (isNews) this.report(error);
    if (abandoned && (this.#stop === undefined || this.#stop.emits)) return this.#unwind();
    if (this.#stop !== undefined) return this.#end(CANCELLED);
    if (this.#decided !== undefined) return this.#end(success(this.#decided));
    this.host.counts.failed++;
    this.#end(failure(error));
  }

  /** The function ended by an abandoned question: calls that still run may settle, then the run is cancelled. */
  #unwind(): void {
    this.#winding = true;
    // Asked, meanwhile, by a sibling of what was abandoned: nobody may answer it any more, nor be asked it again.
    this.#takeBack();
    this.#questions.rejectAll(new TurnReleasedError(), "ended");
    this.#armBound();
    // Meanwhile only those calls emit; whoever ends the turn first (they, the bound, a stop) ends it once.
    void Promise.allSettled(this.calls).then(() => this.#end(CANCELLED));
  }

  #end(ending: Ending): void {
    if (this.#over) return;
    this.#over = true;
    this.#bound?.();
    if (!("error" in ending)) this.host.counts.finished++;
    // Looked at first: an error is dear to make, and most turns end with nothing open.
    if (this.#questions.any)
      this.#questions.rejectAll(new TurnReleasedError("The turn ended before the question was answered."), "ended");
    const run = this.#live;
    this.#live = undefined;
    if (run !== undefined && this.#decided !== undefined && this.#stop === undefined) this.#showLast?.();
    const last = run === undefined ? ending : this.output.close(ending);
    this.output.drop();
    this.host.turns.delete(this);
    this.host.held.delete(this);
    // Free before the last event goes out: a client may send its next run the moment it reads it.
    this.thread.free(this);
    run?.finish(last, this.#stop === undefined ? this.#lateFailure() : undefined);
    for (const callback of this.#onOver ?? []) callback();
    this.thread.next();
  }

  /** Earlier runs go before the one that is open. @throws EventRefusedError, TurnEndedError, TurnReleasedError */
  async replay(given: readonly ReplayedRun[] | PromiseLike<readonly ReplayedRun[]>): Promise<void> {
    const run = this.#live;
    if (run === undefined || !run.isFresh || this.#replaying)
      throw new EventRefusedError("replay comes first: call it before anything is awaited or emitted.");
    this.#replaying = true;
    try {
      const runs = await given;
      // Meanwhile the client may have left, and the turn may be over.
      if (this.#live !== run) throw this.#stop?.error ?? new TurnEndedError();
      const output = this.#createOutput();
      const frames = replayed(runs, run.input, output);
      output.take(run, this.output);
      this.output = output;
      run.begin(frames);
    } finally {
      this.#replaying = false;
      run.begin();
    }
  }

  /** Work whose failure is told even after the run has finished. */
  waitUntil(work: PromiseLike<unknown>): void {
    this.#late ??= new LateWork();
    this.#late.add(work);
  }

  #lateFailure(): Promise<Ending | undefined> | undefined {
    return this.#late?.over(this.host.settings, {
      report: (error) => this.report(error),
      gaveUp: () =>
        this.warn(
          "LATE_WORK_NOT_SETTLED",
          "What the agent waited for after its run had not settled in time; its stream was closed.",
        ),
    });
  }

  /** Counts what a model used: into the open run, or while paused into the next. */
  addUsage(entry: TokenUsage): void {
    if (this.#live !== undefined) this.#live.addUsage(entry);
    else {
      this.#usage ??= [];
      this.#usage.push(entry);
    }
  }

  warn(code: string, message: string): void {
    const { threadId, runId } = this.latest.input;
    this.host.settings.warn({ code, message, threadId, runId });
  }

  report(error: unknown): void {
    this.host.settings.report(error, { threadId: this.thread.threadId, runId: this.latest.input.runId });
  }

  /** The agent's own questions, which nothing here waits on. @throws TypeError, EventRefusedError */
  interrupted(interrupts: readonly Interrupt[]): void {
    if (!this.host.settings.agent.keepsInterrupts)
      throw new TypeError("Only an agent with `keepsInterrupts` may end its run with interrupts of its own.");
    this.#interrupts = this.output.interrupts(interrupts);
  }

  /** Calls back when the turn is over, at once if it is. */
  whenOver(callback: () => void): void {
    if (this.#over) return callback();
    this.#onOver ??= [];
    this.#onOver.push(callback);
  }

  // ── asking ────────────────────────────────────────────────────────────────────

  /** Asks. The question is registered before anything is awaited, so what is asked together goes out together. */
  ask(
    request: Omit<QuestionRequest, "deadline"> & { timeoutMs: number | undefined },
    type: AnswerType | Promise<AnswerType>,
    hook: ((type: AnswerType) => unknown) | undefined,
  ): Promise<unknown> {
    const refusal = this.askRefusal;
    if (refusal !== undefined) throw refusal;
    const { hold, clock } = this.host.settings;
    const { reason, message, toolCallId, owner, metadata, timeoutMs } = request;
    const deadline = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
    // Member by member: what is spread together gets a shape of its own, which weighs more than all that is in it.
    const question: QuestionRequest = { reason, message, toolCallId, owner, metadata, deadline };
    if (hook !== undefined) return this.#questions.askHook(question, type, hook);
    if (!hold) throw new HoldUnavailableError();
    // They go out in one frame, which may not be longer than a client reads.
    const together = this.#questions.waiting.reduce(
      (sum, { request }) => sum + request.message.length,
      request.message.length,
    );
    if (together > LONGEST_QUESTIONS)
      throw new RangeError(`The questions asked together are longer than ${LONGEST_QUESTIONS} characters.`);
    const { answer } = this.#questions.add(question, type);
    // Alone, what the turn emits from its question on is kept for whoever brings the answer.
    if (this.#alone) this.#pause([]);
    this.#scheduleOutcome();
    return answer;
  }

  /** Why nothing can be asked now; `undefined` while it can. */
  get askRefusal(): HoldlineError | undefined {
    if (this.#stop !== undefined) return this.#stop.error;
    if (this.#over || this.#decided !== undefined) return new TurnEndedError();
    if (this.#winding || this.#unheard) return new TurnReleasedError();
    if (this.#replaying) return new EventRefusedError(REPLAYING);
    // A hook needs no client.
    return this.#alone && this.identity === null && this.host.settings.humanInput === undefined
      ? new TurnReleasedError("The client left, and nobody else can be asked.")
      : undefined;
  }

  #scheduleOutcome(): void {
    if (this.#outcomeDue || (this.#live === undefined && !this.#alone)) return;
    this.#outcomeDue = true;
    // The real event loop, never the injected clock. Until then siblings may ask, the client may leave, the turn may end or be stopped.
    nextMacrotask(() => {
      this.#outcomeDue = false;
      this.#interrupt();
    });
  }

  /** Ends the run with every question that waits, all at once and without an `await`. */
  #interrupt(): void {
    if (this.#over || this.#stop !== undefined || this.#decided !== undefined || this.#questions.loading) return;
    const run = this.#live;
    if ((run === undefined && !this.#alone) || this.#questions.waiting.length === 0) return;
    const { clock, ttlMs } = this.host.settings;
    this.heldSince = clock.now();
    this.deadline = Math.min(this.heldSince + ttlMs, LAST_INSTANT);
    const interrupts = this.#questions.issue(this.host.ids.issue, this.deadline);
    this.#live = undefined;
    this.#alone = false;
    this.#pause(interrupts);
    // Held before the interrupt goes out: the answer may arrive the instant it is read.
    this.thread.hold(this);
    this.host.held.add(this);
    run?.finish({ outcome: { type: "interrupt", interrupts } });
    this.thread.next();
  }

  /** Closes what the run shows; what is emitted from here on is kept for the next one. */
  #pause(interrupts: readonly Interrupt[]): void {
    if (this.#kept !== undefined) return;
    this.output.suspend(interrupts);
    this.#kept = this.output.pause();
  }

  /** The answers have come, all checked and the turn found held in this same step. */
  resume(run: Run, decisions: ReadonlyMap<Question, Decision>): void {
    this.host.held.delete(this);
    this.thread.take(this);
    const kept = this.#kept;
    this.#kept = undefined;
    this.#carry(run);
    run.begin();
    // A socket may turn out to be dead as soon as it is written to; then the turn was released, and nothing is delivered.
    if (this.#stop !== undefined) return;
    const abandoned = [...decisions.values()].every((decision) => "error" in decision);
    for (const [question, decision] of decisions) this.#questions.settle(question, decision);
    kept?.release();
    if (abandoned) this.#halt(stops.abandoned());
    else if (this.#questions.waiting.length > 0) this.#scheduleOutcome();
  }

  spend(id: string, cause: InterruptCause): void {
    const { counts, spent } = this.host;
    if (cause === "answered" || cause === "abandoned" || cause === "expired") counts[cause]++;
    spent.remember(id, this.thread.key, cause);
  }

  loaded(): void {
    this.#scheduleOutcome();
  }

  /** When it was the last open question of the outcome, the code goes on, unheard. */
  timedOut(): void {
    if (this.thread.held !== this || this.#questions.outstanding.length > 0) return;
    this.#unheard = true;
    this.host.held.delete(this);
    this.thread.free(this);
    this.output.drop();
    this.#questions.rejectWaiting(new TurnReleasedError());
    this.thread.next();
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
    if (this.#stop !== undefined) return;
    this.#takeBack();
    this.#halt(stop);
  }

  /** Held no more, though no run carries it: the thread is busy with it until its function has unwound. */
  #takeBack(): void {
    if (this.thread.held !== this) return;
    this.host.held.delete(this);
    this.thread.take(this);
    this.output.drop();
  }

  #clientLeft(): void {
    this.#live = undefined;
    this.output.drop();
    if (!this.host.settings.finishAlone || this.#stop !== undefined || this.#winding)
      return this.#release(stops.clientLeft());
    this.#alone = true;
    const refusal = this.askRefusal;
    // A question asked in this very turn of the event loop is still held, for an owner who can be told again.
    if (refusal !== undefined) this.#questions.rejectAll(refusal, "ended");
    else if (this.#questions.waiting.length > 0) this.#pause([]);
  }

  /** The thread is free at once; the function unwinds by itself. */
  #release(stop: Stop): void {
    this.thread.free(this);
    this.output.drop();
    this.#halt(stop);
    this.thread.next();
  }

  #halt(stop: Stop): void {
    if (this.#over || this.#stop !== undefined) return;
    this.#stop = stop;
    this.#questions.rejectAll(stop.error, stop.cause, stop.unasked);
    if (stop.emits) this.#armBound();
    this.#controller?.abort(stop.error);
    this.#leave?.();
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
    const refusal = this.#stop?.error ?? this.emitRefusal;
    if (refusal !== undefined) throw refusal;
    const decided = inputRequired(prompt);
    this.#decided = decided;
    // A running call is answered first: a model's history wants a call's result right behind it.
    if (this.calls.size === 0) show(decided.message);
    else this.#showLast = () => show(decided.message);
    this.#questions.rejectWaiting(new TurnEndedError());
    const { threadId } = this.thread;
    const { runId } = this.latest.input;
    const why = reason === undefined ? {} : { reason };
    this.host.settings.trace({ type: "input-required", prompt: decided.message, ...why, threadId, runId });
    return decided;
  }
}
