/**
 * What `shape` lets through against the protocol's own schemas: events are generated off those schemas, then
 * damaged in up to three places. Whatever comes out must be an event to the letter, unknown members included.
 */
import { EventSchema } from "@ag-ui/core/schemas";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventRefusedError } from "../../src/core/errors.ts";
import { shape } from "../../src/core/event-shape.ts";
import { problemOfShape } from "../../src/testing/event-shape.ts";

const ignore = () => {};

type Json = Record<string, unknown>;

interface Schema {
  readonly def: {
    readonly type: string;
    readonly shape?: Readonly<Record<string, Schema>>;
    readonly element?: Schema;
    readonly innerType?: Schema;
    readonly in?: Schema;
    readonly options?: readonly Schema[];
    readonly values?: readonly unknown[];
    readonly entries?: Readonly<Record<string, unknown>>;
  };
}

const text = fc.string({ maxLength: 4, unit: "grapheme" });
const open = fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
const json = fc.jsonValue({ maxDepth: 1 }).filter((value) => value !== null);
const pointer = fc
  .array(fc.constantFrom("a", "0", "~0", "~1"), { maxLength: 2 })
  .map((steps) => steps.map((step) => `/${step}`).join(""));

/** Values that a schema describes. */
function arbitraryOf(schema: Schema, member: string): fc.Arbitrary<unknown> {
  const { def } = schema;
  switch (def.type) {
    case "object": {
      const members = Object.entries(def.shape ?? {});
      const isOptional = (inner: Schema): boolean => inner.def.type === "optional";
      return fc.record(Object.fromEntries(members.map(([name, inner]) => [name, arbitraryOf(inner, name)])), {
        requiredKeys: members.filter(([, inner]) => !isOptional(inner)).map(([name]) => name),
      });
    }
    case "array":
      return fc.array(arbitraryOf(def.element as Schema, member), { maxLength: 2 });
    case "union":
      return fc.oneof(...(def.options ?? []).map((option) => arbitraryOf(option, member)));
    case "optional":
    case "nullable":
    case "default":
    case "readonly":
      return arbitraryOf(def.innerType as Schema, member);
    case "pipe":
      return arbitraryOf(def.in as Schema, member);
    case "literal":
      return fc.constantFrom(...(def.values ?? []));
    case "enum":
      return fc.constantFrom(...Object.values(def.entries ?? {}));
    case "string":
      return member === "path" || member === "from" ? pointer : text;
    case "number":
      return fc.maxSafeInteger();
    case "boolean":
      return fc.boolean();
    case "custom":
      return open;
    case "any":
      return json;
    default:
      throw new Error(`A schema of the unknown type ${def.type}`);
  }
}

const emitted = (EventSchema.options as unknown as Schema[]).filter(
  (option) => !String(option.def.shape?.type?.def.values?.[0]).startsWith("RUN_"),
);
const anEvent = fc.oneof(...emitted.map((option) => arbitraryOf(option, "") as fc.Arbitrary<Json>));

/** Where in a value something can be put out of order: its objects, open ones aside. */
function objectsIn(value: unknown): Json[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value)
    .filter(([name]) => !/^(metadata|rawEvent|snapshot|event|value|content|result)$/.test(name) || Array.isArray(value))
    .flatMap(([, one]) => objectsIn(one));
  return Array.isArray(value) ? inner : [value as Json, ...inner];
}

/** Made anew each time: one that was put in two places, or into itself, would be another test. */
const wrong = fc
  .constantFrom<() => unknown>(
    ...[undefined, null, 0, 1.5, Number.NaN, "", "x", true].map((value) => () => value),
    () => [],
    () => ({}),
    () => [null],
    () => ignore,
    () => new Date(0),
    () => ({ toJSON: () => undefined }),
  )
  .map((make) => make());
const damage = fc.record({
  at: fc.nat(),
  member: fc.nat(),
  name: fc.constantFrom("foo", "__proto__", "toString", "role"),
  value: wrong,
  adds: fc.boolean(),
});

