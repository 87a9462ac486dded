/** The programs of `examples/`, each in a project of its own, by the commands that stand at its top. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireEvent } from "../../src/testing/index.ts";
import { type Running, startProcess } from "./child.ts";
import { temporaryFolder } from "./command.ts";
import { install } from "./installed.ts";
import { runProgram } from "./programs.ts";
import { readRecorded } from "./recorded-stream.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What a program's first comment tells its reader to type. */
export interface Commands {
  /** What is to be installed beside `holdline`. */
  readonly packages: readonly string[];
  /** What starts it. */
  readonly start: string;
  /** What sends it a run. */
  readonly curl: string;
}

/** Fails when the comment does not say all three. */
export function commandsOf(program: string): Commands {
  const [comment = ""] = /^\/\*\*.*?\*\//s.exec(readFileSync(join(root, program), "utf8")) ?? [];
  const [installs = "", start = "", curl = "", ...more] = [...comment.matchAll(/^ \* {5}(\S.*)$/gm)].map(
    ([, line]) => line ?? "",
  );
  const [, names = ""] = /^(?:npm install|bun add) holdline ?(.*)$/.exec(installs) ?? [];
  if (
    !/^(npm install|bun add) holdline\b/.test(installs) ||
    start === "" ||
    !curl.startsWith("curl ") ||
    more.length > 0
  )
    throw new Error(`${program} begins with other commands than its installation, its start and a run.`);
  return { packages: names.split(" ").filter(Boolean), start, curl };
}

/** Puts an example into a folder of its own and installs what it says; resolves to the folder. */
export async function installExample(name: string, { packages }: Pick<Commands, "packages">): Promise<string> {
  const folder = temporaryFolder(`example-${name}`);
  cpSync(join(root, "examples", name), folder, { recursive: true });
  const dependencies = Object.fromEntries(["holdline", ...packages].map((one) => [one, "*"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  await install(folder, packages);
  return folder;
}

/** An example that is being served. */
export interface ServedExample {
  readonly url: string;
  readonly running: Running;
  /** Types the run of its comment into a shell. */
  ask(): Promise<WireEvent[]>;
}

/** Starts `examples/<program>` as its comment says, on a free port, and waits for its address. */
export async function serveExample(program: string): Promise<ServedExample> {
  const commands = commandsOf(`examples/${program}`);
  const folder = await installExample(dirname(program), commands);
  const [command = "", ...args] = commands.start.split(" ");
  const path = `${join(root, "node_modules/.bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
  const running = startProcess(command, args, { cwd: folder, env: { ...process.env, PATH: path, PORT: "0" } });
  const url = await running.said(/^The agent is at (http:\S+)$/m);
  return { url, running, ask: () => typeRun(commands.curl, url) };
}

/** Types the run of a comment into a shell, for an agent that is elsewhere than the comment says. */
export async function typeRun(curl: string, url: string): Promise<WireEvent[]> {
  const [told = ""] = /http:\S+/.exec(curl) ?? [];
  if (new URL(told).pathname !== new URL(url).pathname) throw new Error(`${told} is not served: ${url} is.`);
  const { code, stdout, stderr } = await runProgram("bash", ["-c", curl.replace(told, url)]);
  if (code !== 0) throw new Error(`${curl}\nended with ${code}: ${stderr}`);
  return readRecorded(stdout, JSON.parse(/-d '(.*)'$/.exec(curl)?.[1] ?? ""));
}
