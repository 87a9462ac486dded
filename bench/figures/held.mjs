/**
 * Many turns held: what each keeps, read after a forced collection in a fresh process, and what a question
 * and its answer cost beside 100,000 others against beside 100.
 */
import { execFileSync } from "node:child_process";
import { order, pathOf, startCollected } from "../processes.mjs";
import { medianRatio } from "../ratios.mjs";
import { interleave, summarize } from "../rounds.mjs";

const FEW = 100;
const SOME = 10_000;
const MANY = 100_000;
const SLOWEST_FILL_SECONDS = 90;

async function fill(client, server, target) {
  const { held } = await order(server);
  const load = { scenario: "hold", port: server.port, concurrency: 50, seconds: SLOWEST_FILL_SECONDS };
  await client({ ...load, maxRuns: target - held });
  const now = await order(server, { gc: 1 });
  if (now.held !== target) throw new Error(`${now.held} of ${target} turns are held`);
  return now;
}

/** @returns {Promise<{ perTurn: Record<number, number>, closure: number, input: number, rssOfMany: number, ask: object }>} bytes */
export async function measureHeld({ client, rounds, seconds }) {
  const [few, many] = [await startCollected("holdline-node-asks"), await startCollected("holdline-node-asks")];
  await fill(client, few, FEW);
  // From here on the process holds what its code and its first turns cost anyway.
  const first = await fill(client, many, FEW);
  const some = await fill(client, many, SOME);
  const all = await fill(client, many, MANY);
  const lanes = [few, many].map((server, i) => ({
    key: i === 0 ? "few" : "many",
    server,
    load: { scenario: "ask", concurrency: 20, seconds },
    warmRuns: 2_000,
  }));
  const samples = await interleave({ client, lanes, rounds, budgetSeconds: 8 });
  few.stop();
  many.stop();
  const alone = JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", pathOf("figures/closures.mjs"), String(MANY)], { encoding: "utf8" }),
  );
  return {
    perTurn: { [SOME]: (some.heap - first.heap) / (SOME - FEW), [MANY]: (all.heap - first.heap) / (MANY - FEW) },
    ...alone,
    heapOfMany: all.heap,
    rssOfMany: all.rss,
    ask: {
      few: summarize(samples, "few", "few"),
      many: summarize(samples, "many", "few"),
      cpu: medianRatio(samples.many, samples.few, (sample) => sample.cpuPerRun),
      time: medianRatio(samples.many, samples.few, (sample) => 1 / sample.runsPerSecond),
    },
  };
}
