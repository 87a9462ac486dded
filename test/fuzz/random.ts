/** Chance that can be had again: everything that a fuzzed conversation draws comes from its seed. */
export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** `true` in so many of 100 cases. */
  percent(cases: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** One of its own, for code that runs beside others: what it draws does not depend on theirs. */
  fork(): Random;
}

/** A generator of 32 bits of state (mulberry32). */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const int = (below: number) => next() % below;
  return {
    int,
    percent: (cases) => int(100) < cases,
    pick: (from) => from[int(from.length)] as (typeof from)[number],
    fork: () => random(next()),
  };
}
