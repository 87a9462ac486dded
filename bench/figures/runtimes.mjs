/** Bun and Deno: ours against each one's own bare stream. */
import { join } from "node:path";
import { pathOf, startServer } from "../processes.mjs";
import { interleave, summarize } from "../rounds.mjs";

const root = pathOf("..");

const script = pathOf("runtime-server.mjs");
const RUNTIMES = {
  bun: (variant) => ({ command: join(root, "node_modules/.bin/bun"), args: [script, variant] }),
  deno: (variant) => ({
    command: join(root, "node_modules/.bin/deno"),
    args: ["run", "--allow-all", "--no-remote", "--node-modules-dir=manual", script, variant],
  }),
};

/** @returns {Promise<Record<string, { bare: object, ours: object }>>} by runtime */
export async function measureRuntimes({ client, rounds, seconds }) {
  const results = {};
  for (const [runtime, how] of Object.entries(RUNTIMES)) {
    const lanes = [];
    for (const key of ["bare", "ours"]) {
      const server = await startServer(`${key} on ${runtime}`, how(key));
      const load = { scenario: "stream", n: 2_000, concurrency: 8, seconds };
      lanes.push({ key, server, load, warmRuns: 80 });
    }
    const samples = await interleave({ client, lanes, rounds, budgetSeconds: 8 });
    for (const { server } of lanes) server.stop();
    results[runtime] = { bare: summarize(samples, "bare", "bare"), ours: summarize(samples, "ours", "bare") };
  }
  return results;
}
