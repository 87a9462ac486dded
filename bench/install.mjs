/** What the bench runs: the peers of its own lock, and ours as it would be installed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bench = join(root, "bench");

const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Installs the peers unless those of this lock are there. Some 300 MB, most of it CopilotKit's. */
export function installPeers() {
  const lock = readFileSync(join(bench, "package-lock.json"), "utf8");
  const mark = join(bench, "node_modules/.installed-from");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  console.error("Installing the peers (once, 1–2 minutes) …");
  run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], bench);
  writeFileSync(mark, lock);
}

/**
 * Packs the package and unpacks the tarball where its dependencies resolve to those of the repository's lock.
 * @returns {string} the folder it is installed in
 */
export function installOurs() {
  const home = join(root, ".tmp/bench");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(home, "node_modules"), { recursive: true });
  const [{ filename }] = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", home], root),
  );
  run("tar", ["-xzf", filename], home);
  renameSync(join(home, "package"), join(home, "node_modules/holdline"));
  return home;
}
