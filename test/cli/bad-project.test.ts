/** A project with mistakes in it: every one is told, at once, one line each, and nothing is served. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { loadProject } from "../../src/cli/load-project.ts";
import { ProjectError } from "../../src/cli/problems.ts";
import { build } from "../support/child.ts";
import { edit, holdline, temporaryFolder } from "../support/command.ts";
import { createProject } from "../support/console-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

let whole: string;
beforeAll(async () => {
  await build();
  whole = await createProject();
});

/** A project without mistakes, in a folder of its own. */
function copyProject(): string {
  const folder = join(temporaryFolder("bad"), "demo");
  cpSync(whole, folder, { recursive: true });
  return folder;
}

/** The lines that a project is refused with. */
async function mistakesOf(folder: string): Promise<readonly string[]> {
  const refusal = await loadProject(folder).catch((error: unknown) => error);
  if (refusal instanceof ProjectError) return refusal.lines;
  throw refusal;
}

/** A variable as a project writes it. */
const variable = (name: string): string => `$\{${name}}`;

describe("holdline run, of a project with mistakes", () => {
  it("tells ten mistakes in five files in ten lines", async () => {
    const folder = copyProject();
    writeFileSync(
      join(folder, "agent.yaml"),
      `name: ""
instruction: Be kind.
engine:
  provider: openai-compatible
  model: \${A_MODEL_THAT_IS_NOT_SET}
  baseURL: nowhere
augments: [turnControl]
retention: { ttlMs: soon }
port: 99999
`,
    );
    writeFileSync(
      join(folder, "augments/turnControl/augment.yaml"),
      'type: turnControl\nconfig:\n  requestInputDescription: ""\n',
    );
    writeFileSync(join(folder, "skills/turnControl/SKILL.md"), "---\nname: empty\n---\n");
    edit(join(folder, "tools/deployment.ts"), "allowEdits", "allowEdit");
    const { code, stdout, stderr } = await holdline(folder, "run", "--port", "0");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n  ")).toEqual([
      "10 mistakes in this project:",
      "agent.yaml: engine.model: expected the variable A_MODEL_THAT_IS_NOT_SET to be set, in the environment or in .env",
      "agent.yaml: name: expected a text that is not empty",
      "agent.yaml: instructions: expected a text, found nothing",
      'agent.yaml: engine.baseURL: expected an http or https address, found "nowhere"',
      'agent.yaml: retention.ttlMs: expected a number, found "soon"',
      "agent.yaml: port: expected at most 65535, found 99999",
      "agent.yaml: instruction: this key is not known",
      "augments/turnControl/augment.yaml: config.requestInputDescription: expected a text that is not empty",
      "skills/turnControl/SKILL.md: expected some text below its front matter",
      "tools/deployment.ts: deploy_service.approval.allowEdit: this key is not known",
    ]);
  });

  it("tells what is wrong with a script", async () => {
    const folder = copyProject();
    writeFileSync(
      join(folder, "script.ts"),
      `export default {
  cases: [
    { user: "deploy", model: [{ text: "Hm." }] },
    { user: /x/, model: [{ text: "Hm." }, { calls: [{ tool: "deploi", args: {} }] }] },
    { user: /y/, modle: [], model: [] },
  ],
  otherwise: [{ text: 3, calls: [{ tool: "deploy_service", args: "now" }] }],
};`,
    );
    expect(await mistakesOf(folder)).toEqual([
      "script.ts: cases[0].user: expected a regular expression, as /deploy/i",
      "script.ts: cases[2].modle: this key is not known",
      "script.ts: otherwise[0].text: expected a text or a function that gives one",
      "script.ts: otherwise[0].calls[0].args: expected an object or a function that gives one",
    ]);
  });

  it("tells what a script says that no model could", async () => {
    const folder = copyProject();
    writeFileSync(
      join(folder, "script.ts"),
      `export default {
  cases: [{ user: /x/, model: [{ text: "Hm." }, { calls: [{ tool: "deploi", args: {} }] }] }, { user: /y/, model: [] }],
  otherwise: [],
};`,
    );
    expect(await mistakesOf(folder)).toEqual([
      "script.ts: cases[0].model[0]: expected calls: only after calls is the model called again",
      'script.ts: cases[0].model[1].calls[0].tool: expected "deploy_service" or "restart_service" or "request_input", found "deploi"',
      "script.ts: cases[1].model: expected at least one reply",
      "script.ts: otherwise: expected at least one reply",
    ]);
  });

  it("tells what is wrong with tools, and does not blame the script for it", async () => {
    const folder = copyProject();
    writeFileSync(join(folder, "tools/broken.ts"), "export const x: = 3;\n");
    writeFileSync(
      join(folder, "tools/odd.ts"),
      `import { defineTool } from "holdline/project";
export const plain = { description: "No.", execute: () => 1 };
export const schemaless = defineTool({ description: "", inputSchema: {}, execute: 1 });
export const request_input = defineTool({ description: "x", inputSchema: {}, approval: "yes", execute: () => 1, more: 1 });
export const helper = 3;
`,
    );
    const standard = "expected a Standard Schema that describes itself as JSON Schema, such as one of zod 4";
    expect(await mistakesOf(folder)).toEqual([
      expect.stringMatching(/^tools\/broken\.ts: could not be loaded: .*tools\/broken\.ts:1:16/),
      "tools/odd.ts: plain: expected a tool made with defineTool, from holdline/project",
      `tools/odd.ts: request_input.inputSchema: ${standard}`,
      "tools/odd.ts: request_input.approval: expected true or an object of options",
      "tools/odd.ts: request_input.more: this key is not known",
      "tools/odd.ts: schemaless.description: expected a text that is not empty",
      `tools/odd.ts: schemaless.inputSchema: ${standard}`,
      "tools/odd.ts: schemaless.execute: expected a function",
      "tools: request_input: expected another name: turn control's tool is called so",
    ]);
  });

  it("tells where a file is no YAML, and which files are not there", async () => {
    const folder = copyProject();
    rmSync(join(folder, "skills/turnControl/SKILL.md"));
    edit(join(folder, "agent.yaml"), "[turnControl]", "[turnControl, ghost, turnControl]");
    mkdirSync(join(folder, "augments/ghost"));
    edit(join(folder, "agent.yaml"), "script: script.ts", "script: elsewhere.ts");
    writeFileSync(join(folder, "augments/turnControl/augment.yaml"), "type: [turnControl\nconfig: {}\n");
    const mistakes = await mistakesOf(folder);
    expect(mistakes).toEqual([
      expect.stringMatching(/^augments\/turnControl\/augment\.yaml: line \d: /),
      "augments/ghost/augment.yaml: expected a file",
      'agent.yaml: augments[2]: expected the name of a folder in augments, once, found "turnControl"',
      "skills/turnControl/SKILL.md: expected a file",
      "elsewhere.ts: expected a file in the project",
    ]);
  });

  it("takes variables from the environment before .env, and letters that look like one as letters", async () => {
    const folder = copyProject();
    edit(join(folder, "agent.yaml"), "port: 8787", `port: ${variable("A_PORT")}`);
    edit(join(folder, "agent.yaml"), "name: demo", `name: ${variable("A_NAME")} $${variable("A_NAME")}`);
    writeFileSync(join(folder, ".env"), "A_PORT=notaport\nA_NAME=Ada\n");
    const { config } = await loadProject(folder, { A_PORT: "4321" });
    expect(config).toMatchObject({ port: 4321, name: `Ada ${variable("A_NAME")}` });
  });
});

describe("the command, given what it cannot do", () => {
  it.each([
    [["create", "../../etc/.hidden"], /^A project's name begins with/],
    [["create", ".", "--yes"], /is there already/],
    [["create", "x", "--provider", "cohere"], /^--provider takes scripted or openai-compatible, not cohere\./],
    [["run", "nowhere"], /^There is no agent\.yaml in .*nowhere/],
    [["run", "--prot", "1"], /^Unknown option '--prot'/],
  ])("%j: says so in words and exits with 1", async (args, words) => {
    const { code, stdout, stderr } = await holdline(whole, ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n {4}at /);
  });
});

describe("holdline create", () => {
  it.each(["123", "null", "1e3"])(
    "writes a name that reads as a name, whatever YAML would make of it: %s",
    async (name) => {
      const { config } = await loadProject(await createProject(name));
      expect(config.name).toBe(name);
    },
  );
});
