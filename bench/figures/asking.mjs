/** One question and its answer (two exchanges) against two plain runs that say the same, on the same server. */
import { startServer } from "../processes.mjs";
import { medianRatio } from "../ratios.mjs";
import { interleave, summarize } from "../rounds.mjs";

/** @returns {Promise<Record<string, { ask: object, plain: object, cpu: number, time: number }>>} by variant */
export async function measureAsking({ client, rounds, seconds }) {
  const results = {};
  for (const name of ["holdline-asks", "holdline-node-asks"]) {
    const server = await startServer(name);
    const lanes = ["plain", "ask"].map((scenario) => ({
      key: scenario,
      server,
      load: { scenario, concurrency: 20, seconds },
      warmRuns: 2_000,
    }));
    const samples = await interleave({ client, lanes, rounds, budgetSeconds: 8 });
    server.stop();
    results[name] = {
      ask: summarize(samples, "ask", "plain"),
      plain: summarize(samples, "plain", "plain"),
      cpu: medianRatio(samples.ask, samples.plain, (sample) => sample.cpuPerRun),
      time: medianRatio(samples.ask, samples.plain, (sample) => 1 / sample.runsPerSecond),
    };
  }
  return results;
}
