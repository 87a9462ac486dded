/**
 * The pages that a command makes of what it measured. What was measured is not to be had here; that they are whole, and
 * tell of what failed, is.
 */
import { describe, expect, it } from "vitest";
import { pageUnderTest } from "../support/page-under-test.ts";

describe("docs/bench.md", () => {
  const { tables, prose } = pageUnderTest("docs/bench.md");

  it("has every goal, met or missed, and of each missed one what was tried", async () => {
    const { goals, wanted } = await import(new URL("../../bench/goals.mjs", import.meta.url).href);
    const { tried } = await import(new URL("../../bench/tried.mjs", import.meta.url).href);
    const rows = tables.find(({ heading }) => heading === "Goals")?.rows ?? [];
    expect(rows.map(([figure, goal]) => [figure, goal])).toEqual(
      goals.map((goal: { figure: string }) => [goal.figure, wanted(goal)]),
    );
    const missed = rows.filter(([, , , verdict]) => verdict === "**missed**").map(([figure]) => figure);
    const told = prose.get("Missed, and what was tried") ?? "";
    for (const { id, figure } of goals as { id: string; figure: string }[]) {
      if (missed.includes(figure)) expect(told).toContain(`- ${figure}: ${tried[id]}`);
      else expect(told).not.toContain(`- ${figure}:`);
    }
  });
});

describe("docs/soak.md", () => {
  const { tables, prose } = pageUnderTest("docs/soak.md");

  it("is of ten minutes in which every check held", () => {
    const seconds = Number(/: (\d+) seconds/.exec(prose.get("Soak") ?? "")?.[1]);
    expect(seconds).toBeGreaterThanOrEqual(600);
    const checks = tables.find(({ columns }) => columns[0] === "check")?.rows ?? [];
    expect(checks.length).toBeGreaterThanOrEqual(9);
    expect(checks.filter(([, found]) => found !== "yes")).toEqual([]);
  });

  it("saw each way in which a run can end", () => {
    const ends = tables.find(({ columns }) => columns[0]?.startsWith("end"))?.rows.map(([end]) => end);
    for (const end of ["success", "interrupt", "cancelled", "left", "THREAD_BUSY", "INTERRUPT_NOT_PROVEN"])
      expect(ends).toContain(end);
    for (const cause of ["answered", "expired", "unknown"]) expect(ends).toContain(`INTERRUPT_NOT_HELD (${cause})`);
  });
});
