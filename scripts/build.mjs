/**
 * Builds `dist/`, unless it was built from the very sources that are here (`--force` builds anyway).
 * A build is made in a folder of its own and moved into place whole: a demo or a test that is
 * running meanwhile never reads half of one, and a failed build leaves the last good one alone.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const stamp = join(dist, ".built-from");
const inputs = [
  "src",
  "adapters",
  "scripts/console-page.ts",
  "scripts/project-template.ts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsdown.config.ts",
];

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).sort();
  return names.flatMap((name) => filesUnder(join(path, name)));
}

function hashInputs() {
  const hash = createHash("sha256");
  for (const file of [...inputs.map((path) => join(root, path)), fileURLToPath(import.meta.url)].flatMap(filesUnder)) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}

// Taken before the build: a file that is saved while it runs leaves a stamp that does not fit, so the next one builds.
const builtFrom = hashInputs();
const isFresh = () => existsSync(stamp) && readFileSync(stamp, "utf8") === builtFrom;
const forced = process.argv.includes("--force");

if (forced || !isFresh()) {
  const scratch = join(root, ".tmp", `build-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    process.chdir(root);
    const { build } = await import("tsdown");
    await build({ outDir: join(scratch, "new"), logLevel: "warn" });
    // tsdown reports some failures through the exit code alone.
    if (process.exitCode) throw new Error("The build failed.");
    writeFileSync(join(scratch, "new", ".built-from"), builtFrom);
    // Another process may have put the same build in place meanwhile: then a reader may be at it already.
    if (forced || !isFresh()) {
      if (existsSync(dist)) renameSync(dist, join(scratch, "old"));
      renameSync(join(scratch, "new"), dist);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
