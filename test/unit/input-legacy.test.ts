import { describe, expect, it } from "vitest";
import { RequestError } from "../../src/core/errors.ts";
import { readInput } from "../../src/core/input.ts";
import { formatPath } from "../../src/core/read-shape.ts";

const old = { threadId: "t", runId: "r", messages: [] };
const current = { ...old, protocolVersion: "1.0" };
const user = (...parts: unknown[]) => ({ id: "u", role: "user", content: parts });

/** Paths of the warnings with code INPUT_LEGACY; there must be no others. */
function legacyPaths(value: unknown): string[] {
  return readInput(value).warnings.map(({ path, code }) => {
    expect(code).toBe("INPUT_LEGACY");
    return formatPath(path);
  });
}

describe("nulls (section 1m, 3 and 4; B88)", () => {
  const nulls = { resume: null, state: null, parentRunId: null, forwardedProps: null, context: null, tools: null };

  it("mean absent at the top of an input without protocolVersion, each with a warning", () => {
    expect(readInput({ ...old, ...nulls }).input).toStrictEqual({ ...old, tools: [], context: [], state: {} });
    expect(legacyPaths({ ...old, ...nulls })).toEqual(Object.keys(nulls));
  });

  it.each(Object.keys(nulls).filter((name) => name !== "state"))(
    "are refused for %s with a protocolVersion",
    (name) => {
      expect(() => readInput({ ...current, [name]: null })).toThrow(new RegExp(`^${name}: expected .+, found null`));
    },
  );

  it("mean {} for state, with a protocolVersion too", () => {
    for (const value of [old, current]) {
      expect(readInput({ ...value, state: null })).toEqual({
        input: { ...value, tools: [], context: [], state: {} },
        warnings: [{ path: ["state"], message: "null, read as {}", code: "INPUT_LEGACY" }],
      });
    }
  });

  const nested = {
    messages: [
      { id: "a", role: "assistant", content: null, toolCalls: null, name: null, metadata: null, subagentRunId: null },
      { id: "t", role: "tool", toolCallId: "c", content: [{ type: "text", text: "", metadata: null }], error: null },
      {
        ...user({ type: "image", id: null, source: { type: "url", value: "x", mimeType: null } }),
        encryptedValue: null,
      },
    ],
    tools: [{ name: "a", description: "b", parameters: null, metadata: null }],
  };

  it("mean absent in optional members at every depth", () => {
    const { input, warnings } = readInput({ ...old, ...nested });
    expect(input.messages).toStrictEqual([
      { id: "a", role: "assistant" },
      { id: "t", role: "tool", toolCallId: "c", content: [{ type: "text", text: "" }] },
      user({ type: "image", source: { type: "url", value: "x" } }),
    ]);
    expect(input.tools).toStrictEqual([{ name: "a", description: "b" }]);
    expect(warnings.length).toBe(12);
    expect(legacyPaths({ ...old, ...nested })).toContain("messages[2].content[0].source.mimeType");
  });

  it("are refused at every depth with a protocolVersion", () => {
    expect(() => readInput({ ...current, messages: nested.messages.slice(2) })).toThrow(
      "messages[0].content[0].id: expected a string, found null",
    );
    expect(() => readInput({ ...current, tools: nested.tools })).toThrow(
      "tools[0].parameters: expected a value, found null",
    );
  });

  it("stay null as a resume entry's payload, and mean absent as its metadata", () => {
    const value = { ...old, resume: [{ interruptId: "i", status: "resolved", payload: null, metadata: null }] };
    expect(readInput(value).input.resume).toStrictEqual([{ interruptId: "i", status: "resolved", payload: null }]);
    expect(legacyPaths(value)).toEqual(["resume[0].payload", "resume[0].metadata"]);
    expect(() => readInput({ ...value, protocolVersion: "1.0" })).toThrow(
      "resume[0].payload: expected a value, found null",
    );
  });

  it("are refused in required members with and without a protocolVersion", () => {
    for (const value of [old, current]) {
      expect(() => readInput({ ...value, messages: null })).toThrow("messages: expected an array, found null");
      expect(() => readInput({ ...value, threadId: null })).toThrow("threadId: expected a string, found null");
    }
  });

  it("declare a version where they stand for protocolVersion, so nothing is forgiven (P44)", () => {
    const caught = (() => {
      try {
        return readInput({ ...old, protocolVersion: null, resume: null });
      } catch (error) {
        return error as RequestError;
      }
    })();
    expect(caught).toBeInstanceOf(RequestError);
    expect((caught as RequestError).issues?.map(({ path }) => formatPath(path))).toEqual(["protocolVersion", "resume"]);
  });

  it("are data under a key of an open object", () => {
    const state = { a: null };
    expect(readInput({ ...old, state, forwardedProps: state })).toEqual({
      input: { ...old, tools: [], context: [], state, forwardedProps: state },
      warnings: [],
    });
  });
});

