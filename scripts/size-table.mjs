/**
 * Weighs every entry of the built package and puts the table into docs/size.md. `--check` writes nothing, prints the
 * table and fails where the page is off by more than the tolerance; `--json` prints the figures.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { weigh } from "./bundle-size.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const page = join(root, "docs/size.md");
const marked = /(<!-- sizes -->\n)[\s\S]*?(<!-- \/sizes -->)/;
const { exports, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** How far a figure may be from the page's before the page is to be made anew: a share of it. */
const TOLERANCE = 0.1;

/** Who wants a peer installs it. Only an adapter may reach the modules of a runtime. */
const peers = Object.keys(peerDependencies);
const runtimes = ["node:*", "bun", "cloudflare:*"];

/** @type {Record<string, import("./bundle-size.mjs").Weight>} */
const weights = {};
for (const [subpath, target] of Object.entries(exports)) {
  if (typeof target === "string") continue;
  const external = subpath === "." ? peers : [...peers, ...runtimes];
  weights[join("holdline", subpath)] = await weigh({ folder: root, file: join(target.default), external });
}

/** @type {(bytes: number) => string} */
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
const core = weights.holdline;
if (core === undefined) throw new Error("package.json exports no core.");
const rows = [
  ["`holdline`, the core", kb(core.atOnce)],
  ["the core and zod, with `validate: true`", kb(core.withZod)],
  ["the core and all that it may load", kb(core.all)],
  ...Object.entries(weights)
    .filter(([name]) => name !== "holdline")
    .map(([name, { atOnce }]) => [`\`${name}\``, kb(atOnce)]),
];
const [names = 0, sizes = 0] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0), 20));
const lines = rows.map(([name = "", size = ""]) => `| ${name.padEnd(names)} | ${size.padStart(sizes)} |`);
const head = [
  `| ${"".padEnd(names)} | ${"minified and gzipped".padStart(sizes)} |`,
  `| ${"-".repeat(names)} | ${"-".repeat(sizes - 1)}: |`,
];
const table = `${[...head, ...lines].join("\n")}\n`;

if (process.argv.includes("--json")) console.log(JSON.stringify(weights));
else if (process.argv.includes("--check")) {
  console.log(table);
  const shown = new Map(
    readFileSync(page, "utf8")
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .map(([, name = "", size = ""]) => [name, Number.parseFloat(size)]),
  );
  for (const [name = "", size = ""] of rows) {
    const told = shown.get(name) ?? 0;
    if (Math.abs(Number.parseFloat(size) - told) <= told * TOLERANCE + 0.1) continue;
    console.error(`${name}: ${size}, and docs/size.md says ${told} KB. Make it anew: node scripts/size-table.mjs`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace(marked, (_, open, close) => `${open}\n${table}\n${close}`),
  );
}
