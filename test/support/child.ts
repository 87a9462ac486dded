/** Programs of `test/fixtures/programs`: processes of their own on the built package, which print one line of JSON. */
import { fileURLToPath } from "node:url";
import { runProgram } from "./programs.ts";

const root = new URL("../../", import.meta.url);
export const programPath = (name: string): string => fileURLToPath(new URL(`test/fixtures/programs/${name}`, root));

/** Builds `dist/` unless it is that of the sources as they are. */
export async function build(): Promise<void> {
  const { code, stderr } = await runProgram(process.execPath, [fileURLToPath(new URL("scripts/build.mjs", root))]);
  if (code !== 0) throw new Error(`The build failed:\n${stderr}`);
}

/** Runs a program to its end and gives what it printed last. Fails when it did not exit with 0 or said anything on stderr. */
// biome-ignore lint/suspicious/noExplicitAny: what a program reports is between it and its test.
export async function report(name: string, ...args: string[]): Promise<any> {
  const nodeArgs = ["--expose-gc", "--unhandled-rejections=strict", "--max-old-space-size=256"];
  const { code, stdout, stderr } = await runProgram(process.execPath, [...nodeArgs, programPath(name), ...args]);
  if (code !== 0 || stderr !== "") throw new Error(`${name} exited with ${code}:\n${stdout}${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) as string);
}
