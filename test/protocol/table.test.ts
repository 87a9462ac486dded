/** docs/protocol.md: no obligation without a test that shows it or a reason, and the page as fresh as the tests. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const script = new URL("../../scripts/protocol-table.mjs", import.meta.url);
const { findTests, pageOf, problemsOf } = await import(script.href);

describe("the table of docs/protocol.md", () => {
  it("is fresh, has no MUST that nothing shows and no reason excuses, and no number that does not exist", () => {
    const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(script), "--check"], { encoding: "utf8" });
    expect([stderr, status]).toEqual(["", 0]);
  });

  const given = {
    one: {
      title: "One",
      obligations: [
        ["P1", "MUST", "It is a|b."],
        ["P2", "MUST", "It is not told."],
        ["P3", "MUST", "It cannot be shown.", "It is the client's."],
        ["P4", "SHOULD", "It would be good."],
      ],
    },
  };
  const text = [
    'describe("a thing (P1)", () => {',
    '  it("is \\"so\\": %j (P1, P9)", () => {});',
    "  // P2 in a comment, and (P2) beside no name",
    '  const words = ["no number (7)"];',
  ].join("\n");

  it("finds the numbers in the names of tests, and tells what is missing and what is not known", () => {
    const tests = findTests([{ file: "test/a.test.ts", text }]);
    expect(Object.fromEntries(tests)).toEqual({
      P1: [
        { file: "test/a.test.ts", name: "a thing" },
        { file: "test/a.test.ts", name: 'a thing: is "so": …' },
      ],
      P9: [{ file: "test/a.test.ts", name: 'a thing: is "so": …' }],
    });
    expect(problemsOf(given, tests)).toEqual([
      "P2 is a MUST, and no test names it, nor is there a reason.",
      "P9 is named by a test, and is no obligation.",
    ]);
    expect(pageOf(given, tests, "# Intro").split("\n").slice(4)).toEqual([
      "| no. | level | what is asked | status | by |",
      "|---|---|---|---|---|",
      '| P1 | MUST | It is a\\|b. | shown | `test/a.test.ts`: a thing<br>`test/a.test.ts`: a thing: is "so": … |',
      "| P2 | MUST | It is not told. | not shown |  |",
      "| P3 | MUST | It cannot be shown. | not tested | It is the client's. |",
      "| P4 | SHOULD | It would be good. | not shown |  |",
      "",
    ]);
  });
});
