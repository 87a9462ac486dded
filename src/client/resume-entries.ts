/**
 * Resume entries as the server wants them: with the metadata of the interrupt they answer, whole, since the
 * proof is in there.
 */
import type { Interrupt, ResumeEntry } from "@ag-ui/core";

/** What an entry is made of: an interrupt, as a run ended with it. */
export type Asked = Pick<Interrupt, "id" | "metadata">;

/** Answers a question; without `payload` the entry has none. Send one entry for every open interrupt of the thread. */
export function answer(interrupt: Asked, payload?: unknown): ResumeEntry {
  const entry: ResumeEntry = { interruptId: interrupt.id, status: "resolved" };
  if (payload !== undefined) entry.payload = payload;
  return withMetadata(entry, interrupt);
}

/** Gives a question up. */
export function abandon(interrupt: Asked): ResumeEntry {
  return withMetadata({ interruptId: interrupt.id, status: "cancelled" }, interrupt);
}

const withMetadata = (entry: ResumeEntry, { metadata }: Asked): ResumeEntry =>
  metadata === undefined ? entry : { ...entry, metadata };
