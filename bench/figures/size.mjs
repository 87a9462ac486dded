/** The core in a bundle for browsers and Workers, minified and gzipped. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { weigh } from "../../scripts/bundle-size.mjs";

/** @returns {Promise<{ atOnce: number, withValidators: number }>} bytes */
export async function measureSize() {
  const file = "node_modules/holdline/dist/index.js";
  const manifest = readFileSync(join(process.env.BENCH_HOME, "node_modules/holdline/package.json"), "utf8");
  const external = Object.keys(JSON.parse(manifest).peerDependencies ?? {});
  const { atOnce, all } = await weigh({ folder: process.env.BENCH_HOME, file, external });
  return { atOnce, withValidators: all };
}
