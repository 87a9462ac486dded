/** CPU per event against the length of one message, one run at a time: a flat figure is linear work. */
import { order, startServer } from "../processes.mjs";
import { median } from "../ratios.mjs";
import { measure } from "../rounds.mjs";

const LENGTHS = [1_000, 8_000];
const ROUNDS = 4;
/** Deltas a sample is made of: as many of either length. */
const DELTAS = 16_000;

/** @returns {Promise<Record<string, { cpuPerEvent: Record<number, number>, growth: number }>>} by variant, in microseconds */
export async function measureLength({ client, names = ["bare", "holdline", "holdline-node"] }) {
  const results = {};
  for (const name of names) {
    const server = await startServer(name);
    const load = (n, deltas) => ({ scenario: "stream", n, concurrency: 1, seconds: 10, maxRuns: deltas / n });
    const sample = async (n, deltas) => {
      await order(server, { n });
      return (await measure(client, server, load(n, deltas))).cpuPerEvent;
    };
    for (const n of LENGTHS) await sample(n, 2 * DELTAS);
    const samples = [];
    for (let round = 0; round < ROUNDS; round++) {
      const both = {};
      const lengths = round % 2 === 0 ? LENGTHS : LENGTHS.toReversed();
      for (const n of lengths) both[n] = await sample(n, DELTAS);
      samples.push(both);
    }
    server.stop();
    const [short, long] = LENGTHS;
    results[name] = {
      cpuPerEvent: Object.fromEntries(LENGTHS.map((n) => [n, median(samples.map((both) => both[n]))])),
      growth: median(samples.map((both) => both[long] / both[short])),
    };
  }
  return results;
}
