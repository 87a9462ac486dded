/**
 * Reads a project whole: its configuration, augments, skills, tools and script. Every mistake in
 * every file is found before any is told.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseDocument } from "yaml";
import type { z } from "zod";
import type { ProjectTool, Script } from "../project/index.ts";
import { type AgentConfig, type AugmentConfig, agentConfig, augmentConfig, issueLines } from "./config-schema.ts";
import { REQUEST_INPUT } from "./engine/scripted.ts";
import { type Environment, fill, readEnvironment } from "./environment.ts";
import { importsOf, type ProjectImports } from "./import-project.ts";
import { callable, readScript, readTools } from "./module-schema.ts";
import { Problems, ProjectError } from "./problems.ts";

/** A project that is ready to be run. */
export interface Project {
  readonly config: AgentConfig;
  /** The instructions and the skills, as the model is given them. */
  readonly instructions: string;
  readonly tools: ReadonlyMap<string, ProjectTool>;
  readonly turnControl: false | { readonly requestInputDescription?: string };
  /** Of the scripted engine. */
  readonly script: Script | undefined;
  readonly imports: ProjectImports;
}

/** @throws ProjectError with every mistake. */
export async function loadProject(folder: string, own?: Environment): Promise<Project> {
  const problems = new Problems();
  const files = new ProjectFiles(folder, problems, readEnvironment(folder, own));
  const { config, raw } = files.read("agent.yaml", agentConfig);
  const names = config?.augments ?? listOfTexts((raw as { augments?: unknown } | undefined)?.augments);
  const turnControl = readAugments(names, files);
  const skills = readSkills(folder, problems);
  const imports = importsOf(folder);
  const { tools, isWhole } = await readToolFiles(folder, toolFiles(folder, config, raw), imports, problems);
  if (turnControl !== false && tools.has(REQUEST_INPUT)) {
    problems.add("tools", REQUEST_INPUT, "expected another name: turn control's tool is called so");
  }
  let script: Script | undefined;
  const engine = config?.engine ?? {
    provider: (raw as { engine?: { provider?: unknown } } | undefined)?.engine?.provider,
    script: "script.ts",
  };
  if (engine.provider === "scripted") {
    const file = (engine as { script: string }).script;
    const exports = await importFile(folder, file, imports, problems);
    // What a file that could not be loaded would have brought is not known: no call is told off for its name.
    const known = isWhole ? callable(tools, turnControl !== false) : undefined;
    if (exports !== undefined) script = readScript(exports, file, known, problems);
  }
  if (problems.lines.length > 0 || config === undefined) throw new ProjectError(problems.lines);
  const instructions = [config.instructions.trim(), ...skills].join("\n\n");
  return { config, instructions, tools, turnControl, script, imports };
}

/** The configuration files of one project. */
class ProjectFiles {
  readonly #folder: string;
  readonly #problems: Problems;
  readonly #environment: Environment;

  constructor(folder: string, problems: Problems, environment: Environment) {
    this.#folder = folder;
    this.#problems = problems;
    this.#environment = environment;
  }

  /** Reads one and notes its mistakes. `raw` is what stands in it, however wrong. */
  read<S extends z.ZodType>(file: string, schema: S): { config: z.infer<S> | undefined; raw: unknown } {
    const path = join(this.#folder, file);
    if (!existsSync(path)) {
      this.#problems.add(file, "", "expected a file");
      return { config: undefined, raw: undefined };
    }
    const document = parseDocument(readFileSync(path, "utf8"), { prettyErrors: true });
    for (const { linePos, message } of document.errors) {
      const [first = ""] = message.split(/ at line |\n/);
      this.#problems.add(file, linePos === undefined ? "" : `line ${linePos[0].line}`, first);
    }
    if (document.errors.length > 0) return { config: undefined, raw: undefined };
    const raw: unknown = document.toJS();
    const { filled, missing } = fill(raw, this.#environment);
    for (const { path: at, name } of missing) {
      this.#problems.add(file, at, `expected the variable ${name} to be set, in the environment or in .env`);
    }
    const checked = schema.safeParse(filled);
    if (checked.success) return { config: checked.data, raw };
    const unfilled = new Set(missing.map(({ path: at }) => at));
    for (const { path: at, what } of issueLines(checked.error, filled)) {
      // A variable that is not set has been told of already.
      if (!unfilled.has(at)) this.#problems.add(file, at, what);
    }
    return { config: undefined, raw };
  }

  note(file: string, path: string, what: string): void {
    this.#problems.add(file, path, what);
  }
}

function readAugments(names: readonly string[], files: ProjectFiles): Project["turnControl"] {
  let turnControl: Project["turnControl"] = false;
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index || /[/\\]|^\./.test(name)) {
      files.note(
        "agent.yaml",
        `augments[${index}]`,
        `expected the name of a folder in augments, once, found ${JSON.stringify(name)}`,
      );
      continue;
    }
    const { config } = files.read(`augments/${name}/augment.yaml`, augmentConfig) as {
      config: AugmentConfig | undefined;
    };
    // Taken for what it wants to be, so that the script is not told off for calling it.
    if (config === undefined) {
      if (turnControl === false) turnControl = {};
      continue;
    }
    if (turnControl !== false)
      files.note(`augments/${name}/augment.yaml`, "type", "expected turnControl only once in a project");
    const { requestInputDescription } = config.config;
    turnControl = requestInputDescription === undefined ? {} : { requestInputDescription };
  }
  return turnControl;
}

/** Every `skills/<name>/SKILL.md`, as the model is told it: without its front matter. */
function readSkills(folder: string, problems: Problems): string[] {
  const root = join(folder, "skills");
  if (!existsSync(root)) return [];
  const names = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.flatMap(({ name }) => {
    const file = `skills/${name}/SKILL.md`;
    const path = join(folder, file);
    const text = existsSync(path)
      ? readFileSync(path, "utf8")
          .replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "")
          .trim()
      : undefined;
    if (text === undefined || text === "") {
      problems.add(file, "", text === undefined ? "expected a file" : "expected some text below its front matter");
      return [];
    }
    return [text];
  });
}

/** The files that hold tools: those the configuration names, else every one in `tools`. */
function toolFiles(folder: string, config: AgentConfig | undefined, raw: unknown): string[] {
  const named = config?.tools ?? (raw as { tools?: unknown } | undefined)?.tools;
  if (named !== undefined) return listOfTexts(named);
  const root = join(folder, "tools");
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.d)\.[cm]?[jt]s$/.test(name))
    .map((name) => `tools/${name.replaceAll(sep, "/")}`)
    .sort();
}

async function readToolFiles(folder: string, files: readonly string[], imports: ProjectImports, problems: Problems) {
  const tools = new Map<string, ProjectTool>();
  let isWhole = true;
  for (const file of files) {
    const exports = await importFile(folder, file, imports, problems);
    if (exports === undefined) {
      isWhole = false;
      continue;
    }
    for (const [name, tool] of readTools(exports, file, problems)) {
      if (tools.has(name)) problems.add(file, name, "expected another name: a tool of another file is called so");
      tools.set(name, tool);
    }
  }
  return { tools, isWhole };
}

async function importFile(
  folder: string,
  file: string,
  imports: ProjectImports,
  problems: Problems,
): Promise<object | undefined> {
  const path = join(folder, file);
  if (relative(folder, path).startsWith("..") || !existsSync(path)) {
    problems.add(file, "", "expected a file in the project");
    return undefined;
  }
  try {
    return await imports.file(path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    problems.add(file, "", `could not be loaded: ${message.replaceAll(`${folder}${sep}`, "")}`);
    return undefined;
  }
}

const listOfTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
