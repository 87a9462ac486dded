/** From `await context.text()` to the client's read: 8 streams, a delta each millisecond or so, one a turn. */
import { order, startServer } from "../processes.mjs";
import { median } from "../ratios.mjs";
import { interleave } from "../rounds.mjs";

/** @returns {Promise<Record<string, { p50: number, p99: number }>>} by variant, in milliseconds */
export async function measureLatency({ client, rounds, seconds }) {
  const servers = [];
  for (const name of ["bare", "web-joined", "holdline", "holdline-node"]) servers.push(await startServer(name));
  for (const server of servers) await order(server, { n: 200, stamped: true, paceMs: 1, burst: 1 });
  const load = { scenario: "latency", n: 200, concurrency: 8, seconds };
  const lanes = servers.map((server) => ({ key: server.name, server, load, warmRuns: 40 }));
  const samples = await interleave({ client, lanes, rounds, budgetSeconds: 10 });
  for (const server of servers) server.stop();
  const of = (name, field) => median([...samples[name].values()].map((sample) => sample[field]));
  return Object.fromEntries(
    Object.keys(samples).map((name) => [name, { p50: of(name, "delay50"), p99: of(name, "delay99") }]),
  );
}
