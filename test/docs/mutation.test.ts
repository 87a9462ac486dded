/** What docs/mutation.md says of a run: of the files that are damaged, with a reason for each mutant that survived. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readPage } from "../support/markdown.ts";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const page = readPage(read("docs/mutation.md"));

/** The rows of the table: a file and its figures. */
const figures = (page.tables[0]?.rows ?? []).map(([file = "", mutants, killed, survived]) => ({
  file: file.replaceAll("`", ""),
  mutants: Number(mutants),
  killed: Number(killed),
  survived: Number(survived),
}));

/** The survivors that are told of under a file's heading: how many mutants, and the code they damage. */
const survivors = (file: string) =>
  [...(page.prose.get(`\`${file}\``) ?? "").matchAll(/^- (\d+) in `([^`]+)`: \S/gm)].map(([, count, code = ""]) => ({
    count: Number(count),
    code,
  }));

describe("docs/mutation.md", () => {
  it("has a row for each file that is damaged, and no other", () => {
    const { mutate } = JSON.parse(read("stryker.config.json"));
    expect(figures.map(({ file }) => file)).toEqual(mutate);
  });

  it("counts each mutant once", () => {
    for (const { file, mutants, killed, survived } of figures)
      expect([file, killed + survived]).toEqual([file, mutants]);
  });

  it.each(figures)("has a reason for each that survived in $file, by code that is there", ({ file, survived }) => {
    const told = survivors(file);
    const source = read(file);
    expect(told.filter(({ code }) => !source.includes(code))).toEqual([]);
    expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(survived);
  });
});
