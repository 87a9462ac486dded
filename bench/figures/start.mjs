/** Import and first run: in a fresh Node process, and in workerd. */
import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { build } from "esbuild";
import { pathOf } from "../processes.mjs";
import { median } from "../ratios.mjs";
import { runInput } from "../source.mjs";

const PROCESSES = 7;

/** @returns {{ import: number, run: number }} milliseconds, medians */
export function measureNodeStart() {
  const samples = Array.from({ length: PROCESSES }, () =>
    JSON.parse(execFileSync(process.execPath, [pathOf("figures/first-run.mjs")], { encoding: "utf8" })),
  );
  return { import: median(samples.map((sample) => sample.import)), run: median(samples.map(({ run }) => run)) };
}

/**
 * From outside, since a Worker's clock stands still while it computes: the first request to a fresh
 * isolate, for a Worker that answers by hand and for ours, and the second.
 * @returns {Promise<Record<"byHand" | "ours", { first: number, second: number }>>} milliseconds, medians
 */
export async function measureWorkerdStart() {
  const { Miniflare } = await import("miniflare");
  const byHand = `export default { fetch: () => new Response("data: {}\\n\\n", { headers: { "content-type": "text/event-stream" } }) };`;
  const results = {};
  for (const [name, script] of Object.entries({ byHand, ours: await bundleWorker() })) {
    const samples = [];
    for (let i = 0; i < 3; i++) {
      const workers = new Miniflare({
        modules: [{ type: "ESModule", path: "worker.mjs", contents: script }],
        compatibilityDate: "2026-04-01",
        cf: false,
      });
      const url = await workers.ready;
      const request = async () => {
        const begun = performance.now();
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(runInput("first")),
        });
        const text = await response.text();
        if (!response.ok || !text.startsWith("data: ")) throw new Error(text);
        return performance.now() - begun;
      };
      samples.push({ first: await request(), second: await request() });
      await workers.dispose();
    }
    results[name] = { first: median(samples.map((s) => s.first)), second: median(samples.map((s) => s.second)) };
  }
  return results;
}

async function bundleWorker() {
  const source = `import { createHandler } from "holdline";
    export default createHandler({ agent: (context) => context.text("Hello.") });`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: process.env.BENCH_HOME, sourcefile: "worker.js" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0].text;
}
