/** Long streams and short runs: every variant, both ways. */
import { order, startServer } from "../processes.mjs";
import { interleave, summarize } from "../rounds.mjs";

export const WORKLOADS = {
  short: { title: "Short runs: N = 20 deltas, 50 clients", n: 20, concurrency: 50, warmRuns: 4_000 },
  long: { title: "Long streams: N = 2,000 deltas, 8 clients", n: 2_000, concurrency: 8, warmRuns: 80 },
};

/** Measured in each round; the others, whose figures are known and far off, in every third. */
const CLOSE = ["bare", "bare-joined", "web-bare", "web-joined", "agui-encoder", "holdline", "holdline-node"];
const FAR = ["hono-sse", "tanstack", "ai-sdk", "copilotkit"];

/** @returns {Promise<Record<string, Record<string, object>>>} by workload and variant */
export async function measureStreams({ client, only, rounds, seconds }) {
  const wanted = [...CLOSE, ...FAR].filter((name) => only === undefined || only.includes(name));
  const servers = [];
  for (const name of wanted) servers.push(await startServer(name));
  const results = {};
  for (const [name, { n, concurrency, warmRuns }] of Object.entries(WORKLOADS)) {
    for (const server of servers) await order(server, { n });
    const load = { scenario: "stream", n, concurrency, seconds };
    const lanes = servers.map((server) => ({
      key: server.name,
      server,
      load,
      warmRuns,
      every: FAR.includes(server.name) ? 3 : 1,
    }));
    const samples = await interleave({ client, lanes, rounds, budgetSeconds: 55 });
    results[name] = Object.fromEntries(
      wanted.map((key) => [
        key,
        { ...summarize(samples, key, "bare"), toWebJoined: summarize(samples, key, "web-joined").ratio },
      ]),
    );
  }
  for (const server of servers) server.stop();
  return results;
}

/** Whether every variant answers, right. */
export async function smoke({ client, only, names }) {
  for (const name of names) {
    if (only !== undefined && !only.includes(name)) continue;
    const server = await startServer(name);
    const asks = name.endsWith("-asks");
    for (const load of asks ? [{ scenario: "ask" }, { scenario: "plain" }] : [{ scenario: "stream", n: 20 }]) {
      const { events } = await client({ ...load, port: server.port, concurrency: 2, seconds: 10, maxRuns: 4 });
      console.log(`ok  ${name}: ${load.scenario}, ${events} events`);
    }
    server.stop();
  }
}