function damaged(event: Json, damages: (typeof damage extends fc.Arbitrary<infer D> ? D : never)[]): Json {
  for (const { at, member, name, value, adds } of damages) {
    const objects = objectsIn(event);
    const object = objects[at % objects.length] as Json;
    const names = Object.keys(object).filter((one) => one !== "type" || object !== event);
    const target = adds || names.length === 0 ? name : (names[member % names.length] as string);
    Object.defineProperty(object, target, { value, enumerable: true, configurable: true, writable: true });
  }
  return event;
}

describe("an event as an agent emits it", () => {
  it("goes out as it is where the protocol describes it", () => {
    fc.assert(
      fc.property(anEvent, (event) => {
        const stripped: string[] = [];
        expect(shape(event, (type) => stripped.push(type))).toEqual(event);
        expect(stripped).toEqual([]);
      }),
      { numRuns: 3_000, seed: 6 },
    );
  });

  it("goes out to the letter or not at all, whatever is wrong with it", () => {
    const counts = { refused: 0, stripped: 0, whole: 0 };
    fc.assert(
      fc.property(anEvent, fc.array(damage, { minLength: 1, maxLength: 3 }), (event, damages) => {
        let out: unknown;
        let stripped = 0;
        try {
          out = shape(damaged(structuredClone(event), damages), () => {
            stripped += 1;
          });
        } catch (error) {
          expect(error).toBeInstanceOf(EventRefusedError);
          counts.refused += 1;
          return;
        }
        expect(problemOfShape(JSON.parse(JSON.stringify(out)))).toBeUndefined();
        counts[stripped > 0 ? "stripped" : "whole"] += 1;
      }),
      { numRuns: 10_000, seed: 6 },
    );
    // Each of the three ways must have been gone often enough for the run to say something.
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(500);
  });

  it("loses what the protocol does not describe, at every depth, and says where (P123)", () => {
    const said: string[] = [];
    const out = shape(
      {
        type: "MESSAGES_SNAPSHOT",
        foo: 1,
        messages: [
          { id: "a", role: "user", content: [{ type: "text", text: "Hi", bar: 1 }, { type: "hologram" }] },
          { id: "b", role: "alien", content: "…" },
        ],
      },
      (type, { path, message }) => said.push(`${type} ${path.join(".")} ${message}`),
    );
    expect(out).toEqual({
      type: "MESSAGES_SNAPSHOT",
      messages: [{ id: "a", role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    expect(said).toEqual([
      "MESSAGES_SNAPSHOT foo not a member the protocol describes; removed",
      "MESSAGES_SNAPSHOT messages.0.content.0.bar not a member the protocol describes; removed",
      'MESSAGES_SNAPSHOT messages.0.content.1 content part of the unknown type "hologram"; removed',
      'MESSAGES_SNAPSHOT messages.1 message of the unknown role "alien"; removed',
    ]);
  });

  it("has its optional nulls left out, its required ones and open ones kept (P140)", () => {
    const event = {
      type: "TOOL_CALL_START",
      toolCallId: "c",
      toolCallName: "t",
      parentMessageId: null,
      rawEvent: null,
    };
    expect(shape({ ...event, subagentRunId: null, metadata: { "acme:a": null } }, ignore)).toEqual({
      type: "TOOL_CALL_START",
      toolCallId: "c",
      toolCallName: "t",
      metadata: { "acme:a": null },
    });
    expect(shape({ type: "CUSTOM", name: "n", value: null }, ignore)).toEqual({
      type: "CUSTOM",
      name: "n",
      value: null,
    });
    expect(shape({ type: "STATE_SNAPSHOT", snapshot: null }, ignore)).toEqual({
      type: "STATE_SNAPSHOT",
      snapshot: null,
    });
    expect(shape({ type: "RAW", event: null }, ignore)).toEqual({ type: "RAW", event: null });
  });

  it("has a whole timestamp, or none that cannot be one (P31)", () => {
    const at = (timestamp: unknown) => shape({ type: "STEP_STARTED", stepName: "s", timestamp }, ignore).timestamp;
    expect([at(1.5), at(1717171717171.4), at(-0.2), at(null), at(Number.NaN)]).toEqual([
      2,
      1717171717171,
      -0,
      undefined,
      undefined,
    ]);
    for (const bad of [2 ** 60, "soon", {}, true]) expect(() => at(bad), String(bad)).toThrow(EventRefusedError);
  });

  it("is refused for what cannot be read (P101, P103, P105, P110, P116, P117, P121, P123, P124, P127)", () => {
    const cases: [Json, string][] = [
      [{ type: "FOO" }, "FOO is no event of AG-UI 1.0."],
      [{ type: "THINKING_START" }, "THINKING_START is no event of AG-UI 1.0."],
      [{ type: "toString" }, "toString is no event of AG-UI 1.0."],
      [{ type: "RUN_FINISHED" }, "RUN_FINISHED is written by the server; an agent returns or throws instead."],
      [{}, "An event must be an object with a `type`."],
      [
        { type: "TEXT_MESSAGE_START", messageId: "m", role: "tool" },
        'TEXT_MESSAGE_START: role: expected "developer" or "system" or "assistant" or "user", found "tool".',
      ],
      [
        { type: "REASONING_MESSAGE_START", messageId: "m", role: "assistant" },
        'REASONING_MESSAGE_START: role: expected "reasoning", found "assistant".',
      ],
      [
        { type: "REASONING_ENCRYPTED_VALUE", subtype: "run", entityId: "m", encryptedValue: "x" },
        'REASONING_ENCRYPTED_VALUE: subtype: expected "tool-call" or "message", found "run".',
      ],
      [
        { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: { a: 1 } },
        "TOOL_CALL_RESULT: content: expected a string or an array, found an object.",
      ],
      [{ type: "STATE_SNAPSHOT", snapshot: undefined }, "STATE_SNAPSHOT: snapshot: expected a value, found nothing."],
      [{ type: "STATE_SNAPSHOT", snapshot: () => 1 }, "STATE_SNAPSHOT: snapshot: expected a value, found a function."],
      [{ type: "STATE_DELTA", delta: {} }, "STATE_DELTA: delta: expected an array, found an object."],
      [
        { type: "STATE_DELTA", delta: [{ op: "merge", path: "/a" }] },
        'STATE_DELTA: delta[0].op: expected "add" or "replace" or "test" or "remove" or "move" or "copy", found "merge".',
      ],
      [
        { type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: undefined }] },
        "STATE_DELTA: delta[0].value: expected a value, found nothing.",
      ],
      [
        { type: "STATE_DELTA", delta: [{ op: "remove", path: "a" }] },
        "STATE_DELTA: delta[0].path: expected a JSON pointer, found a string.",
      ],
      [
        { type: "STATE_DELTA", delta: [{ op: "move", path: "/a" }] },
        "STATE_DELTA: delta[0].from: expected a JSON pointer, found nothing.",
      ],
      [
        { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: "a", content: [] },
        "ACTIVITY_SNAPSHOT: content: expected an object, found an array.",
      ],
      [
        { type: "ACTIVITY_DELTA", messageId: "m", patch: [] },
        "ACTIVITY_DELTA: activityType: expected a string, found nothing.",
      ],
      [{ type: "CUSTOM", name: "n" }, "CUSTOM: value: expected a value, found nothing."],
      [{ type: "SUBAGENT_STARTED", subagentRunId: "s" }, "SUBAGENT_STARTED: name: expected a string, found nothing."],
      [
        { type: "SUBAGENT_FINISHED", subagentRunId: "s", outcome: { type: "cancelled" } },
        'SUBAGENT_FINISHED: outcome.type: expected "success" or "suspended", found "cancelled".',
      ],
    ];
    for (const [event, message] of cases) {
      expect(() => shape(event, ignore), JSON.stringify(event)).toThrow(new EventRefusedError(message));
    }
    for (const none of [undefined, null, 1, "TEXT_MESSAGE_START", []])
      expect(() => shape(none, ignore)).toThrow(EventRefusedError);
  });

  it("has further members of a patch's operations left alone (RFC 6902)", () => {
    const delta = [{ op: "remove", path: "/a", value: "left over", note: { x: null } }];
    expect(shape({ type: "STATE_DELTA", delta }, ignore)).toEqual({ type: "STATE_DELTA", delta });
  });
});
