/** What tests read off a run again and again. */
import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import type { TestRun, WireEvent } from "../../src/testing/index.ts";

/** The types of all events, in order: what most tests compare. */
export const typesOf = ({ events }: { readonly events: readonly WireEvent[] }): string[] =>
  events.map(({ type }) => type);

/** The one question a run ended with. */
export function soleInterrupt(run: Pick<TestRun, "interrupts" | "events">): Interrupt {
  const [interrupt] = run.interrupts;
  if (interrupt === undefined || run.interrupts.length !== 1)
    throw new Error(`The run did not end with one question, but with ${JSON.stringify(run.events.at(-1))}`);
  return interrupt;
}

/** The two questions a run ended with. */
export function twoInterrupts(run: Pick<TestRun, "interrupts" | "events">): [Interrupt, Interrupt] {
  const [first, second] = run.interrupts;
  if (first === undefined || second === undefined || run.interrupts.length !== 2)
    throw new Error(`The run did not end with two questions, but with ${JSON.stringify(run.events.at(-1))}`);
  return [first, second];
}

/** The secret issued with a question. */
export const proofOf = ({ metadata = {} }: Pick<Interrupt, "metadata">): string =>
  (metadata.holdline as { proof: string }).proof;

/** An answer as a client that copies the metadata sends it. */
export const answerTo = (interrupt: Pick<Interrupt, "id" | "metadata">, payload: unknown): ResumeEntry => ({
  interruptId: interrupt.id,
  status: "resolved",
  payload,
  ...(interrupt.metadata === undefined ? {} : { metadata: interrupt.metadata }),
});

/** A question given up. */
export const giveUp = (interrupt: Pick<Interrupt, "id" | "metadata">): ResumeEntry => ({
  interruptId: interrupt.id,
  status: "cancelled",
  ...(interrupt.metadata === undefined ? {} : { metadata: interrupt.metadata }),
});

/** The stable code and cause of a run that failed or was refused; of any other its outcome. */
export function endOf(run: Pick<TestRun, "error" | "outcome">): string {
  if (run.error === undefined) return run.outcome?.type ?? "none";
  const cause = (run.error.metadata?.holdline as { cause?: string } | undefined)?.cause;
  return cause === undefined ? String(run.error.code) : `${run.error.code} (${cause})`;
}

/** A refused run shows nothing but its refusal. */
export const isLone = ({ events }: Pick<TestRun, "events">): boolean =>
  events.length === 1 && events[0]?.type === "RUN_ERROR";
