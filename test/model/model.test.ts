/**
 * Random histories of runs, answers, refusals, abandonings, deadlines, evictions, leaving, stopping and closing, played to
 * the real handler and to a small reference. A failure shrinks to the shortest history that still tells them apart.
 * `HOLDLINE_MODEL_RUNS` says how many (`npm run model`: 10,000), `HOLDLINE_MODEL_SEED` which; a failure prints its seed.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { actions } from "./actions.ts";
import { play, type Tally } from "./play.ts";

const numRuns = Number(process.env.HOLDLINE_MODEL_RUNS ?? 200);
const seed = Number(process.env.HOLDLINE_MODEL_SEED ?? (numRuns > 200 ? Date.now() : 1));

/** What a thousand histories must come to, at least: a quarter of what they do. */
const FLOORS: Tally = {
  success: 330,
  interrupt: 250,
  interrupts: 350,
  cancelled: 80,
  left: 30,
  "503": 65,
  THREAD_BUSY: 1,
  "INTERRUPT_NOT_HELD (answered)": 65,
  "INTERRUPT_NOT_HELD (expired)": 12,
  "INTERRUPT_NOT_HELD (unknown)": 30,
  "INTERRUPT_NOT_OUTSTANDING (unknown)": 15,
  INTERRUPT_NOT_COVERED: 45,
  INTERRUPT_NOT_PROVEN: 65,
  INTERRUPT_PAYLOAD_REFUSED: 40,
  evicted: 3,
  expired: 160,
  answered: 470,
  abandoned: 100,
};

it(`the handler does what the reference says, in ${numRuns} random histories`, async () => {
  const tally: Tally = {};
  await fc.assert(
    fc.asyncProperty(actions, (history) => play(history, tally)),
    { numRuns, seed },
  );
  console.log(
    Object.entries(tally)
      .sort()
      .map(([kind, count]) => `${kind} ${count}`)
      .join(", "),
  );
  for (const [kind, floor] of Object.entries(FLOORS))
    expect(tally[kind] ?? 0, kind).toBeGreaterThanOrEqual(Math.floor((floor * numRuns) / 1_000));
}, 1_800_000);
