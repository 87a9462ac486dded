/**
 * Which turns are held, for how long, and which goes when there are too many. All are held equally
 * long, so the order in which they were held is also the order of their deadlines: one timer,
 * for the first, serves them all, and nothing scans.
 */
import { at, type Clock } from "./clock.ts";
import { Line } from "./line.ts";

/** A turn as its retention sees it. */
export interface Retained {
  readonly identity: string | null;
  /** When it is released if nobody has answered; set when it is held. */
  readonly deadline: number;
  /** Its time is up. */
  expire(): void;
  /** It made room for another. */
  evict(): void;
}

export class HeldTurns<T extends Retained> {
  readonly #limits: { readonly maxHeld: number; readonly maxHeldPerIdentity: number };
  readonly #changed: (held: number) => void;
  readonly #clock: Clock;
  readonly #turns = new Line<T>();
  /** Kept only where the quota can matter. */
  readonly #byIdentity: Map<string | null, Line<T>> | undefined;
  #cancel: (() => void) | undefined;

  /** `changed` is told how many are held after each time that has changed. */
  constructor(
    limits: { readonly maxHeld: number; readonly maxHeldPerIdentity: number },
    clock: Clock,
    changed: (held: number) => void = () => {},
  ) {
    this.#limits = limits;
    this.#changed = changed;
    this.#clock = clock;
    this.#byIdentity = limits.maxHeldPerIdentity < limits.maxHeld ? new Map() : undefined;
  }

  get size(): number {
    return this.#turns.size;
  }

  /** The held turns, the one held longest first. */
  list(): T[] {
    return this.#turns.members();
  }

  /** Holds a turn, and releases the one held longest where that is one too many: never the one just held. */
  add(turn: T): void {
    this.#turns.add(turn);
    this.#changed(this.#turns.size);
    if (this.#byIdentity !== undefined) {
      const mates = this.#byIdentity.get(turn.identity) ?? new Line<T>();
      this.#byIdentity.set(turn.identity, mates);
      mates.add(turn);
      if (mates.size > this.#limits.maxHeldPerIdentity) this.#evictFirst(mates);
    }
    if (this.#turns.size > this.#limits.maxHeld) this.#evictFirst(this.#turns);
    if (this.#cancel === undefined) this.#arm();
  }

  /** Lets a turn go: answered, or over. */
  delete(turn: T): void {
    if (!this.#turns.delete(turn)) return;
    this.#changed(this.#turns.size);
    const mates = this.#byIdentity?.get(turn.identity);
    mates?.delete(turn);
    if (mates?.size === 0) this.#byIdentity?.delete(turn.identity);
    // While others are held the timer stays, to find this turn gone: arming anew at each answer would cost more.
    if (this.#turns.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #evictFirst(line: Line<T>): void {
    const first = line.first as T;
    this.delete(first);
    first.evict();
  }

  #arm(): void {
    const { first } = this.#turns;
    if (first === undefined) return;
    this.#cancel = at(this.#clock, first.deadline, () => {
      this.#cancel = undefined;
      const now = this.#clock.now();
      for (let turn = this.#turns.first; turn !== undefined && turn.deadline <= now; turn = this.#turns.first) {
        this.delete(turn);
        turn.expire();
      }
      // An expiry may have led to a turn being held, which armed the timer.
      if (this.#cancel === undefined) this.#arm();
    });
  }
}
