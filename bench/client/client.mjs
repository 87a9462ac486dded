/**
 * The load client, driven over IPC: an order is `{ scenario, port, concurrency, seconds, maxRuns }` and what
 * the scenario takes; the result tells runs, events, seconds, delays in milliseconds, and the client's own CPU.
 */
import { performance } from "node:perf_hooks";
import { percentile } from "../ratios.mjs";
import { Connection } from "./connection.mjs";
import { scenarios } from "./scenarios.mjs";

async function measure(load) {
  const { scenario, port, concurrency, seconds, maxRuns = Number.POSITIVE_INFINITY } = load;
  const connections = Array.from({ length: concurrency }, () => new Connection(port));
  await Promise.all(connections.map((connection) => connection.connect()));
  const total = { runs: 0, events: 0, firstBytes: [], delays: [] };
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const stopAt = startedAt + seconds * 1000;
  let begun = 0;
  const work = async (connection) => {
    while (begun < maxRuns && performance.now() < stopAt) {
      begun++;
      const { runs, events, delays } = await scenarios[scenario](connection, load);
      total.runs += runs;
      total.events += events;
      total.firstBytes.push(connection.firstAt - connection.sentAt);
      if (delays !== undefined) for (const delay of delays) total.delays.push(delay / 1000);
    }
  };
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  const at = (list, p) => (list.length === 0 ? undefined : percentile(list, p));
  return {
    runs: total.runs,
    events: total.events,
    elapsed,
    firstByte50: at(total.firstBytes, 0.5),
    firstByte99: at(total.firstBytes, 0.99),
    delay50: at(total.delays, 0.5),
    delay99: at(total.delays, 0.99),
    clientCpu: (user + system) / 1e6,
  };
}

process.on("message", (load) => {
  measure(load).then(
    (result) => process.send(result),
    (error) => process.send({ error: error.message }),
  );
});
process.on("disconnect", () => process.exit());
