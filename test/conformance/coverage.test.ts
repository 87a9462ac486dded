import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gaps } from "./gaps.ts";
import { type RequirementId, requirements } from "./requirements.ts";
import { cases, TESTED_APART } from "./suite.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const ids = Object.keys(requirements) as RequirementId[];

describe("the conformance suite", () => {
  it("tests every requirement, and nothing that is none", () => {
    expect([...Object.keys(cases), ...TESTED_APART].toSorted()).toEqual(ids.toSorted());
  });

  it("tests each requirement in one place", () => {
    const files = readdirSync(new URL(".", import.meta.url)).filter((name) =>
      /^(serving|leaving|holding)\.ts$/.test(name),
    );
    const named = files.flatMap((file) => [...read(file).matchAll(/^ {2}async "?([\w-]+)"?\(/gm)].map(([, id]) => id));
    expect(named.toSorted()).toEqual(Object.keys(cases).toSorted());
  });

  it("says of what is tested apart where", () => {
    const apart = read("../runtimes/silence.test.ts");
    for (const id of TESTED_APART) expect(apart).toContain(`shows(context, runtime, "${id}")`);
  });

  it("knows no gap that docs/runtimes.md does not show", () => {
    const documented = [...read("../../docs/runtimes.md").matchAll(/^### Gap: (.+), `([\w-]+)`$/gm)].map(
      ([, runtime, id]) => `${runtime}: ${id}`,
    );
    const known = Object.entries(gaps).flatMap(([runtime, of]) => Object.keys(of).map((id) => `${runtime}: ${id}`));
    expect(known).toEqual(documented);
  });
});
