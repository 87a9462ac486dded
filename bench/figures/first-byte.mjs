/** The first byte: whether it comes before the agent's first event, and when, one client at a time. */
import { setTimeout as wait } from "node:timers/promises";
import { order, startServer } from "../processes.mjs";
import { interleave, summarize } from "../rounds.mjs";
import { runInput } from "../source.mjs";

const PATIENCE_MS = 2_000;

/** @returns {Promise<Record<string, { early: boolean, p50: number, ratio: number }>>} by variant, in milliseconds */
export async function measureFirstByte({ client, rounds, seconds }) {
  const servers = [];
  for (const name of ["bare", "web-joined", "holdline", "holdline-node"]) servers.push(await startServer(name));
  const lanes = servers.map((server) => ({
    key: server.name,
    server,
    load: { scenario: "stream", n: 20, concurrency: 1, seconds },
    warmRuns: 4_000,
  }));
  const samples = await interleave({ client, lanes, rounds, budgetSeconds: 14 });
  const results = {};
  for (const server of servers) {
    const { firstByte50, ratio } = summarize(samples, server.name, "bare");
    results[server.name] = { early: await isEarly(server), p50: firstByte50, ratio: ratio.firstByte50 };
    server.stop();
  }
  return results;
}

/** Whether bytes come while the agent is kept from its first event. */
async function isEarly(server) {
  await order(server, { shut: true });
  const response = await Promise.race([
    fetch(`http://127.0.0.1:${server.port}/agent`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(runInput("early")),
    }).then(({ body }) => body.getReader().read()),
    wait(PATIENCE_MS),
  ]);
  await order(server, { shut: false });
  return response?.value !== undefined;
}
