/** The package as it is installed: every entry does its work on every runtime, with its optional peers and without. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { readEntries } from "../../tsdown.config.ts";
import { runProject, temporaryFolder } from "../support/command.ts";
import { httpClient } from "../support/http-client.ts";
import { install } from "../support/installed.ts";
import { runProgram } from "../support/programs.ts";
import { soleInterrupt } from "../support/runs.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const { scripts, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const bin = (name: string) => join(root, "node_modules/.bin", name);

/** How each runtime runs a file, and what it has to be allowed besides where others' packages want it: @ag-ui/client and `ai` read the environment, `ai` the host's name. */
const runtimes: [runtime: string, command: string[], peers: string[]][] = [
  ["Node", [process.execPath, "--unhandled-rejections=strict"], []],
  ["Bun", [bin("bun")], []],
  ["Deno", [bin("deno"), "run", "--no-prompt", "--allow-net"], ["--allow-env", "--allow-sys=hostname"]],
];

const booked = "LH441? window, 12C";
/** What each entry comes to with every peer there. */
const results = (runtime: string) => ({
  holdline: booked,
  "holdline, in protobuf": ["application/vnd.ag-ui.event+proto"],
  "holdline/node": booked,
  "holdline/bun": runtime === "Bun" ? booked : expect.stringMatching(/^TypeError: holdline\/bun serves on Bun;/),
  "holdline/deno": runtime === "Deno" ? booked : expect.stringMatching(/^TypeError: holdline\/deno serves on Deno;/),
  "holdline/workers": { status: "input-required", message: "Which?" },
  "holdline/durable-object": `${booked} from 1 object`,
  "holdline/hono": booked,
  "holdline/client": "window, 12C",
  "holdline/ag-ui": booked,
  "holdline/a2ui": "a2ui-surface",
  "holdline/ai-sdk": { status: "input-required", message: "Which?" },
  "holdline/console": "<title>Flights</title>",
  "holdline/project": true,
  "holdline/testing": "INTERRUPT_NOT_HELD",
});

/** Puts the program into a project that has the package and these others. */
async function project(others: readonly string[]): Promise<string> {
  const folder = temporaryFolder("runtimes");
  await install(folder, others);
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  cpSync(join(root, "test/fixtures/consumer/entries.mjs"), join(folder, "entries.mjs"));
  return folder;
}

async function run(folder: string, [command = "", ...args]: readonly string[]) {
  const { code, stdout, stderr } = await runProgram(command, [...args, join(folder, "entries.mjs")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

describe("the installed package", () => {
  let whole: string;
  let bare: string;
  beforeAll(async () => {
    whole = await project(Object.keys(peerDependencies));
    bare = await project([]);
  });

  it("runs nothing when it is installed", () => {
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });

  it("has no entry that the program leaves out", () => {
    const specifiers = readEntries().flatMap(({ subpath }) =>
      subpath.startsWith(".") ? [join("holdline", subpath)] : [],
    );
    expect(Object.keys(results("Node"))).toEqual(expect.arrayContaining(specifiers));
  });

  it.each(runtimes)("works on %s, every entry", async (runtime, command, peers) => {
    expect(await run(whole, [...command, ...peers])).toEqual(results(runtime));
  });

  it.each(runtimes)("works on %s without its peers, and names the one that is missing", async (runtime, command) => {
    const missing = (name: string) =>
      expect.stringMatching(new RegExp(`^\\w+: (Cannot|Could not|Import) .*["']${name}["']`));
    expect(await run(bare, command)).toEqual({
      ...results(runtime),
      "holdline, in protobuf": [
        "text/event-stream",
        "Error: transports.protobuf needs the package @ag-ui/encoder: install it beside holdline.",
      ],
      // The route itself needs nothing of Hono's; the app does.
      "holdline/hono": missing("hono"),
      "holdline/client": missing("@ag-ui/client"),
      "holdline/ag-ui": missing("@ag-ui/client"),
      "holdline/ai-sdk": missing("ai"),
    });
  });

  it.each([
    ["Bun", [bin("bun")]],
    ["Deno", [bin("deno"), "run", "-A"]],
  ])("brings a command that makes a project and serves it on %s", async (runtime, start) => {
    const command = [...start, join(bare, "node_modules/holdline/dist/cli.js")];
    const [program = "", ...args] = command;
    const made = await runProgram(program, [...args, "create", join(bare, runtime), "--yes"]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const served = await runProject(".", [], { command, cwd: join(bare, runtime) });
    const client = httpClient({ url: served.agentUrl });
    const question = soleInterrupt(await client.say("Restart api-west"));
    expect((await client.answer(question, "yes")).text).toMatch(/^api-west was restarted/);
    await served.stop();
  });
});
