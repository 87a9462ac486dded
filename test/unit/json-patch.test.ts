/** Patches against the library that the protocol's own client applies them with: what applies here must apply there. */
import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { describe, expect, it } from "vitest";
import { patched } from "../../src/core/json-patch.ts";

type Operations = Parameters<typeof patched>[1];

const name = fc.constantFrom("a", "b", "0", "1", "", "a/b", "m~n", "constructor", "toString");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, 0, 1, "", "x", true, false),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(name, tie("any"), { maxKeys: 3 }),
  ),
})).any;
const step = fc.oneof(
  name,
  fc.constantFrom("2", "3", "-", "00", "01", "-1", "1e0", "__proto__", "prototype", "length"),
);

/** Where a pointer leads: to a place that is there, or one step on from it. */
const place = fc.record({ at: fc.nat(), on: fc.option(step, { freq: 2 }) });
const draft = fc.record({
  op: fc.constantFrom("add", "replace", "test", "remove", "move", "copy"),
  path: place,
  from: place,
  value,
  same: fc.boolean(),
});

const token = (one: string) => `/${one.replace(/~/g, "~0").replace(/\//g, "~1")}`;

const pointersOf = (document: unknown): string[] => [
  "",
  ...(typeof document === "object" && document !== null
    ? Object.entries(document).flatMap(([member, inner]) => pointersOf(inner).map((deeper) => token(member) + deeper))
    : []),
];

const patchOf = (document: unknown, drafts: (typeof draft extends fc.Arbitrary<infer D> ? D : never)[]): Operations => {
  const pointers = pointersOf(document);
  const pointer = ({ at, on }: { at: number; on: string | null }) =>
    `${pointers[at % pointers.length]}${on === null ? "" : token(on)}`;
  return drafts.map(({ op, path, from, value, same }) => {
    if (op === "remove") return { op, path: pointer(path) };
    if (op === "move" || op === "copy") return { op, from: pointer(from), path: pointer(path) };
    const found = attempt(() => jsonPatch.getValueByPointer(document, pointer(path)));
    return { op, path: pointer(path), value: op === "test" && same ? (found?.value ?? value) : value };
  }) as Operations;
};

function attempt<T>(work: () => T): { value: T } | undefined {
  try {
    return { value: work() };
  } catch {
    return undefined;
  }
}

const asText = (result: { value: unknown } | undefined) => result && JSON.stringify(sorted(result.value));

/** Members in one order: which came first is not part of a JSON value. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([member, inner]) => [member, sorted(inner)]);
};

describe("patches", () => {
  it("come to what the client's library makes of them, wherever they apply", () => {
    let applied = 0;
    fc.assert(
      fc.property(value, fc.array(draft, { minLength: 1, maxLength: 3 }), (document, drafts) => {
        const operations = patchOf(document, drafts);
        const before = JSON.stringify(document);
        const ours = attempt(() => patched(document, operations));
        expect(JSON.stringify(document)).toBe(before);
        if (ours === undefined) return;
        applied += 1;
        // A copy: theirs may write into the operations' own values.
        const copied = JSON.parse(JSON.stringify(operations));
        const theirs = attempt(
          () => jsonPatch.applyPatch(JSON.parse(before), copied, true, false).newDocument as unknown,
        );
        expect(asText(theirs)).toBe(asText(ours));
      }),
      { numRuns: 20_000, seed: 6 },
    );
    // Too few would mean that the generator's pointers lead nowhere.
    expect(applied).toBeGreaterThan(3_000);
  });

  it("apply wherever RFC 6902 says so", () => {
    const document = { a: [1, { b: 2 }], "m~n": { "x/y": 0 } };
    const cases: [Operations, unknown][] = [
      [[{ op: "add", path: "/a/-", value: 3 }], { ...document, a: [1, { b: 2 }, 3] }],
      [[{ op: "add", path: "/a/0", value: 3 }], { ...document, a: [3, 1, { b: 2 }] }],
      [[{ op: "add", path: "", value: 3 }], 3],
      [[{ op: "remove", path: "/a/1/b" }], { ...document, a: [1, {}] }],
      [[{ op: "remove", path: "" }], null],
      [[{ op: "replace", path: "/m~0n/x~1y", value: null }], { ...document, "m~n": { "x/y": null } }],
      [[{ op: "move", from: "/a/1", path: "/c" }], { "m~n": document["m~n"], a: [1], c: { b: 2 } }],
      [[{ op: "copy", from: "/a/1", path: "/a/0" }], { ...document, a: [{ b: 2 }, 1, { b: 2 }] }],
      [[{ op: "test", path: "/a", value: [1, { b: 2 }] }], document],
      [[], document],
    ];
    for (const [operations, result] of cases) expect(patched(document, operations)).toEqual(result);
  });

  it("leave out what is not there, what is no index, and what would reach a prototype", () => {
    const refused: Operations = [
      { op: "replace", path: "/z", value: 1 },
      { op: "remove", path: "/z" },
      { op: "add", path: "/a/3", value: 1 },
      { op: "add", path: "/a/01", value: 1 },
      { op: "add", path: "/z/y", value: 1 },
      { op: "replace", path: "/a/-", value: 1 },
      { op: "test", path: "/a/0", value: 2 },
      { op: "move", from: "/a", path: "/a/0" },
      { op: "copy", from: "/z", path: "/y" },
      { op: "add", path: "/__proto__/polluted", value: 1 },
      { op: "add", path: "/constructor/prototype/polluted", value: 1 },
      { op: "remove", path: "/toString" },
    ];
    for (const operation of refused) expect(() => patched({ a: [1, 2] }, [operation]), operation.path).toThrow();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("share what they do not touch", () => {
    const document = { kept: { deep: [1] }, changed: { x: 1 } };
    const next = patched(document, [{ op: "add", path: "/changed/y", value: 2 }]) as typeof document;
    expect(next.kept).toBe(document.kept);
    expect(next).toEqual({ kept: { deep: [1] }, changed: { x: 1, y: 2 } });
    expect(document).toEqual({ kept: { deep: [1] }, changed: { x: 1 } });
  });
});
