/**
 * How a turn asks and is held: from the ask to the outcome that shows it, and from the answer back to the
 * code that waits. When the turn begins and ends, and what stops it, is the turn's own business.
 */
import type { AnswerType } from "./answer-schema.ts";
import { LAST_INSTANT, nextMacrotask } from "./clock.ts";
import { type HoldlineError, HoldUnavailableError, type InterruptCause, TurnReleasedError } from "./errors.ts";
import type { Question, QuestionRequest } from "./question.ts";
import { type Decision, Questions, type QuestionsOwner } from "./questions.ts";
import type { Turn } from "./turn.ts";

export class Holding implements QuestionsOwner {
  readonly questions: Questions;
  /** When the held turn is released if nobody has answered, and since when it is held; as it was held last. */
  deadline = 0;
  since = 0;
  /** How often the turn asked though nothing could be asked any more. */
  refusals = 0;
  #outcomeDue = false;
  readonly #turn: Turn;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.questions = new Questions(turn.host.settings.clock, this);
  }

  /** Asks. The question is registered before anything is awaited, so what is asked together goes out together. */
  ask(
    request: Omit<QuestionRequest, "deadline"> & { timeoutMs: number | undefined },
    type: AnswerType | Promise<AnswerType>,
    hook: ((type: AnswerType) => unknown) | undefined,
  ): Promise<unknown> {
    const refusal = this.refusal;
    if (refusal !== undefined) throw refusal;
    const { hold, clock } = this.#turn.host.settings;
    const { reason, message, toolCallId, owner, metadata, timeoutMs } = request;
    const deadline = timeoutMs === undefined ? undefined : clock.now() + timeoutMs;
    // Member by member: what is spread together gets a shape of its own, which weighs more than all that is in it.
    const question: QuestionRequest = { reason, message, toolCallId, owner, metadata, deadline };
    if (hook !== undefined) return this.questions.askHook(question, type, hook);
    if (!hold) throw new HoldUnavailableError();
    const { answer } = this.questions.add(question, type);
    this.#showWaiting();
    return answer;
  }

  /** Why nothing can be asked now; `undefined` while it can. */
  get refusal(): HoldlineError | undefined {
    const { standing, identity, host } = this.#turn;
    // Somebody identified can be asked again, and a hook needs no client.
    return standing.askRefusal(identity !== null || host.settings.humanInput !== undefined);
  }

  /** What has been asked goes out together, once this turn of the event loop is over. */
  #showWaiting(): void {
    // Alone, what the turn emits from its question on is kept for whoever brings the answer.
    if (this.#turn.standing.alone) this.#turn.carriage.pause([]);
    this.#scheduleOutcome();
  }

  #scheduleOutcome(): void {
    const { carriage, standing } = this.#turn;
    if (this.#outcomeDue || (carriage.live === undefined && !standing.alone)) return;
    this.#outcomeDue = true;
    // The real event loop, never the injected clock. Until then siblings may ask, the client may leave, the turn may end or be stopped.
    nextMacrotask(() => {
      this.#outcomeDue = false;
      this.#interrupt();
    });
  }

  /** Ends the run with every question that waits, all at once and without an `await`. */
  #interrupt(): void {
    const turn = this.#turn;
    const { standing, carriage, thread, host } = turn;
    if (standing.over || standing.stop !== undefined || standing.decided || this.questions.loading) return;
    if ((carriage.live === undefined && !standing.alone) || this.questions.waiting.length === 0) return;
    const { clock, ttlMs } = host.settings;
    this.since = clock.now();
    this.deadline = Math.min(this.since + ttlMs, LAST_INSTANT);
    const interrupts = this.questions.issue(host.ids.issue, this.deadline, (place) =>
      turn.output.ledger.placeOf(place),
    );
    standing.alone = false;
    const run = carriage.pause(interrupts);
    // Held before the interrupt goes out: the answer may arrive the instant it is read.
    thread.hold(turn);
    host.held.add(turn);
    run?.finish({ outcome: { type: "interrupt", interrupts } });
    thread.next();
  }

  /** Settles what a resume decided. */
  deliver(decisions: Iterable<readonly [Question, Decision]>): void {
    for (const [question, decision] of decisions) this.questions.settle(question, decision);
  }

  /** Shows what was asked while the turn was held, if anything was. */
  goOn(): void {
    // The client may have left at the first write: what follows the question that waits is kept for its owner.
    if (this.questions.waiting.length > 0) this.#showWaiting();
  }

  spend(id: string, cause: InterruptCause): void {
    const { host, thread } = this.#turn;
    if (cause === "answered" || cause === "abandoned" || cause === "expired") host.counts[cause]++;
    host.spent.remember(id, thread.key, cause);
  }

  loaded(): void {
    this.#scheduleOutcome();
  }

  /** When it was the last open question of the outcome, the code goes on, unheard. */
  timedOut(): void {
    const turn = this.#turn;
    const { thread, standing, carriage, host } = turn;
    if (thread.held !== turn || this.questions.outstanding.length > 0) return;
    standing.unheard = true;
    host.held.delete(turn);
    thread.free(turn);
    carriage.drop();
    this.questions.rejectWaiting(new TurnReleasedError());
    thread.next();
  }
}
