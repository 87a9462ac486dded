/** Programs of `test/fixtures/programs`: processes of their own on the built package, which print one line of JSON. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { closeAfterTest } from "./listen.ts";
import { runProgram } from "./programs.ts";
import { defer, within } from "./promises.ts";

const root = new URL("../../", import.meta.url);
export const programPath = (name: string): string => fileURLToPath(new URL(`test/fixtures/programs/${name}`, root));

/** What programs may ask for a collection with, and the heap that they get by with. */
const nodeArgs = ["--expose-gc", "--unhandled-rejections=strict", "--max-old-space-size=256"];

/** Builds `dist/` unless it is that of the sources as they are. */
export async function build(): Promise<void> {
  const { code, stderr } = await runProgram(process.execPath, [fileURLToPath(new URL("scripts/build.mjs", root))]);
  if (code !== 0) throw new Error(`The build failed:\n${stderr}`);
}

/** Runs a program to its end and gives what it printed last. Fails when it did not exit with 0 or said anything on stderr. */
// biome-ignore lint/suspicious/noExplicitAny: what a program reports is between it and its test.
export async function report(name: string, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runProgram(process.execPath, [...nodeArgs, programPath(name), ...args]);
  if (code !== 0 || stderr !== "") throw new Error(`${name} exited with ${code}:\n${stdout}${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) as string);
}

/** A program that goes on running: a server. */
export interface Running {
  readonly child: ChildProcess;
  /** Resolves with its first capture once it has printed a line like this. */
  said(line: RegExp): Promise<string>;
  /** Everything it has printed. */
  readonly output: string;
  /** Resolves when it has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts a program, which is ended with the test. */
export function start(name: string, ...args: string[]): Running {
  return startProcess(process.execPath, [...nodeArgs, programPath(name), ...args]);
}

/** Starts any command, which is ended with the test. */
export function startProcess(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Running {
  const child = spawn(command, args, options);
  const name = [command, ...args].join(" ");
  let output = "";
  let wake = () => {};
  const hear = (chunk: Buffer) => {
    output += chunk;
    wake();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  let ended = false;
  const exited = once(child, "close").then(([code, signal]) => {
    ended = true;
    wake();
    return { code, signal };
  });
  closeAfterTest(async () => {
    if (!ended) child.kill("SIGKILL");
    await exited;
  });
  return {
    child,
    exited,
    get output() {
      return output;
    },
    async said(line) {
      for (;;) {
        const found = line.exec(output);
        if (found !== null) return found[1] ?? found[0];
        if (ended) throw new Error(`${name} ended without saying ${line}:\n${output}`);
        const more = defer();
        wake = () => more.resolve();
        await within(30_000, more.promise, `${line} of ${name}`);
      }
    },
  };
}
