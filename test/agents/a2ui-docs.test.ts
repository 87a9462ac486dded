/** What docs/a2ui.md shows is run or compiled, and what it says of warnings is held to the sources. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { operationsOf } from "../support/a2ui.ts";
import { httpClient } from "../support/http-client.ts";
import { codesIn, readPage } from "../support/markdown.ts";
import { freePort, ProgramFolder } from "../support/programs.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(root + path, "utf8");
const markdown = read("docs/a2ui.md");
const page = readPage(markdown);
const programs = page.blocks.filter(({ language }) => language === "ts").map(({ text }) => text);
const folder = new ProgramFolder("a2ui");

beforeAll(() => void execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root }));
afterAll(() => folder.dispose());

describe("docs/a2ui.md", () => {
  it("compiles, every program of it, as its users compile it", async () => {
    expect(page.blocks.map(({ heading, language }) => `${heading}: ${language}`)).toEqual([
      "Surfaces: an agent that shows a user interface: ts",
      "With a model: ts",
      "In a page: js",
    ]);
    const found = await folder.typecheck([...programs, `${programs[0]}const wrong: number = url;\n`]);
    expect(found).toEqual([expect.stringMatching(/checked-2\.ts\(\d+,7\): error TS2322:/)]);
  });

  it("begins with a program that does what it says", async () => {
    const program = programs[0]?.replace("8787", String(await freePort())) ?? "";
    const client = httpClient({ url: await folder.serve(program) });
    const shown = await client.say("What flies?");
    expect(shown.text).toBe("These fly today.\n");
    const components = ["root", "book-LH441", "label-LH441", "book-LH443", "label-LH443"];
    expect(operationsOf(shown)).toMatchObject([
      [{ createSurface: {} }, { updateComponents: { components: components.map((id) => ({ id })) } }],
    ]);
    const click = (flight: string) => ({
      forwardedProps: { a2uiAction: { userAction: { name: "book", surfaceId: "booking", context: { flight } } } },
    });
    expect((await client.run(click("LH999"))).text).toBe("These fly today.\n");
    const asked = await client.run(click("LH441"));
    expect(soleInterrupt(asked).message).toBe("Book LH441? (yes/no)");
    // On another client of the thread, which knows of no question.
    const alone = await client.reloaded().run(click("LH443"));
    expect(endOf(alone)).toMatch(/^INTERRUPT_NOT_COVERED/);
    expect(markdown).toContain("refused with `INTERRUPT_NOT_COVERED`");
    expect((await client.answer(soleInterrupt(asked), "yes")).text).toBe("LH441 is booked.");
  });

  it("shows the page that the browser's test opens", () => {
    const shown = page.blocks.find(({ language }) => language === "js")?.text ?? "";
    expect(shown).toContain("A2UIProvider");
    expect(read("test/fixtures/a2ui-page.mjs")).toContain(shown.trim());
    const { version } = JSON.parse(read("node_modules/@copilotkit/a2ui-renderer/package.json"));
    expect(markdown).toContain(`Version ${version} of the renderer was tested`);
  });

  it("lists the warnings there are", () => {
    const files = ["a2ui.ts", ...readdirSync(`${root}src/agents/a2ui`).map((name) => `a2ui/${name}`)];
    const sources = files.map((path) => read(`src/agents/${path}`)).join("\n");
    const warned = [...sources.matchAll(/arn\(\s*"([A-Z0-9_]+)"/g)].map(([, code]) => code);
    const listed = page.tables.flatMap(({ rows }) => rows.flatMap(([cell = ""]) => codesIn(cell)));
    expect(listed).toEqual([...new Set(warned)]);
  });

  it("is linked to", () => {
    expect(read("README.md")).toContain("(docs/a2ui.md)");
    expect(existsSync(`${root}docs/a2ui.md`)).toBe(true);
  });
});
