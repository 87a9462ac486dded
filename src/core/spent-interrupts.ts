/**
 * What became of interrupts that are no longer open, so that a late answer is told why. Bounded:
 * two generations, the older forgotten as a whole. Told only to the identity and thread an
 * interrupt was issued to.
 */
import type { InterruptCause } from "./errors.ts";
import type { InterruptIds } from "./proof.ts";

/** How many make a generation. */
const GENERATION = 5_000;

interface Spent {
  readonly threadKey: string;
  readonly cause: InterruptCause;
}

export class SpentInterrupts {
  readonly #ids: InterruptIds;
  #young = new Map<string, Spent>();
  #old = new Map<string, Spent>();

  constructor(ids: InterruptIds) {
    this.#ids = ids;
  }

  remember(id: string, threadKey: string, cause: InterruptCause): void {
    this.#young.set(id, { threadKey: short(threadKey), cause });
    if (this.#young.size < GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  causeOf(id: string, threadKey: string): InterruptCause {
    const spent = this.#young.get(id) ?? this.#old.get(id);
    if (spent !== undefined) return spent.threadKey === short(threadKey) ? spent.cause : "unknown";
    return this.#ids.isForeign(id) ? "other-instance" : "unknown";
  }
}

/** A key as it is remembered: a caller's megabyte of thread id becomes a number, so that memory stays bounded. */
function short(threadKey: string): string {
  if (threadKey.length <= 256) return threadKey;
  let hash = 0;
  for (let i = 0; i < threadKey.length; i++) hash = (Math.imul(hash, 31) + threadKey.charCodeAt(i)) | 0;
  return `${threadKey.length} ${hash}`;
}
