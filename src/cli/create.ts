/** `holdline create`: writes a project, whole or not at all. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import { parse } from "yaml";
import { MODEL_PACKAGES } from "./engine/openai-compatible.ts";
import { OWN_VERSION } from "./own-version.ts";
import { CommandError } from "./run.ts";

export interface CreateOptions {
  /** The new folder; its last part is the project's name. */
  readonly target: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Takes the defaults without asking. Without a terminal nothing is asked either. */
  readonly yes: boolean;
}

const PROVIDERS = ["scripted", "openai-compatible"] as const;
type Provider = (typeof PROVIDERS)[number];

/** @throws CommandError */
export async function create({ target, provider, model, yes }: CreateOptions): Promise<void> {
  const folder = resolve(target);
  const name = basename(folder);
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/i.test(name)) {
    throw new CommandError(
      `A project's name begins with a letter or digit and has letters, digits, ".", "_" and "-": not ${JSON.stringify(name)}.`,
    );
  }
  if (existsSync(folder)) throw new CommandError(`${folder} is there already. Choose another name.`);
  const engine = await chooseEngine(provider, model, yes);
  // Written beside its place and moved there when it is whole: what fails half-way leaves nothing behind.
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  const staged = join(parent, `.${name}-${randomUUID()}`);
  await mkdir(staged);
  try {
    for (const [path, text] of Object.entries(await renderProject(name, engine))) {
      await mkdir(dirname(join(staged, path)), { recursive: true });
      await writeFile(join(staged, path), text);
    }
    await rename(staged, folder);
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTEMPTY" || code === "EEXIST")
      throw new CommandError(`${folder} is there already. Choose another name.`);
    throw error;
  }
  const shown = relative(".", folder) || folder;
  console.log(`
  ${name} is made.

    cd ${shown}${engine.provider === "scripted" ? "" : "\n    npm install\n    cp .env.example .env      and fill it in"}
    npx holdline run
`);
}

interface Engine {
  readonly provider: Provider;
  readonly model: string | undefined;
}

async function chooseEngine(provider: string | undefined, model: string | undefined, yes: boolean): Promise<Engine> {
  if (provider !== undefined && !isProvider(provider)) {
    throw new CommandError(`--provider takes ${PROVIDERS.join(" or ")}, not ${provider}.`);
  }
  if (provider === "scripted" && model !== undefined) {
    throw new CommandError("--model goes with --provider openai-compatible: a script has no model.");
  }
  const asks = !yes && stdin.isTTY === true && stdout.isTTY === true;
  const chosen = provider ?? (model !== undefined ? "openai-compatible" : asks ? await askProvider() : "scripted");
  return { provider: chosen, model };
}

const isProvider = (text: string): text is Provider => (PROVIDERS as readonly string[]).includes(text);

async function askProvider(): Promise<Provider> {
  const terminal = createInterface({ input: stdin, output: stdout });
  try {
    for (;;) {
      const answer = (
        await terminal.question("Who plays the model? scripted (needs no key) or openai-compatible [scripted] ")
      ).trim();
      if (answer === "") return "scripted";
      if (isProvider(answer)) return answer;
    }
  } finally {
    terminal.close();
  }
}

/** The files of a project, by their paths. */
async function renderProject(name: string, { provider, model }: Engine): Promise<Record<string, string>> {
  const { files } = await import("holdline:project-template");
  const { "env.example": example = "", gitignore = "", ...others } = files;
  const rendered = Object.entries(others).map(([path, text]) => [path, render(text, name, provider, model)]);
  return {
    ...Object.fromEntries(rendered),
    "package.json": manifest(name, provider),
    ".env.example": example,
    ".gitignore": gitignore,
  };
}

const render = (text: string, name: string, provider: Provider, model: string | undefined): string =>
  text
    .replaceAll("name: __NAME__", () => `name: ${typeof parse(name) === "string" ? name : JSON.stringify(name)}`)
    .replaceAll("__NAME__", () => name)
    .replaceAll("engine: __ENGINE__", () => engineYaml(provider, model));

function engineYaml(provider: Provider, model: string | undefined): string {
  if (provider === "scripted") {
    return `# Who plays the model: script.ts does, without a key. It says how to use a real one.
engine:
  provider: scripted
  script: script.ts`;
  }
  return `# The model: any server that speaks OpenAI's chat completions. The variables stand in .env.
engine:
  provider: openai-compatible
  model: ${model === undefined ? `\${HOLDLINE_MODEL}` : JSON.stringify(model)}
  baseURL: \${HOLDLINE_BASE_URL}
  apiKey: \${HOLDLINE_API_KEY}`;
}

function manifest(name: string, provider: Provider): string {
  const value = {
    name: name.toLowerCase(),
    version: "0.0.0",
    private: true,
    type: "module",
    scripts: { start: "holdline run", dev: "holdline run --watch" },
    dependencies: {
      ...(provider === "scripted" ? {} : MODEL_PACKAGES),
      holdline: `^${OWN_VERSION}`,
      zod: "^4.1.0",
    },
  };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
