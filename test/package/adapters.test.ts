import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const adapters = new URL("../../adapters/", import.meta.url);
const lengths = readdirSync(adapters)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => [name, readFileSync(new URL(name, adapters), "utf8").split("\n").length - 1] as const);

describe("an adapter", () => {
  it("can be read in one sitting: none has more than 200 lines, most fewer than 60", () => {
    expect(lengths.filter(([, lines]) => lines > 200)).toEqual([]);
    const entries = lengths.filter(([name]) => !name.startsWith("_"));
    expect(entries.filter(([, lines]) => lines < 60).length).toBeGreaterThan(entries.length / 2);
  });
});
