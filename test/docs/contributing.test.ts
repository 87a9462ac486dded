/** CONTRIBUTING.md: its commands are those that there are. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pageUnderTest } from "../support/page-under-test.ts";

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

it("CONTRIBUTING.md names every command of package.json, and no other", () => {
  const { prose } = pageUnderTest("CONTRIBUTING.md");
  const named = [...prose.values()].join("").matchAll(/npm (?:run )?([\w:]+)/g);
  const known = Object.keys(scripts).filter((name) => !name.startsWith("pre"));
  expect([...new Set([...named].map(([, name]) => name))].filter((name) => name !== "ci").sort()).toEqual(known.sort());
});
