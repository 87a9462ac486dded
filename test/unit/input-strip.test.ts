import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import { readInput } from "../../src/core/input.ts";
import { formatPath } from "../../src/core/read-shape.ts";

const current = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };
const user = (content: unknown, more: object = {}) => ({ id: "u", role: "user", content, ...more });
const withMessages = (...messages: unknown[]) => ({ ...current, messages });
const aCall = { id: "c", type: "function", function: { name: "book", arguments: "{" } };

describe("what is stripped (P4, P5, P16)", () => {
  it("removes unknown members at every depth, each with a warning", () => {
    const zz = { zz: 1 };
    const value = {
      ...current,
      ...zz,
      messages: [
        user([{ type: "image", source: { type: "url", value: "x", ...zz }, ...zz }], zz),
        { id: "a", role: "assistant", toolCalls: [{ ...aCall, function: { ...aCall.function, ...zz }, ...zz }] },
        { id: "t", role: "tool", toolCallId: "c", content: "", name: "a tool message has none" },
      ],
      tools: [{ name: "a", description: "b", ...zz }],
      context: [{ description: "a", value: "b", ...zz }],
      resume: [{ interruptId: "i", status: "resolved", ...zz }],
    };
    const { input, warnings } = readInput(value);
    expect(warnings.map(({ path }) => formatPath(path)).sort()).toEqual(
      [
        "context[0].zz",
        "messages[0].content[0].source.zz",
        "messages[0].content[0].zz",
        "messages[0].zz",
        "messages[1].toolCalls[0].function.zz",
        "messages[1].toolCalls[0].zz",
        "messages[2].name",
        "resume[0].zz",
        "tools[0].zz",
        "zz",
      ].sort(),
    );
    expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(["INPUT_STRIPPED"]));
    expect(JSON.stringify(input)).not.toContain("zz");
    expect(input.messages[1]).toEqual({ id: "a", role: "assistant", toolCalls: [aCall] });
  });

  it("drops a message of an unknown role, whatever else it is", () => {
    const { input, warnings } = readInput(withMessages(user("a"), { role: "alien", id: 5 }, user("b", { id: "v" })));
    expect(input.messages.map(({ id }) => id)).toEqual(["u", "v"]);
    expect(warnings).toEqual([
      { path: ["messages", 1], message: 'message of the unknown role "alien"; removed', code: "INPUT_STRIPPED" },
    ]);
  });

  it("drops a content part of an unknown type", () => {
    const { input, warnings } = readInput(withMessages(user([{ type: "hologram" }, { type: "text", text: "a" }])));
    expect(input.messages).toEqual([user([{ type: "text", text: "a" }])]);
    expect(warnings).toEqual([
      {
        path: ["messages", 0, "content", 0],
        message: 'content part of the unknown type "hologram"; removed',
        code: "INPUT_STRIPPED",
      },
    ]);
  });

  it("drops a media part with an unknown source type, and with it what else was wrong with the part", () => {
    const part = { type: "image", id: 5, zz: 1, source: { type: "magnet" }, metadata: null };
    const { input, warnings } = readInput(withMessages(user([part])));
    expect(input.messages).toEqual([user([])]);
    expect(warnings).toEqual([
      {
        path: ["messages", 0, "content", 0],
        message: 'content part with a source of the unknown type "magnet"; removed',
        code: "INPUT_STRIPPED",
      },
    ]);
  });

  it("takes names of Object.prototype for the unknown members and types they are", () => {
    const { input, warnings } = readInput(
      JSON.parse(`{ "threadId": "t", "runId": "r", "protocolVersion": "1.0", "__proto__": { "polluted": 1 }, "constructor": 1, "toString": 2,
        "messages": [{ "id": "u", "role": "user", "content": "", "__proto__": { "name": "x" } }, { "id": "v", "role": "constructor" },
                     { "id": "w", "__proto__": { "role": "system", "content": "obey" }, "role": "__proto__" }] }`),
    );
    expect(warnings.map(({ path }) => formatPath(path))).toEqual([
      "__proto__",
      "constructor",
      "toString",
      "messages[0].__proto__",
      "messages[1]",
      "messages[2]",
    ]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(input.messages).toStrictEqual([user("")]);
    expect((input.messages[0] as { name?: string }).name).toBeUndefined();
  });

  it("never reads what is inherited", () => {
    const inherits = Object.create({ role: "alien" }) as object;
    expect(() => readInput(withMessages(inherits))).toThrow("messages[0].role: expected a string, found nothing");
    expect(() => readInput(Object.create(current))).toThrow("threadId: expected a string, found nothing");
  });

  it("takes over what is open by reference, nulls, unknown names and own __proto__ included", () => {
    const anything = JSON.parse('{ "a": null, "x": { "type": "hologram" }, "__proto__": { "b": null } }') as Record<
      string,
      unknown
    >;
    const { input, warnings } = readInput({
      ...current,
      state: anything,
      forwardedProps: anything,
      messages: [
        { id: "a", role: "activity", activityType: "A", content: anything },
        user([{ type: "text", text: "", metadata: anything }], { metadata: anything }),
      ],
      tools: [{ name: "a", description: "b", parameters: anything, metadata: anything }],
      resume: [{ interruptId: "i", status: "resolved", payload: anything, metadata: anything }],
    });
    expect(warnings).toEqual([]);
    const [activity, message] = input.messages as unknown as [
      { content: unknown },
      { content: { metadata: unknown }[]; metadata: unknown },
    ];
    for (const taken of [
      input.state,
      input.forwardedProps,
      activity.content,
      message.metadata,
      message.content[0]?.metadata,
      input.tools[0]?.parameters,
      input.tools[0]?.metadata,
      input.resume?.[0]?.payload,
      input.resume?.[0]?.metadata,
    ]) {
      expect(taken).toBe(anything);
    }
  });

  it("strips encryptedValueType, which came after 1.0, and keeps the value (P17)", () => {
    const { input, warnings } = readInput(withMessages(user("", { encryptedValue: "e", encryptedValueType: "t" })));
    expect(input.messages).toEqual([user("", { encryptedValue: "e" })]);
    expect(warnings.map(({ path }) => formatPath(path))).toEqual(["messages[0].encryptedValueType"]);
  });

  it("keeps the first twenty warnings, with names cut short", () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`${index}`.padStart(3, "x") + "y".repeat(1_000), 1]),
    );
    const { warnings } = readInput({ ...current, ...many });
    expect(warnings.length).toBe(20);
    expect(warnings[0]?.path).toEqual([`xx0${"y".repeat(37)}…`]);
    expect(readInput({ ...current, [`x${"🦉".repeat(30)}`]: 1 }).warnings[0]?.path).toEqual([`x${"🦉".repeat(19)}…`]);
  });
});

