/**
 * Conversations at random, one a seed. `npm test` holds 500 runs, `npm run fuzz` 10,000. `HOLDLINE_FUZZ_SEED=17 npm run fuzz`
 * holds the conversation of that seed again, `HOLDLINE_FUZZ_FROM=5000` begins with another seed than 1.
 * What does not come up often enough fails: a fuzzing that asks nothing finds nothing.
 */
import { afterAll, describe, expect, it } from "vitest";
import { converse, noCounts } from "./conversation.ts";

const RUNS = Number(process.env.HOLDLINE_FUZZ_RUNS ?? 500);
const FROM = Number(process.env.HOLDLINE_FUZZ_FROM ?? 1);
const only = process.env.HOLDLINE_FUZZ_SEED;

/** How often each comes up, at the least, in a thousand runs; about half of what was seen. */
const FLOORS = {
  resumes: 150,
  asks: 400,
  jointAsks: 90,
  approvals: 150,
  answers: 100,
  reopened: 15,
  nested: 20,
  steps: 60,
  subagents: 60,
  refusedEmits: 300,
  throws: 25,
  earlyReturns: 40,
  abandons: 20,
  mixed: 20,
  expiries: 12,
  refusals: 25,
  redeliveries: 2,
  inProtobuf: 15,
  left: 25,
  heldForOwner: 6,
  stopped: 8,
  decided: 4,
  replays: 12,
  lateErrors: 8,
} as const;

describe("conversations at random", () => {
  const counts = noCounts();
  const unheard: unknown[] = [];
  const note = (error: unknown) => void unheard.push(error);
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  afterAll(() => {
    process.off("unhandledRejection", note);
    process.off("uncaughtException", note);
  });

  async function hold(seed: number): Promise<void> {
    try {
      await converse(seed, counts);
      if (unheard.length > 0) throw new AggregateError(unheard.splice(0), "A promise was rejected unheard.");
    } catch (cause) {
      const again = `HOLDLINE_FUZZ_SEED=${seed} npm run fuzz`;
      throw new Error(`The conversation of seed ${seed} failed (${again}): ${(cause as Error).message}`, { cause });
    }
  }

  it("break no promise of a stream, and their client takes every one without a word", {
    timeout: 3_600_000,
  }, async () => {
    if (only !== undefined) return hold(Number(only));
    for (let seed = FROM; counts.runs < RUNS; seed += 1) await hold(seed);
    const told = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
    console.log(`Fuzzed from seed ${FROM}: ${told.join(", ")}`);
  });

  it.skipIf(only !== undefined)("do everything often enough", () => {
    const often = (name: keyof typeof FLOORS) => (counts[name] * 1_000) / counts.runs;
    const rare = (Object.keys(FLOORS) as (keyof typeof FLOORS)[]).filter((name) => often(name) < FLOORS[name]);
    expect(rare).toEqual([]);
  });
});
