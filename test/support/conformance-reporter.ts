import { mkdirSync, writeFileSync } from "node:fs";
import type { Reporter, TestCase } from "vitest/node";
import { type Requirement, requirements } from "../conformance/requirements.ts";

/** Where a whole run leaves the table of what it showed; `scripts/conformance-table.mjs` puts it into the pages. */
const TABLE_FILE = ".tmp/conformance.md";

const RUNTIMES = ["in process", "Node", "Bun", "Deno", "Workers", "Durable Object", "Hono on Node", "Hono on Bun"];

/** Writes requirement × runtime as a table, when a run has shown all of it. */
export class ConformanceReporter implements Reporter {
  readonly #shown = new Map<string, string>();

  onTestCaseResult(test: TestCase): void {
    const { conformance } = test.meta();
    if (conformance === undefined) return;
    const { runtime, requirement } = conformance;
    this.#shown.set(`${requirement} ${runtime}`, test.result().state === "passed" ? "✓" : "✗");
  }

  onTestRunEnd(): void {
    const ids = Object.keys(requirements);
    // Of a part of the tests no table can be made.
    if (!RUNTIMES.every((runtime) => ids.some((id) => this.#shown.has(`${id} ${runtime}`)))) return;
    const rows = Object.entries<Requirement>(requirements).map(([id, { says, needs = [] }]) => {
      // Not shown is either not there to be shown, or out of a test's reach.
      const cells = RUNTIMES.map((runtime) => {
        const otherwise = needs.includes("clock") && this.#shown.has(`ask ${runtime}`) ? "·" : "–";
        return this.#shown.get(`${id} ${runtime}`) ?? otherwise;
      });
      return `| ${says} | ${cells.join(" | ")} |`;
    });
    const head = [`| | ${RUNTIMES.join(" | ")} |`, `|---|${RUNTIMES.map(() => ":-:|").join("")}`];
    mkdirSync(".tmp", { recursive: true });
    writeFileSync(TABLE_FILE, `${[...head, ...rows].join("\n")}\n`);
  }
}
