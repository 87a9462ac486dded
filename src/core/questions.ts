/**
 * The questions a turn has asked and nobody has settled: those that wait to go out, and those that
 * went out together as one outcome. Owned by its turn; every way a question can end passes here.
 */
import type { Interrupt } from "@ag-ui/core";
import type { AnswerType } from "./answer-schema.ts";
import { at, type Clock } from "./clock.ts";
import { HoldlineError, InputTimeoutError, type InterruptCause, RefusalCode } from "./errors.ts";
import type { Place } from "./ledger.ts";
import { issueProof } from "./proof.ts";
import { Question, type QuestionRequest } from "./question.ts";

/** What becomes of one open interrupt of a resume. */
export type Decision = { readonly value: unknown } | { readonly error: HoldlineError };

/** The turn that owns questions, as they see it. */
export interface QuestionsOwner {
  /** An interrupt is no longer answerable. */
  spend(id: string, cause: InterruptCause): void;
  /** A question that had gone out died of its own `timeoutMs`. */
  timedOut(): void;
  /** The last validator that was loading has loaded. */
  loaded(): void;
}

/** How long questions may be that go out together, in UTF-16 units, each of which may take six bytes: one frame holds them. */
const LONGEST_TOGETHER = 1024 * 1024;

const lengthOf = ({ message, metadata }: QuestionRequest): number =>
  message.length + (metadata === undefined ? 0 : JSON.stringify(metadata).length);

export class Questions {
  #open: Question[] = [];
  /** Asked of the `humanInput` hook. */
  #local: Set<Question> | undefined;
  #loading = 0;
  readonly #clock: Clock;
  readonly #owner: QuestionsOwner;

  constructor(clock: Clock, owner: QuestionsOwner) {
    this.#clock = clock;
    this.#owner = owner;
  }

  /** Whether any is open. */
  get any(): boolean {
    return this.#open.length > 0 || this.#local !== undefined;
  }

  /** Registers a question at once, so that questions asked together go out together even while a validator loads. @throws RangeError when they are too long together. */
  add(request: QuestionRequest, type: AnswerType | Promise<AnswerType>): Question {
    let length = lengthOf(request);
    for (const waiting of this.waiting) length += lengthOf(waiting.request);
    if (length > LONGEST_TOGETHER)
      throw new RangeError(`The questions asked together are longer than ${LONGEST_TOGETHER} characters.`);
    const question = new Question(request);
    this.#open.push(question);
    if (request.deadline !== undefined)
      question.disarm = at(this.#clock, request.deadline, () => this.#expire(question));
    if (!(type instanceof Promise)) question.type = type;
    else {
      this.#loading++;
      const done = () => {
        if (--this.#loading === 0) this.#owner.loaded();
      };
      type.then(
        (read) => {
          question.type = read;
          done();
        },
        (error) => {
          this.#remove(question);
          question.reject(error);
          done();
        },
      );
    }
    return question;
  }

  /** Asks in process: the question is as open as any, so deadlines and stops reach it, but it never goes out. */
  askHook(
    request: QuestionRequest,
    type: AnswerType | Promise<AnswerType>,
    hook: (type: AnswerType) => unknown,
  ): Promise<unknown> {
    const question = new Question(request);
    this.#local ??= new Set();
    this.#local.add(question);
    if (request.deadline !== undefined) {
      question.disarm = at(this.#clock, request.deadline, () => {
        this.#local?.delete(question);
        question.reject(new InputTimeoutError());
      });
    }
    // The hook and a schema may take their time; a question that was settled meanwhile stays as it is.
    const answer = async () => {
      const read = await type;
      const verdict = await read.check(await hook(read));
      if (!verdict.ok)
        throw new HoldlineError(
          RefusalCode.INTERRUPT_PAYLOAD_REFUSED,
          `The humanInput hook's answer was refused: ${verdict.reason}.`,
        );
      return verdict.value;
    };
    answer()
      .then(
        (value) => question.deliver(value),
        (error) => question.reject(error),
      )
      .finally(() => this.#local?.delete(question));
    return question.answer;
  }

  /** Whether a validator is still loading; no outcome is made until it has. */
  get loading(): boolean {
    return this.#loading > 0;
  }

  /** Those that have not gone out. */
  get waiting(): Question[] {
    return this.#open.filter(({ issued }) => issued === undefined);
  }

  /** Those that have gone out and can still be answered. */
  get outstanding(): Question[] {
    return this.#open.filter(({ issued }) => issued !== undefined);
  }

  /** Gives every waiting question its id, proof and deadline: one outcome. */
  issue(issueId: () => string, retentionEnds: number, placeOf: (place: Place) => Place): Interrupt[] {
    return this.waiting.map((question) => {
      const expiresAt = Math.min(retentionEnds, question.request.deadline ?? retentionEnds);
      question.issued = { id: issueId(), proof: issueProof(), expiresAt, place: placeOf(question.request) };
      return question.interrupt();
    });
  }

  /** Lets those whose own deadline has passed go, timer or no timer. */
  expireDue(): void {
    const now = this.#clock.now();
    for (const question of this.outstanding) {
      if (question.request.deadline !== undefined && question.request.deadline <= now) this.#expire(question);
    }
  }

  /** Settles one question of an accepted resume. */
  settle(question: Question, decision: Decision): void {
    this.#remove(question);
    const failed = "error" in decision;
    this.#owner.spend(question.issued?.id as string, failed ? "abandoned" : "answered");
    if (failed) question.reject(decision.error);
    else question.deliver(decision.value);
  }

  /** Rejects whatever is open; `unasked` is for what had not gone out. */
  rejectAll(error: HoldlineError, cause: InterruptCause, unasked = error): void {
    this.#reject(this.#open, error, cause, unasked);
    for (const question of this.#local ?? []) question.reject(error);
    this.#local = undefined;
  }

  /** Rejects what has not gone out. */
  rejectWaiting(error: HoldlineError): void {
    this.#reject(this.waiting, error, "ended", error);
  }

  #reject(questions: Question[], error: HoldlineError, cause: InterruptCause, unasked: HoldlineError): void {
    for (const question of [...questions]) {
      this.#remove(question);
      if (question.issued !== undefined) this.#owner.spend(question.issued.id, cause);
      question.reject(question.issued === undefined ? unasked : error);
    }
  }

  #expire(question: Question): void {
    this.#remove(question);
    question.reject(new InputTimeoutError());
    if (question.issued === undefined) return;
    this.#owner.spend(question.issued.id, "expired");
    this.#owner.timedOut();
  }

  #remove(question: Question): void {
    this.#open = this.#open.filter((one) => one !== question);
  }
}
