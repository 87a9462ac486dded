/** docs/errors.md names every code and error class that the sources know, and none that they do not. */
import { readdirSync, readFileSync } from "node:fs";
import { EventType } from "@ag-ui/core";
import ts from "typescript";
import { afterAll, describe, expect, it } from "vitest";
import * as holdline from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { literalsOf } from "../support/declarations.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { endOf, giveUp, soleInterrupt } from "../support/runs.ts";

const page = pageUnderTest("docs/errors.md");
const root = new URL("../../", import.meta.url);
const folder = new ProgramFolder("errors");
afterAll(() => folder.dispose());

/** The rows of the tables under a heading whose first column is `column`. */
const rowsOf = (heading: string, column: string) =>
  page.tables.filter((table) => table.heading === heading && table.columns[0] === column).flatMap(({ rows }) => rows);
const firstOf = (rows: ReadonlyArray<readonly string[]>) => rows.flatMap(([cell = ""]) => codesIn(cell));

/** Upper snake case that is no code: the protocol's event types, what they begin with, the name of a binding. */
const NO_CODES = new Set<string>([
  ...Object.values(EventType),
  "TEXT_MESSAGE",
  "TOOL_CALL",
  "REASONING_MESSAGE",
  "AGENT_THREADS",
]);

/** Every string of the server's sources that is spelled as a code. */
function codesInSources(): string[] {
  const files = ["src/core", "adapters"].flatMap((path) =>
    readdirSync(new URL(path, root))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${path}/${name}`),
  );
  const found = new Set<string>();
  for (const file of [...files, "src/console/index.ts", "src/agents/ag-ui.ts"]) {
    const visit = (node: ts.Node) => {
      if (ts.isStringLiteral(node) && /^[A-Z]+(_[A-Z]+)+$/.test(node.text)) found.add(node.text);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, readFileSync(new URL(file, root), "utf8"), ts.ScriptTarget.ES2022));
  }
  return [...found].filter((code) => !NO_CODES.has(code)).sort();
}

describe("docs/errors.md", () => {
  it("lists every code there is, and no other", () => {
    const listed = page.tables
      .filter(({ columns }) => columns[0] === "code")
      .flatMap(({ rows }) => firstOf(rows))
      .concat(rowsOf("In the agent", "class").flatMap(([, cell = ""]) => codesIn(cell)));
    expect([...new Set(listed)].sort()).toEqual(codesInSources());
  });

  it("puts each where it is told", () => {
    expect(firstOf(rowsOf("Refused runs", "code"))).toEqual(Object.values(holdline.RefusalCode));
    expect(firstOf(rowsOf("Causes", "cause"))).toEqual(literalsOf("src/core/errors.ts", "InterruptCause"));
    expect(firstOf(rowsOf("Failed runs", "code"))).toContain(holdline.AGENT_FAILED);
    const requests = rowsOf("Requests", "code").map(([code = "", status]) => [codesIn(code)[0], Number(status)]);
    for (const code of Object.values(holdline.RequestErrorCode)) {
      expect(requests).toContainEqual([code, new holdline.RequestError(code, "").status]);
    }
  });

  it("lists every error class, with the code it has", () => {
    const rows = rowsOf("In the agent", "class");
    const classes = Object.keys(holdline).filter((name) => name.endsWith("Error"));
    expect(firstOf(rows).sort()).toEqual(classes.sort());
    for (const [name = "", code = ""] of rows) {
      const given = Reflect.get(holdline, codesIn(name)[0] ?? "");
      const own = ["HoldlineError", "RequestError"].includes(given.name) ? undefined : new given("").code;
      if (own !== undefined) expect(codesIn(code)).toEqual([own]);
    }
  });

  it("catches as its program does", async () => {
    const { agent, missed } = await folder.load(page.take("In the agent", "ts"));
    const late = agentUnderTest(agent);
    const given = agentUnderTest(agent);
    const question = soleInterrupt(await late.run("go"));
    await late.clock.advance(60_000);
    expect(endOf(await late.answer(question, "aisle"))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(missed).toEqual(["thread-1"]);

    expect(endOf(await given.resume([giveUp(soleInterrupt(await given.run("go")))]))).toBe("cancelled");
    expect(given.warnings.map(({ code }) => code)).toEqual(["SEAT_GIVEN_UP"]);
    const again = soleInterrupt(await given.run("go"));
    expect((await given.answer(again, "aisle")).result).toEqual({ seat: "aisle" });
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
