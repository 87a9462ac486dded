import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Guard {
  readonly group: string;
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

// By its address: the list is plain JavaScript, for Node to run, and has no types of its own.
const { href } = new URL("./guards.mjs", import.meta.url);
const { guards } = (await import(href)) as { guards: readonly Guard[] };

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

describe("the list of guards", () => {
  it("is not stale: what each replaces occurs in its source exactly once", () => {
    const stale = guards.flatMap(({ name, file, find }) => {
      const times = readFileSync(at(file), "utf8").split(find).length - 1;
      return times === 1 ? [] : [`${name}: ${times} times in ${file}`];
    });
    expect(stale).toEqual([]);
  });

  it("changes something, names each guard once, and its tests are there", () => {
    for (const { name, find, replace, tests } of guards) {
      expect(replace, name).not.toBe(find);
      expect(tests.length, name).toBeGreaterThan(0);
      for (const test of tests) expect(existsSync(at(test)), test).toBe(true);
    }
    expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length);
  });

  it("has those of every kind", () => {
    expect(guards.length).toBeGreaterThanOrEqual(40);
    expect([...new Set(guards.map(({ group }) => group))].sort()).toEqual([
      "admission",
      "claim",
      "deadline",
      "fail closed",
      "kept events",
      "ledger",
      "proof",
    ]);
  });
});
