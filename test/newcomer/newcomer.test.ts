/** What somebody does who has never seen the project: the commands, in a folder where nothing is. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { runProject, temporaryFolder } from "../support/command.ts";
import { httpClient } from "../support/http-client.ts";
import { pack } from "../support/installed.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const execute = promisify(execFile);

describe("a newcomer, in a fresh folder", () => {
  let folder: string;

  const run = (...[program = "", ...args]: string[]) => execute(program, args, { cwd: folder, encoding: "utf8" });

  beforeAll(async () => {
    const { tarball } = await pack();
    folder = temporaryFolder("newcomer");
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    await run("npm", "install", "--prefer-offline", "--no-audit", "--no-fund", tarball);
  });

  it("has an agent that asks, in three commands and without a key", async () => {
    const { stdout } = await run("npx", "holdline", "create", "demo", "--yes");
    expect(stdout).toMatch(/demo is made\.\s+cd demo\s+npx holdline run/);
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readFileSync(join(folder, "demo/README.md"), "utf8")).toMatch(/^# demo\n/);
    const project = await runProject(".", [], { command: ["npx", "holdline"], cwd: join(folder, "demo") });

    const client = httpClient({ url: project.agentUrl });
    const asked = await client.say("Restart api-west");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    const question = soleInterrupt(asked);
    expect(question.message).toBe("api-west is serving 120 requests a second. Restart it now? (yes/no)");
    const answered = await client.answer(question, "yes");
    expect(answered.text).toBe("api-west was restarted; 120 requests a second moved over meanwhile.");

    const page = await (await fetch(project.url)).text();
    expect(page).toContain("<title>demo</title>");
    await project.stop();
  });

  it("is found from the folder around it, and makes no second project over the first", async () => {
    const project = await runProject(".", [], { command: ["npx", "holdline"], cwd: folder }).catch((error) => error);
    // Named, it has to be a project itself; unnamed, the only one inside is meant.
    expect(String(project)).toContain("There is no agent.yaml in");
    await expect(run("npx", "holdline", "create", "demo", "--yes")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("demo is there already"),
    });
  });

  it("finds the types of what it edits", async () => {
    await run(join(root, "node_modules/.bin/tsc"), "-p", "demo");
    writeFileSync(
      join(folder, "demo/wrong.ts"),
      `import { defineTool } from "holdline/project";
import { z } from "zod";
export const wrong = defineTool({
  description: "x",
  inputSchema: z.object({ service: z.string() }),
  execute: ({ servise }) => servise,
});
`,
    );
    await expect(run(join(root, "node_modules/.bin/tsc"), "-p", "demo", "--pretty", "false")).rejects.toMatchObject({
      stdout: expect.stringMatching(/^demo\/wrong\.ts\(6,15\): error TS2339: Property 'servise' does not exist/),
    });
  });
});
