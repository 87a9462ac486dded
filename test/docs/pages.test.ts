/** Every page of the documentation: its programs compile, its links lead somewhere, and there is a test of what it shows. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { codesIn, readPage } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";

// The compiler is a process of its own; what else the machine does is not its to say.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
const inDocs = readdirSync(`${root}docs`).filter((name) => name.endsWith(".md"));
const paths = ["README.md", "SECURITY.md", ...inDocs.map((name) => `docs/${name}`)];
const pages = new Map(paths.map((path) => [path, readPage(readFileSync(root + path, "utf8"))]));
const folder = new ProgramFolder("pages");

/** A heading as the anchor that a link to it ends with. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** A test's source less its lines of comment: a page that is only mentioned is not tested. */
const withoutComments = (source: string) => source.replace(/^\s*(\/\*|\*|\/\/).*$/gm, "");

const linksIn = (path: string) =>
  [...(pages.get(path)?.prose.values() ?? [])].flatMap((text) =>
    [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to = ""]) => to),
  );

/** Where a link leads to that is not there; nothing when it is. */
function deadEnd(from: string, to: string): string | undefined {
  if (/^https?:/.test(to)) return undefined;
  const [file = "", anchor] = to.split("#");
  const target = file === "" ? from : join(dirname(from), file);
  if (!existsSync(root + target)) return `${from}: ${to}`;
  const anchors = pages.get(target)?.headings.map(anchorOf);
  return anchor === undefined || anchors?.includes(anchor) ? undefined : `${from}: ${to}`;
}

beforeAll(() => {
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
});
afterAll(() => folder.dispose());

describe("the pages", () => {
  it("are each the subject of a test", () => {
    const tests = readdirSync(`${root}test`, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".test.ts"),
    );
    const subjects = tests.map((name) => withoutComments(readFileSync(`${root}test/${name}`, "utf8"))).join("\n");
    expect(paths.filter((path) => !new RegExp(`["\`' ]${path}["\`' ]`).test(subjects))).toEqual([]);
  });

  it("compile, every program of them, as their users compile them", async () => {
    const programs = paths.flatMap((path) =>
      (pages.get(path)?.blocks ?? [])
        .filter(({ language }) => language === "ts")
        .map(({ heading, text }, index) => ({ name: `${path}, ${heading}, ${index}`, text })),
    );
    // The last one is there to be found: without it nobody knows that anything was checked.
    const wrong = "const wrong: number = 'text';\nexport { wrong };\n";
    const found = await folder.typecheck([...programs.map(({ text }) => text), wrong]);
    const named = found.map((line) => line.replace(/.*checked-(\d+)\.ts/, (_, n) => programs[n]?.name ?? "wrong"));
    expect(named).toEqual([expect.stringMatching(/^wrong\(1,7\): error TS2322:/)]);
  });

  it("link to what is there", () => {
    const links = paths.flatMap((path) => linksIn(path).map((to) => ({ path, to })));
    expect(links.length).toBeGreaterThan(20);
    expect(links.map(({ path, to }) => deadEnd(path, to)).filter((dead) => dead !== undefined)).toEqual([]);
  });

  it("name no entry that cannot be imported", () => {
    const named = [...pages.values()].flatMap(({ prose }) => [...prose.values()]).flatMap(codesIn);
    const entries = named.filter((code) => /^holdline\/[\w-]+$/.test(code));
    expect(entries).not.toEqual([]);
    for (const entry of entries) expect(Object.keys(manifest.exports)).toContain(entry.replace("holdline", "."));
  });
});

describe("docs/README.md", () => {
  const index = pageUnderTest("docs/README.md");

  it("shows nothing that was not run here", () => expect(index.left).toEqual([]));

  it("lists every page of the folder", () => {
    const listed = linksIn("docs/README.md").map((to) => to.split("#")[0]);
    for (const name of inDocs.filter((each) => each !== "README.md")) expect(listed).toContain(name);
  });
});
