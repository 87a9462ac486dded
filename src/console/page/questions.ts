/**
 * What a question asks for, and what goes back. Pure. A resume entry copies its interrupt's
 * metadata whole: the proof is in it.
 */
import type { Interrupt, ResumeEntry } from "@ag-ui/client";

export type Schema = { readonly [member: string]: unknown };

/** How one question is put to the human. */
export type QuestionForm =
  | { readonly kind: "text" }
  /** `argsSchema` is there when the arguments may be edited; `always` counts where it is among the examples. */
  | { readonly kind: "approval"; readonly argsSchema: Schema | undefined; readonly allowsAlways: boolean }
  | { readonly kind: "schema"; readonly schema: Schema };

/** What the human decided about one question. */
export type Decision =
  | { readonly status: "resolved"; readonly payload: unknown; readonly words: string }
  | { readonly status: "cancelled" };

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads the form off the interrupt's `responseSchema`. */
export function formOf({ responseSchema: schema }: Interrupt): QuestionForm {
  if (!isObject(schema)) return { kind: "text" };
  const variants = schema.title === "Approval" && Array.isArray(schema.anyOf) ? schema.anyOf.filter(isObject) : [];
  const decision = variants.find(({ properties }) => isObject(properties) && "approved" in properties);
  if (decision !== undefined && variants.some(({ type }) => type === "boolean")) {
    const { editedArgs } = decision.properties as Schema;
    const allowsAlways = variants.some(({ examples }) => Array.isArray(examples) && examples.includes("always"));
    return { kind: "approval", argsSchema: isObject(editedArgs) ? editedArgs : undefined, allowsAlways };
  }
  const isPlain =
    schema.type === "string" && Object.keys(schema).every((key) => ["type", "title", "$schema"].includes(key));
  return isPlain ? { kind: "text" } : { kind: "schema", schema };
}

/** What every decision of an approval sends. */
export const approvalDecisions = {
  approve: { status: "resolved", payload: true, words: "Approved" },
  always: { status: "resolved", payload: "always", words: "Approved, and every later call of this tool in this turn" },
  deny: { status: "resolved", payload: false, words: "Denied" },
} as const satisfies Record<string, Decision>;

export function editedDecision(editedArgs: unknown): Decision {
  const words = `Approved with other arguments: ${JSON.stringify(editedArgs)}`;
  return { status: "resolved", payload: { approved: true, editedArgs }, words };
}

/** An answer in words: a string as it is, anything else as JSON. */
export function resolvedDecision(payload: unknown): Decision {
  return { status: "resolved", payload, words: typeof payload === "string" ? payload : JSON.stringify(payload) };
}

/** The `resume` of a run. A question without a decision gets no entry: only one that has expired may have none. */
export function resumeOf(interrupts: readonly Interrupt[], decisions: ReadonlyMap<string, Decision>): ResumeEntry[] {
  return interrupts.flatMap(({ id, metadata }) => {
    const decision = decisions.get(id);
    if (decision === undefined) return [];
    const entry: ResumeEntry = { interruptId: id, status: decision.status };
    if (decision.status === "resolved") entry.payload = decision.payload;
    if (metadata !== undefined) entry.metadata = metadata;
    return [entry];
  });
}

/** Entries that no server accepts: they tell whether a question is still open without touching it. */
export function probeOf(ids: readonly string[]): ResumeEntry[] {
  return ids.map((interruptId) => ({
    interruptId,
    status: "cancelled",
    // Not the proof that was issued, so it is refused wherever a proof is looked at, and it always is when one is there.
    metadata: { holdline: { proof: "A".repeat(43) } },
  }));
}

/** Milliseconds until a question stops being answerable; `undefined` for one without a deadline. */
export function timeLeft({ expiresAt }: Pick<Interrupt, "expiresAt">, now: number): number | undefined {
  return expiresAt === undefined ? undefined : Math.max(0, Date.parse(expiresAt) - now);
}
