/** Measures variants in turn, round after round, so that a noisy machine is noisy for all. */
import { cpuOf, order, peakOf, resetPeak } from "./processes.mjs";
import { median, medianRatio } from "./ratios.mjs";

/** A server that is this slow is not waited for to be warm. */
const WARM_SECONDS = 2;
/** However long it takes, a ratio is of at least so many rounds. */
const FEWEST_ROUNDS = 3;

/** CPU seconds a server has used. */
const cpu = async (server) => (server.admin === undefined ? cpuOf(server.pid) : (await order(server)).cpu);

/** One slice of load on one server. */
export async function measure(client, server, load) {
  resetPeak(server.pid);
  const before = await cpu(server);
  const sample = await client({ ...load, port: server.port });
  const used = (await cpu(server)) - before;
  return {
    ...sample,
    runsPerSecond: sample.runs / sample.elapsed,
    cpuPerEvent: (used / sample.events) * 1e6,
    cpuPerRun: (used / sample.runs) * 1e3,
    serverCores: used / sample.elapsed,
    clientCores: sample.clientCpu / sample.elapsed,
    peakMiB: peakOf(server.pid),
  };
}

/**
 * @param {object} options
 * @param {(load: object) => Promise<object>} options.client
 * @param {{ key: string, server: object, load: object, warmRuns: number, every?: number }[]} options.lanes
 * `warmRuns` come first and are not counted; `every`: only each so manieth round
 * @param {number} options.rounds as many, while `budgetSeconds` (a busy machine's bound) are not over
 * @param {number} options.budgetSeconds
 * @returns {Promise<Record<string, Map<number, object>>>} samples by lane and round
 */
export async function interleave({ client, lanes, rounds, budgetSeconds }) {
  const overAt = Date.now() + budgetSeconds * 1000;
  const samples = Object.fromEntries(lanes.map(({ key }) => [key, new Map()]));
  for (const { server, load, warmRuns } of lanes)
    await measure(client, server, { ...load, seconds: WARM_SECONDS, maxRuns: warmRuns });
  for (let round = 0; round < rounds; round++) {
    if (round >= FEWEST_ROUNDS && Date.now() > overAt) break;
    // Another lane goes first each round.
    const shift = (round * 3) % lanes.length;
    for (const { key, server, load, every = 1 } of [...lanes.slice(shift), ...lanes.slice(0, shift)]) {
      if (round % every === 0) samples[key].set(round, await measure(client, server, load));
    }
  }
  return samples;
}

/** Medians of a lane's samples, and of its ratios to another lane's. */
export function summarize(samples, key, base) {
  const of = (field) => median([...samples[key].values()].map((sample) => sample[field]));
  const to = (field) =>
    samples[base] === undefined ? undefined : medianRatio(samples[key], samples[base], (sample) => sample[field]);
  return {
    runsPerSecond: of("runsPerSecond"),
    cpuPerEvent: of("cpuPerEvent"),
    cpuPerRun: of("cpuPerRun"),
    firstByte50: of("firstByte50"),
    firstByte99: of("firstByte99"),
    serverCores: of("serverCores"),
    clientCores: of("clientCores"),
    peakMiB: of("peakMiB"),
    rounds: samples[key].size,
    ratio: {
      runsPerSecond: to("runsPerSecond"),
      cpuPerEvent: to("cpuPerEvent"),
      cpuPerRun: to("cpuPerRun"),
      firstByte50: to("firstByte50"),
    },
  };
}
