/** `holdline run`: serves a project, and says where. */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { MODEL_PACKAGES } from "./engine/openai-compatible.ts";
import { loadProject, type Project } from "./load-project.ts";
import { openBrowser } from "./open-browser.ts";
import { ProjectError } from "./problems.ts";
import { type Served, serveProject } from "./serve-project.ts";

export interface RunOptions {
  readonly folder: string | undefined;
  /** Absent: the project's. */
  readonly port: number | undefined;
  readonly host: string;
  readonly open: boolean;
}

/** What a human can do something about: told in words, without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Resolves once it listens. @throws CommandError, ProjectError */
export async function run({ folder, port, host, open }: RunOptions): Promise<Served> {
  const found = findProject(folder);
  const project = await loadProject(found);
  const served = await serve(project, host, port ?? project.config.port);
  const { engine, name } = project.config;
  const by =
    engine.provider === "scripted"
      ? `the script ${engine.script}, no key needed`
      : `${engine.model} at ${engine.baseURL}`;
  console.log(`
  ${name} is being served, played by ${by}.

    Console  ${served.url}
    Agent    ${served.agentUrl}

  Ctrl-C stops it.
`);
  if (open) openBrowser(served.url);
  return served;
}

async function serve(project: Project, host: string, port: number): Promise<Served> {
  try {
    return await serveProject(project, { host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new CommandError(`Port ${port} is taken. Choose another: --port ${port + 1}, or --port 0 for any.`);
    if (code === "EACCES")
      throw new CommandError(`Port ${port} may not be used by you. Choose one above 1023: --port 8787.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new CommandError(`${host} is not an address of this machine.`);
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
      const packages = Object.entries(MODEL_PACKAGES).map(([name, range]) => `${name}@${range}`);
      throw new ProjectError([
        `package.json: expected the packages of the model to be installed: npm install ${packages.join(" ")}`,
      ]);
    }
    throw error;
  }
}

/** The project to run: the folder named, this one, or the only one in this one. @throws CommandError */
export function findProject(named: string | undefined): string {
  const folder = resolve(named ?? ".");
  const isProject = (path: string) => existsSync(join(path, "agent.yaml"));
  if (isProject(folder)) return folder;
  const inside = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).filter(
        (entry) => entry.isDirectory() && entry.name !== "node_modules" && isProject(join(folder, entry.name)),
      )
    : [];
  const [only] = inside;
  if (named === undefined && only !== undefined && inside.length === 1) return join(folder, only.name);
  const choice =
    inside.length > 1
      ? ` Say which one: ${inside.map(({ name }) => name).join(", ")}.`
      : " Make a project with: holdline create <name>";
  throw new CommandError(`There is no agent.yaml in ${folder}.${choice}`);
}