describe("binary parts of before 1.0", () => {
  const read = (part: object, input: object = old) => {
    const result = readInput({ ...input, messages: [user({ type: "text", text: "" }, part)] });
    return { part: (result.input.messages[0] as { content: unknown[] }).content[1], warnings: result.warnings };
  };

  it.each([
    ["image/png", "image"],
    ["Audio/WAV", "audio"],
    ["video/mp4", "video"],
    ["application/pdf", "document"],
    ["imagery", "document"],
  ])("of %s become a part of type %s, with a warning", (mimeType, type) => {
    expect(read({ type: "binary", mimeType, data: "AA" })).toStrictEqual({
      part: { type, source: { type: "data", value: "AA", mimeType } },
      warnings: [
        {
          path: ["messages", 0, "content", 1],
          message: `content part of the old type "binary", read as "${type}"`,
          code: "INPUT_LEGACY",
        },
      ],
    });
  });

  it("keep where their bytes are: data before url before id, an empty one or null being none", () => {
    const mimeType = "image/png";
    const source = (more: object) => (read({ type: "binary", mimeType, ...more }).part as { source: unknown }).source;
    expect(source({ data: "AA", url: "u", id: "f" })).toStrictEqual({ type: "data", value: "AA", mimeType });
    expect(source({ data: "", url: "u", id: "f" })).toStrictEqual({ type: "url", value: "u", mimeType });
    expect(source({ data: null, url: null, id: "f" })).toStrictEqual({ type: "file", value: "f", mimeType });
  });

  it("keep their file name as metadata", () => {
    expect(read({ type: "binary", mimeType: "image/png", id: "f", filename: "a.png" }).part).toStrictEqual({
      type: "image",
      source: { type: "file", value: "f", mimeType: "image/png" },
      metadata: { filename: "a.png" },
    });
  });

  it("are dropped as unknown parts without a media type or without bytes", () => {
    for (const part of [
      { mimeType: "image/png" },
      { data: "AA" },
      { mimeType: 5, data: "AA" },
      { mimeType: "image/png", url: 5 },
    ]) {
      const { part: left, warnings } = read({ type: "binary", ...part });
      expect(left).toBeUndefined();
      expect(warnings.map(({ path, code }) => [formatPath(path), code])).toEqual([
        ["messages[0].content[1]", "INPUT_STRIPPED"],
      ]);
    }
  });

  it("are dropped as unknown parts with a protocolVersion", () => {
    const { part, warnings } = read({ type: "binary", mimeType: "image/png", data: "AA" }, current);
    expect(part).toBeUndefined();
    expect(warnings).toEqual([
      {
        path: ["messages", 0, "content", 1],
        message: 'content part of the unknown type "binary"; removed',
        code: "INPUT_STRIPPED",
      },
    ]);
  });

  it("were never parts of a tool message", () => {
    const tool = {
      id: "t",
      role: "tool",
      toolCallId: "c",
      content: [{ type: "binary", mimeType: "image/png", data: "AA" }],
    };
    expect(readInput({ ...old, messages: [tool] }).input.messages).toEqual([{ ...tool, content: [] }]);
  });
});
