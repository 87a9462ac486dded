/**
 * One resume against one held turn: coverage, proof, payload, in that order, and all of it before
 * anything is delivered. A refusal changes nothing.
 */
import type { ResumeEntry } from "@ag-ui/core";
import type { Verdict } from "./answer-schema.ts";
import { InterruptCancelledError, type InterruptCause, RefusalCode } from "./errors.ts";
import type { Warning } from "./options.ts";
import { proves } from "./proof.ts";
import type { Issued, Question } from "./question.ts";
import type { Decision } from "./questions.ts";

/** Why a run is not started. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly cause?: InterruptCause;
}

/** What was decided about every open interrupt, or why nothing was. */
export type Reading = { readonly refusal: Refusal } | { readonly decisions: ReadonlyMap<Question, Decision> };

const no = (code: RefusalCode, message: string, cause?: InterruptCause): Reading => ({
  refusal: { code, message, ...(cause === undefined ? {} : { cause }) },
});

export interface ResumeRules {
  readonly proofRequired: boolean;
  readonly causeOf: (interruptId: string) => InterruptCause;
  readonly warn: (warning: Omit<Warning, "threadId" | "runId">) => void;
  readonly report: (error: unknown) => void;
}

/** Reads the entries. A promise only while a payload's own schema takes its time; the turn is not touched either way. */
export function readResume(
  entries: readonly ResumeEntry[],
  open: readonly Question[],
  rules: ResumeRules,
): Reading | Promise<Reading> {
  const given = new Map<string, ResumeEntry>();
  for (const entry of entries) {
    const earlier = given.get(entry.interruptId);
    if (earlier !== undefined && !isSame(earlier, entry)) {
      return no(
        RefusalCode.INTERRUPT_NOT_OUTSTANDING,
        "Two entries answer the same interrupt differently. Send one entry for each open interrupt.",
      );
    }
    given.set(entry.interruptId, entry);
  }
  const covered: [Question, ResumeEntry][] = [];
  for (const question of open) {
    const entry = given.get((question.issued as Issued).id);
    if (entry !== undefined) covered.push([question, entry]);
    given.delete((question.issued as Issued).id);
  }
  const [stray] = given.keys();
  if (covered.length < open.length) {
    if (stray === undefined) {
      return no(
        RefusalCode.INTERRUPT_NOT_COVERED,
        "Every open interrupt needs an entry in `resume`: answer it (resolved) or give it up (cancelled).",
      );
    }
    return no(
      RefusalCode.INTERRUPT_NOT_OUTSTANDING,
      "An entry names an interrupt this turn is not waiting on, and an open one has no entry. Answer the interrupts of the latest run.",
      rules.causeOf(stray),
    );
  }
  if (!covered.every(([question, entry]) => isProven(entry, (question.issued as Issued).proof, rules.proofRequired))) {
    return no(
      RefusalCode.INTERRUPT_NOT_PROVEN,
      "An entry does not carry the proof issued with its interrupt. Copy the interrupt's `metadata` into the resume entry's `metadata` " +
        '(with @ag-ui/client: `agent.use(echoProofs())` from holdline/client), or serve clients that cannot with `proof: "when-present"`.',
    );
  }
  if (stray !== undefined) {
    rules.warn({
      code: "RESUME_ENTRY_IGNORED",
      message: `${given.size} resume entries name interrupts that are not open; they were ignored.`,
    });
  }
  return decide(covered, rules);
}

/** Equal duplicates count as one, in whatever order their members come; what is nested too deeply to compare does not. */
function isSame(one: ResumeEntry, other: ResumeEntry): boolean {
  try {
    return sorted(one) === sorted(other);
  } catch {
    return false;
  }
}

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** A proof that is present must be the one issued, whatever is required. */
function isProven({ metadata }: ResumeEntry, issued: string, required: boolean): boolean {
  const ours: unknown = metadata !== undefined && Object.hasOwn(metadata, "holdline") ? metadata.holdline : undefined;
  if (ours === undefined) return !required;
  if (typeof ours !== "object" || ours === null || Array.isArray(ours)) return false;
  const proof: unknown = Object.hasOwn(ours, "proof") ? (ours as { proof: unknown }).proof : undefined;
  if (proof === undefined) return !required;
  return typeof proof === "string" && proves(proof, issued);
}

function decide(covered: readonly [Question, ResumeEntry][], rules: ResumeRules): Reading | Promise<Reading> {
  const verdicts = covered.map(([question, entry]) => judge(question, entry, rules));
  // By its place among the interrupts: their ids are told nowhere else.
  const which = (i: number) => (covered.length === 1 ? "" : `question ${i + 1} of ${covered.length}: `);
  const conclude = (all: readonly (Verdict | "cancelled")[]): Reading => {
    const decisions = new Map<Question, Decision>();
    for (const [i, verdict] of all.entries()) {
      const [question] = covered[i] as [Question, ResumeEntry];
      if (verdict === "cancelled") decisions.set(question, { error: new InterruptCancelledError() });
      else if (verdict.ok) decisions.set(question, { value: verdict.value });
      else {
        return no(
          RefusalCode.INTERRUPT_PAYLOAD_REFUSED,
          `A payload is not what its interrupt asked for (${which(i)}${verdict.reason}). Send one that fits its \`responseSchema\`.`,
        );
      }
    }
    return { decisions };
  };
  return verdicts.some((verdict) => verdict instanceof Promise)
    ? Promise.all(verdicts).then(conclude)
    : conclude(verdicts as (Verdict | "cancelled")[]);
}

/** One payload against what was asked for. A schema that throws has accepted nothing. */
function judge(
  question: Question,
  entry: ResumeEntry,
  { report }: ResumeRules,
): Verdict | "cancelled" | Promise<Verdict> {
  // What is abandoned is not looked at: its payload is no answer.
  if (entry.status === "cancelled") return "cancelled";
  const failed = (error: unknown): Verdict => {
    report(error);
    return { ok: false, reason: "it could not be checked" };
  };
  try {
    const verdict = question.type?.check(entry.payload) ?? failed(new Error("A question without a type was asked."));
    return verdict instanceof Promise ? verdict.catch(failed) : verdict;
  } catch (error) {
    return failed(error);
  }
}
