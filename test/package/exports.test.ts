import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEntries } from "../../tsdown.config.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const entries = readEntries();
const importable = entries.filter(({ subpath }) => subpath.startsWith("."));
const specifiers = importable.map(({ subpath }) => join("holdline", subpath));

/** A project that has installed the tarball and nothing that the package does not declare. */
let consumer: string;
let tarball: string;
let packed: string[];

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
    await run(process.execPath, ["scripts/build.mjs"], root);
    const report = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", consumer], root);
    const [{ filename, files }] = JSON.parse(report);
    tarball = join(consumer, filename);
    packed = files.map(({ path }: { path: string }) => path);

    const modules = join(consumer, "node_modules");
    await mkdir(join(modules, "holdline"), { recursive: true });
    await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", join(modules, "holdline")]);
    const manifest = JSON.parse(await readFile(join(modules, "holdline/package.json"), "utf8"));
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(root, "node_modules", name), join(modules, name));
    }
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

  it("has types that compile without @types, on ES2022 and DOM", async () => {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      module: "NodeNext",
      target: "ES2022",
      lib: ["ES2022", "DOM"],
      types: [],
    };
    // The types of `ai` itself do not pass under these options (6.0.326: they name Node's, and break exactOptionalPropertyTypes).
    const builtOnAi = "holdline/ai-sdk";
    const uses = specifiers
      .filter((specifier) => specifier !== builtOnAi)
      .map((specifier, index) => `export * as entry${index} from "${specifier}";`);
    const lenient = `
      import { tool } from "ai";
      import { type AiAgentOptions, aiAgent, approval, contextOf } from "${builtOnAi}";
      import type { Agent } from "holdline";
      declare const inputSchema: Parameters<typeof tool<{ n: number }, string>>[0]["inputSchema"];
      const ask = tool({ inputSchema, execute: ({ n }, options) => contextOf(options).input(\`\${n}?\`) });
      const options: AiAgentOptions = { model: "acme/one", tools: { ask: approval(ask) }, temperature: 1 };
      // @ts-expect-error
      const wrong: AiAgentOptions = { model: 7 };
      export const agent: Agent = aiAgent(options);
    `;
    await writeFile(join(consumer, "uses.ts"), uses.join("\n"));
    await writeFile(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts"] }));
    await runTool("tsc", "--project", "tsconfig.json");
    const skipping = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, files: ["lenient.ts"] };
    await writeFile(join(consumer, "lenient.ts"), lenient);
    await writeFile(join(consumer, "tsconfig.lenient.json"), JSON.stringify(skipping));
    await runTool("tsc", "--project", "tsconfig.lenient.json");
  }, 120_000);

  it("is what publint and attw ask of a package", async () => {
    await runTool("publint", "run", tarball, "--strict");
    await runTool("attw", tarball, "--profile", "esm-only");
  }, 120_000);
});
