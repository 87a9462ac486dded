/**
 * `npm run bench [-- --json] [-- --smoke] [-- --figures streams,held] [-- --only bare,holdline-node]`
 * Measures, prints, and (when it measured everything) writes docs/bench.md. See README.md.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { measureAsking } from "./figures/asking.mjs";
import { measureFirstByte } from "./figures/first-byte.mjs";
import { measureHeld } from "./figures/held.mjs";
import { measureLatency } from "./figures/latency.mjs";
import { measureLength } from "./figures/length.mjs";
import { measureRuntimes } from "./figures/runtimes.mjs";
import { measureSize } from "./figures/size.mjs";
import { measureStall } from "./figures/stall.mjs";
import { measureNodeStart, measureWorkerdStart } from "./figures/start.mjs";
import { measureStreams, smoke } from "./figures/streams.mjs";
import { installOurs, installPeers } from "./install.mjs";
import { pathOf, startClient } from "./processes.mjs";
import { about, report } from "./report.mjs";
import { settings } from "./source.mjs";
import { variants } from "./variants/index.mjs";

const { values: options } = parseArgs({
  options: {
    smoke: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    figures: { type: "string" },
    only: { type: "string" },
  },
});
const only = options.only?.split(",");

installPeers();
process.env.BENCH_HOME = installOurs();
const began = Date.now();
const client = startClient();

if (options.smoke) {
  await smoke({ client, only, names: Object.keys(variants) });
  process.exit();
}

const figures = {
  streams: () => measureStreams({ client, only, rounds: 6, seconds: 0.6 }),
  firstByte: () => measureFirstByte({ client, rounds: 5, seconds: 0.3 }),
  latency: () => measureLatency({ client, rounds: 3, seconds: 0.4 }),
  length: () => measureLength({ client }),
  asking: () => measureAsking({ client, rounds: 6, seconds: 0.4 }),
  held: () => measureHeld({ client, rounds: 6, seconds: 0.4 }),
  runtimes: () => measureRuntimes({ client, rounds: 4, seconds: 0.6 }),
  stall: () => measureStall({}),
  size: () => measureSize(),
  start: async () => ({ node: measureNodeStart(), workerd: await measureWorkerdStart() }),
};
const wanted = options.figures?.split(",") ?? Object.keys(figures);
const results = {};
for (const name of wanted) {
  const startedAt = Date.now();
  results[name] = await figures[name]();
  console.error(`${name}: ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
}
results.about = about(began, settings.burst);

const whole = only === undefined && options.figures === undefined;
if (whole) {
  const page = report(results);
  mkdirSync(pathOf("../docs"), { recursive: true });
  writeFileSync(pathOf("../docs/bench.md"), page);
  if (!options.json) console.log(page);
}
if (options.json || !whole) console.log(JSON.stringify(results, null, 1));
process.exit();
