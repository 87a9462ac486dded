/** docs/testing.md: its tests pass, and those that should not do not. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { serve } from "../../adapters/node.ts";
import { createHandler } from "../../src/index.ts";
import * as testing from "../../src/testing/index.ts";
import { build } from "../support/child.ts";
import { literalsOf, membersOf } from "../support/declarations.ts";
import { closeAfterTest } from "../support/listen.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder, runProgram } from "../support/programs.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const page = pageUnderTest("docs/testing.md");
const folder = new ProgramFolder("testing");
beforeAll(build);
afterAll(() => folder.dispose());

const run = (program: string) => runProgram(process.execPath, [folder.compile(program)]);
const firstWords = (text: string) => codesIn(text).map((code) => /^\w+/.exec(code)?.[0] ?? code);

describe("docs/testing.md", () => {
  it.each([
    ["An agent that asks", 2, "{ approval: true }", "{}"],
    ["Several questions, several callers", 1, 'request.headers.get("x-user")', '"anybody"'],
    ["A client that leaves", 1, "leaving.abort(", "void ("],
  ])("has tests that pass, and that fail for another agent: %s", async (heading, count, right, wrong) => {
    const program = page.take(heading, "ts");
    const { code, stdout, stderr } = await run(program);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`\\bpass ${count}\\n`));
    expect(program).toContain(right);
    expect((await run(program.replace(right, wrong))).code).toBe(1);
  });

  it("moves a clock by hand", async () => {
    const { clock, handler } = await folder.load(page.take("The clock alone", "ts"));
    expect(new Date(clock.now()).getUTCFullYear()).toBe(2100);
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ threadId: "T", runId: "R", messages: [] });
    await (await handler.handle(new Request("http://agent.test/", { method: "POST", headers, body }))).text();
    expect([handler.stats().held, clock.pending > 0]).toEqual([1, true]);
    await clock.advance(60_000);
    expect([handler.stats().held, handler.stats().expired, clock.pending]).toEqual([0, 1, 0]);
    await handler.close();
  });

  it("reads and checks a stream from anywhere", async () => {
    const program = page.take("A stream from anywhere", "ts");
    const { url, close } = await serve(createHandler({ agent: async (context) => context.text("Hi") }));
    closeAfterTest(close);
    const ran = await run(program.replace("http://127.0.0.1:8787/", url));
    const types = "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END RUN_FINISHED";
    expect(ran).toEqual({ code: 0, stdout: `${types}\n`, stderr: "" });
    expect(
      (
        await run(
          program
            .replace("http://127.0.0.1:8787/", url)
            .replace("(frames, input)", '(frames, { ...input, runId: "another" })'),
        )
      ).stderr,
    ).toContain("INV-3");
  });

  it("names everything that the entry exports, each member and each option", () => {
    const prose = [...page.prose.values()].join("\n");
    const named = new Set(firstWords(prose));
    const functions = Object.keys(testing).filter((name) => typeof Reflect.get(testing, name) === "function");
    for (const name of functions) expect(named).toContain(name);
    const listed = page.tables[0]?.rows.flatMap(([cell = ""]) => firstWords(cell)) ?? [];
    expect(listed.toSorted()).toEqual(membersOf("src/testing/test-agent.ts", "TestAgent").toSorted());
    for (const option of membersOf("src/testing/test-agent.ts", "TestRunOptions")) expect(named).toContain(option);
    for (const member of membersOf("src/testing/test-run.ts", "TestRun")) expect(named).toContain(member);
    for (const member of membersOf("src/testing/clock.ts", "TestClock")) expect(named).toContain(member);
    const invariants = page.tables[1]?.rows.flatMap(([cell = ""]) => codesIn(cell));
    expect(invariants).toEqual(literalsOf("src/testing/invariant-error.ts", "Invariant"));
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
