/** Programs as a page shows them: put into files of this package, checked, and run as processes of their own. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { readEntries } from "../../tsdown.config.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever that is. */
export function runProgram(program: string, args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: root, env: { ...process.env, ...env }, encoding: "utf8" }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    );
  });
}

/** A port that was free a moment ago, for programs that name theirs. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A folder for programs. It is inside the package, so they import `holdline` as its users do. */
export class ProgramFolder {
  readonly #path: string;
  readonly #running = new Set<ChildProcess>();
  #count = 0;

  constructor(name: string) {
    this.#path = join(root, ".tmp", `${name}-${process.pid}`);
    rmSync(this.#path, { recursive: true, force: true });
    mkdirSync(this.#path, { recursive: true });
  }

  /** The errors that the compiler finds in the programs, each with its file, `checked-<index>.ts`. */
  async typecheck(programs: readonly string[]): Promise<string[]> {
    const files = programs.map((text, index) => {
      const file = `checked-${index}.ts`;
      writeFileSync(join(this.#path, file), text);
      return file;
    });
    writeFileSync(
      join(this.#path, "tsconfig.json"),
      JSON.stringify({ extends: "../../tsconfig.json", files, include: [] }),
    );
    const { stdout } = await runProgram(join(root, "node_modules/.bin/tsc"), ["-p", this.#path, "--pretty", "false"]);
    return stdout.split("\n").filter((line) => line.includes(": error "));
  }

  /** Puts a program into a file that Node runs, and gives its path. */
  compile(program: string): string {
    const { outputText } = ts.transpileModule(program, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true },
    });
    const path = join(this.#path, `program-${this.#count++}.mjs`);
    writeFileSync(path, outputText);
    return path;
  }

  /** Imports a program into this process, with the sources in the place of the built package: what it exports. */
  // biome-ignore lint/suspicious/noExplicitAny: the page says what it exports, and the test knows the page.
  async load(program: string): Promise<any> {
    const sources = readEntries().reduce(
      (text, { subpath, source }) =>
        text.replaceAll(`from "${subpath.replace(".", "holdline")}"`, `from ${JSON.stringify(join(root, source))}`),
      program,
    );
    const path = join(this.#path, `loaded-${this.#count++}.ts`);
    writeFileSync(path, sources);
    return import(/* @vite-ignore */ path);
  }

  /** Starts a server and resolves to the address it prints. */
  async serve(program: string): Promise<string> {
    const child = spawn(process.execPath, [this.compile(program)], { cwd: root });
    this.#running.add(child);
    let said = "";
    return new Promise((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        said += chunk;
        const found = /at (http:\S+)\n/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.on("exit", () => reject(new Error(`The program ended:\n${said}`)));
    });
  }

  /** Ends what was started and removes the files. */
  async dispose(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
    rmSync(this.#path, { recursive: true, force: true });
  }
}
