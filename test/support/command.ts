/** The command `holdline`, as it is built, in processes of its own. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { within } from "./promises.ts";

const COMMAND = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** A folder that is gone after the tests of the file. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `holdline-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command to its end, without a terminal. */
export function holdline(cwd: string, ...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { cwd, encoding: "utf8" }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** A project that is being served. */
export interface RunningProject {
  /** Of the console. */
  readonly url: string;
  /** Of the agent. */
  readonly agentUrl: string;
  /** Everything it has said by now. */
  said(): string;
  /** Resolves when it has said this, from now on. */
  hear(pattern: RegExp): Promise<string>;
  /** Asks it to end; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** How the command is called: the built one, unless told otherwise. */
export interface Call {
  readonly command?: readonly string[];
  readonly cwd?: string;
}

/** `holdline run` on any free port; it is ended after the tests of the file. Rejects with what it said when it ends before it serves. */
export async function runProject(folder: string, args: readonly string[] = [], call: Call = {}) {
  const [program = "", ...given] = call.command ?? [process.execPath, COMMAND];
  const child = spawn(program, [...given, "run", folder, "--port", "0", "--no-open", ...args], {
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: what the program starts is ended with it.
    detached: true,
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // It is gone already.
    }
  };
  let said = "";
  const listeners = new Set<() => void>();
  const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      for (const listener of listeners) listener();
    });
  }
  const hear = (pattern: RegExp, from = said.length): Promise<string> => {
    const heard = new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said.slice(from));
        if (found === null) return;
        listeners.delete(look);
        resolve(found[1] ?? found[0]);
      };
      listeners.add(look);
      look();
      void gone.then(() => reject(new Error(`holdline run ended:\n${said}`)));
    });
    return within(30_000, heard, `${pattern} from holdline run`);
  };
  const stop = async () => {
    signal("SIGTERM");
    const code = await gone;
    return code;
  };
  afterAll(() => signal("SIGKILL"));
  const url = await hear(/Console +(http:\S+)/, 0);
  const agentUrl = await hear(/Agent +(http:\S+)/, 0);
  const project: RunningProject = { url, agentUrl, said: () => said, hear: (pattern) => hear(pattern), stop };
  return project;
}

/** Changes a file by replacing some of its text, which must be there. */
export function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`${path} does not hold ${JSON.stringify(from)}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
}
