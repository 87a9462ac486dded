/**
 * `holdline run --watch`: the project in a process of its own, started anew at every change. A new
 * process reads everything anew, whatever the old one had in memory; held turns end with the old one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { watch } from "node:fs";
import { sep } from "node:path";

/** Editors write one change in several steps: milliseconds of rest after which it is whole. */
const REST_MS = 120;

/** Never resolves: ends with the process. `args` are those of a run without `--watch`. */
export function runWatching(folder: string, args: readonly string[]): void {
  let child = start(args);
  let rest: ReturnType<typeof setTimeout> | undefined;
  let restarting: Promise<void> | undefined;
  const restart = async (file: string) => {
    console.log(`  ${file} has changed: starting again.`);
    await stop(child);
    // A page that is open already is not opened again.
    child = start([...args, "--no-open"]);
  };
  watch(folder, { recursive: true }, (_event, file) => {
    if (file === null || isIgnored(file)) return;
    clearTimeout(rest);
    rest = setTimeout(() => {
      restarting = (restarting ?? Promise.resolve()).then(() => restart(file));
    }, REST_MS);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void stop(child).then(() => process.exit(0)));
  }
}

function start(args: readonly string[]): ChildProcess {
  const program = process.argv[1] as string;
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], { stdio: "inherit" });
  // What is wrong has been told; the next change may have it right.
  child.on("exit", (code) => {
    if (code !== null && code !== 0) console.log("  Waiting for a change.");
  });
  return child;
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

const isIgnored = (file: string): boolean =>
  file.split(sep).some((part) => part === "node_modules" || part.startsWith(".git"));
