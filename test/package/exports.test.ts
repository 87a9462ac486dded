import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEntries } from "../../tsdown.config.ts";
import { install, pack } from "../support/installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = readEntries();
const importable = entries.filter(({ subpath }) => subpath.startsWith("."));
const specifiers = importable.map(({ subpath }) => join("holdline", subpath));

/** A project that has installed the tarball and nothing that the package does not declare. */
let consumer: string;
let tarball: string;
let packed: readonly string[];

/** Runs a program and resolves to what it printed; rejects with all of it when it fails. */
async function run(program: string, args: string[], cwd = consumer): Promise<string> {
  const child = promisify(execFile)(program, args, { cwd });
  return child.then(
    ({ stdout }) => stdout,
    ({ message, stdout, stderr }) => Promise.reject(new Error(`${message}\n${stdout}\n${stderr}`)),
  );
}
const runTool = (name: string, ...args: string[]) => run(join(root, "node_modules/.bin", name), args);

describe("the package as it is published", () => {
  beforeAll(async () => {
    consumer = await mkdtemp(join(tmpdir(), "holdline-consumer-"));
    ({ tarball, files: packed } = await pack());
    await install(consumer, Object.keys(peerDependencies));
    await writeFile(join(consumer, "package.json"), '{ "type": "module" }');
  }, 60_000);

  afterAll(() => rm(consumer, { recursive: true, force: true }));

  it("lists every adapter and every room of the sources as an entry", async () => {
    const adapters = (await readdir(join(root, "adapters"))).filter((name) => /^[^_].*\.ts$/.test(name));
    const rooms = (await readdir(join(root, "src"))).filter((name) => existsSync(join(root, "src", name, "index.ts")));
    const sources = [...adapters.map((name) => `adapters/${name}`), ...rooms.map((name) => `src/${name}/index.ts`)];
    expect(entries.map(({ source }) => source)).toEqual(expect.arrayContaining(["src/index.ts", ...sources]));
  });

  it("holds the build and the papers, and nothing else", () => {
    for (const { name } of entries) {
      expect(packed).toContain(`dist/${name}.js`);
      expect(packed).toContain(`dist/${name}.d.ts`);
    }
    expect(packed).toContain("LICENSE");
    const papers = ["package.json", "LICENSE", "README.md", "CHANGELOG.md", "dist/console-licenses.md"];
    expect(packed.filter((path) => !/^dist\/[\w-]+(\.d)?\.[jt]s$/.test(path) && !papers.includes(path))).toEqual([]);
  });

  it("exports these names, each entry loading with its declared dependencies alone", async () => {
    const program = `
      const names = {};
      for (const specifier of ${JSON.stringify(specifiers)}) names[specifier] = Object.keys(await import(specifier));
      console.log(JSON.stringify(names));
    `;
    const names = JSON.parse(await run(process.execPath, ["--input-type=module", "--eval", program]));
    expect(names).toMatchInlineSnapshot(`
      {
        "holdline": [
          "AGENT_FAILED",
          "EventRefusedError",
          "HoldUnavailableError",
          "HoldlineError",
          "InputTimeoutError",
          "InterruptCancelledError",
          "PromptInvalidError",
          "PublicError",
          "RefusalCode",
          "RequestError",
          "RequestErrorCode",
          "TurnEndedError",
          "TurnReleasedError",
          "createGate",
          "createHandler",
        ],
        "holdline/a2ui": [
          "a2uiAgent",
        ],
        "holdline/ag-ui": [
          "agUiAgent",
        ],
        "holdline/ai-sdk": [
          "aiAgent",
          "approval",
          "contextOf",
        ],
        "holdline/bun": [
          "serve",
        ],
        "holdline/client": [
          "abandon",
          "answer",
          "echoProofs",
          "threadFetch",
        ],
        "holdline/console": [
          "browserOf",
          "consolePage",
        ],
        "holdline/deno": [
          "serve",
        ],
        "holdline/durable-object": [
          "createThreadObject",
          "routeThreads",
          "threadName",
        ],
        "holdline/hono": [
          "agentRoute",
        ],
        "holdline/node": [
          "serve",
          "toNodeListener",
        ],
        "holdline/project": [
          "defineScript",
          "defineTool",
          "isTool",
        ],
        "holdline/testing": [
          "InvariantError",
          "checkStream",
          "createTestClock",
          "frameReader",
          "readFrames",
          "testAgent",
        ],
        "holdline/workers": [
          "createWorker",
        ],
      }
    `);
  });

  it("is what publint and attw ask of a package", async () => {
    await runTool("publint", "run", tarball, "--strict");
    await runTool("attw", tarball, "--profile", "esm-only");
  }, 120_000);
});
