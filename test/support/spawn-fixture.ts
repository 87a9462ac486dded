/** A fixture in a process of its own, on whichever runtime. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Instance } from "../conformance/instance.ts";
import { bundleFixture } from "./bundle-fixture.ts";
import { within } from "./promises.ts";

export type ProcessRuntime = "node" | "bun" | "deno";

const bin = (name: string) => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));

/** How each runtime runs a file. Deno gets the network and nothing else: no environment, no files. */
const COMMANDS: Record<ProcessRuntime, readonly string[]> = {
  node: [process.execPath, "--unhandled-rejections=strict"],
  bun: [bin("bun")],
  deno: [bin("deno"), "run", "--quiet", "--no-remote", "--no-config", "--no-lock", "--allow-net"],
};

/** A running fixture. */
export interface Spawned {
  readonly child: ChildProcess;
  /** What it printed as its first line, JSON. */
  readonly said: Record<string, string>;
  /** What it has written to stderr by now. */
  readonly stderr: () => string;
  /** Sends it a signal, SIGKILL unless told otherwise, and resolves to its exit code once it is gone: `null` when the signal was its end. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs a file and waits for its first line. Rejects with what it wrote to stderr when it ends before. */
async function spawnFile(runtime: ProcessRuntime, file: string, args: readonly string[] = []): Promise<Spawned> {
  const [command = "", ...given] = COMMANDS[runtime];
  const child = spawn(command, [...given, file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const line = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once("line", resolve);
    child.once("error", reject);
    void gone.then(() => reject(new Error(`The fixture ended before it served: ${errors}`)));
  });
  return {
    child,
    said: JSON.parse(await within(30_000, line, `the first line of ${file}`)),
    stderr: () => errors,
    kill(signal = "SIGKILL") {
      child.kill(signal);
      return gone;
    },
  };
}

/** A fixture in a process, which may be sent signals. */
export interface ServedProcess extends Instance {
  /** See `Spawned.kill`. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Serves a fixture of the suite's: it prints where the agent is and where its control is, and takes the agent's port to serve at again. */
export async function serveFixture(
  runtime: ProcessRuntime,
  name: string,
  args: readonly string[] = [],
): Promise<ServedProcess> {
  const folder = await mkdtemp(join(tmpdir(), "holdline-fixture-"));
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, await bundleFixture(name, "node"));
  let spawned = await spawnFile(runtime, file, args);
  const { url = "" } = spawned.said;
  return {
    url,
    post: (request) => fetch(request),
    async control(path) {
      return (await fetch(`${spawned.said.control}${path}`)).json();
    },
    get pingUrl() {
      return `${spawned.said.control}/ping`;
    },
    kill: (signal) => spawned.kill(signal),
    async restart() {
      await spawned.kill();
      spawned = await spawnFile(runtime, file, [...args, new URL(url).port]);
    },
    async stop() {
      await spawned.kill();
      await rm(folder, { recursive: true, force: true });
      // Nothing but what the suite asked for: no warning of the runtime's, no rejection unheard.
      if (spawned.stderr() !== "") throw new Error(`The fixture wrote to stderr: ${spawned.stderr()}`);
    },
  };
}
