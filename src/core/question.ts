/**
 * One question of a turn, from the ask to its fate. It settles exactly once; whatever comes later
 * finds it settled.
 */
import type { Interrupt } from "@ag-ui/core";
import type { AnswerType, JsonValue } from "./answer-schema.ts";
import type { HoldlineError } from "./errors.ts";
import type { Place } from "./ledger.ts";

/** What is asked. */
export interface QuestionRequest extends Place {
  readonly reason: string;
  readonly message: string;
  readonly metadata: Record<string, JsonValue> | undefined;
  /** When the caller's own `timeoutMs` is over. */
  readonly deadline: number | undefined;
}

/** The question as the wire shows it, and the secret that proves its answer. */
export interface Issued {
  readonly id: string;
  readonly proof: string;
  readonly expiresAt: number;
  /** Where it stood when it went out: that may have ended since it was asked. */
  readonly place: Place;
}

export class Question {
  readonly request: QuestionRequest;
  /** Not counted as handled here: whoever hands it out sees to that. */
  readonly answer: Promise<unknown>;
  /** What the answer must be; `undefined` while the validator loads. */
  type: AnswerType | undefined;
  /** Set once the question has gone out. */
  issued: Issued | undefined;
  /** Forgets the timer of its own deadline. */
  disarm: (() => void) | undefined;
  #resolve: ((value: unknown) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(request: QuestionRequest) {
    this.request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  deliver(value: unknown): void {
    const resolve = this.#resolve;
    this.#close();
    resolve?.(value);
  }

  reject(error: HoldlineError | Error): void {
    const reject = this.#reject;
    this.#close();
    reject?.(error);
  }

  /** As the wire shows it. Only for a question that was issued. */
  interrupt(): Interrupt {
    const { reason, message, metadata } = this.request;
    const { id, proof, expiresAt, place } = this.issued as Issued;
    const { toolCallId, owner } = place;
    return {
      id,
      reason,
      message,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(owner === undefined ? {} : { subagentRunId: owner }),
      responseSchema: { ...(this.type as AnswerType).responseSchema },
      expiresAt: new Date(expiresAt).toISOString(),
      metadata: { ...metadata, holdline: { proof } },
    };
  }

  #close(): void {
    this.#resolve = undefined;
    this.#reject = undefined;
    this.disarm?.();
    this.disarm = undefined;
  }
}