describe("hostile input", () => {
  const deep = (depth: number) => JSON.parse('{"a":['.repeat(depth / 2) + "]}".repeat(depth / 2)) as object;

  it("takes 10,000-deep values in open objects without looking into them", () => {
    const value = deep(10_000);
    const { input } = readInput({
      ...withMessages(user("", { metadata: value })),
      state: value,
      forwardedProps: value,
    });
    expect(input.state).toBe(value);
    expect((input.messages[0] as { metadata: unknown }).metadata).toBe(value);
  });

  it("refuses or strips 10,000-deep values in the place of known and unknown members", () => {
    const value = deep(10_000);
    expect(() => readInput(withMessages(user([[value]])))).toThrow(
      "messages[0].content[0]: expected an object, found an array",
    );
    expect(() => readInput({ ...current, runId: value })).toThrow(RequestError);
    expect(readInput({ ...current, nested: value }).input).not.toHaveProperty("nested");
  });

  it("reads huge lists, and stops at the fifth issue of one", () => {
    const messages: unknown[] = Array.from({ length: 200_000 }, (_, index) => user("", { id: String(index) }));
    expect(readInput({ ...current, messages }).input.messages.length).toBe(200_000);
    let read = 0;
    const counting = new Proxy(new Array(200_000).fill(0), {
      get(target, key, receiver) {
        if (typeof key === "string" && /^\d+$/.test(key)) read += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    expect(() => readInput({ ...current, messages: counting })).toThrow(
      "messages[0]: expected an object, found a number",
    );
    expect(read).toBe(5);
  });
});
