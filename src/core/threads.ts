/**
 * Threads: what is going on in each conversation of each identity. A thread is a place where at most
 * one turn is active, at most one is held, and further runs wait in line; it is forgotten when idle.
 */
import type { Run } from "./run.ts";
import type { Turn } from "./turn.ts";

export class Thread {
  readonly key: string;
  readonly threadId: string;
  readonly identity: string | null;
  /** The turn whose run is open, or that is still unwinding. */
  active: Turn | undefined;
  /** The turn that waits for answers with no run open. */
  held: Turn | undefined;
  /** Runs waiting for their turn, first come first. */
  readonly waiting: Run[] = [];
  readonly #next: (thread: Thread) => void;
  /** Whoever judges an answer to what is held. */
  #judging: Set<() => void> | undefined;

  constructor(key: string, threadId: string, identity: string | null, next: (thread: Thread) => void) {
    this.key = key;
    this.threadId = threadId;
    this.identity = identity;
    this.#next = next;
  }

  /** The turn's run ended with a question. */
  hold(turn: Turn): void {
    this.active = undefined;
    this.held = turn;
  }

  /** The held turn goes on. Nothing is awaited between the look at `held` and this. */
  take(turn: Turn): void {
    this.held = undefined;
    this.active = turn;
    this.#heldNoMore();
  }

  /** The turn is no longer this thread's concern. */
  free(turn: Turn): void {
    if (this.active === turn) this.active = undefined;
    if (this.held !== turn) return;
    this.held = undefined;
    this.#heldNoMore();
  }

  /** Calls back when what is held now is not held any more; at that point what becomes of it is not decided yet. @returns what forgets it. */
  whileHeld(onOver: () => void): () => void {
    this.#judging ??= new Set();
    const judging = this.#judging.add(onOver);
    return () => judging.delete(onOver);
  }

  #heldNoMore(): void {
    for (const onOver of this.#judging ?? []) onOver();
    this.#judging = undefined;
  }

  /** Lets the next in line be admitted, from the start. */
  next(): void {
    this.#next(this);
  }
}

export class Threads {
  readonly #threads = new Map<string, Thread>();
  readonly #next: (thread: Thread) => void;

  constructor(next: (thread: Thread) => void) {
    this.#next = next;
  }

  find(identity: string | null, threadId: string): Thread | undefined {
    return this.#threads.get(keyOf(identity, threadId));
  }

  /** The thread, made when there is none. */
  open(identity: string | null, threadId: string): Thread {
    const key = keyOf(identity, threadId);
    let thread = this.#threads.get(key);
    if (thread === undefined) {
      thread = new Thread(key, threadId, identity, this.#next);
      this.#threads.set(key, thread);
    }
    return thread;
  }

  /** Forgets a thread with nothing going on. */
  tidy(thread: Thread): void {
    const idle = thread.active === undefined && thread.held === undefined && thread.waiting.length === 0;
    // A turn that was released may end when its thread was forgotten and another has taken the place.
    if (idle && this.#threads.get(thread.key) === thread) this.#threads.delete(thread.key);
  }

  all(): Thread[] {
    return [...this.#threads.values()];
  }
}

/** One string for the pair, and no two pairs with the same. */
export const keyOf = (identity: string | null, threadId: string): string =>
  identity === null ? `-${threadId}` : `${identity.length}:${identity}${threadId}`;
