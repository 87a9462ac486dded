import { describe, expect, it } from "vitest";
import { RequestError, RequestErrorCode } from "../../src/core/errors.ts";
import { readInput } from "../../src/core/input.ts";
import { formatPath } from "../../src/core/read-shape.ts";

const ids = { threadId: "t", runId: "r" };
const plain = { ...ids, messages: [] };
const current = { ...plain, protocolVersion: "1.0" };

/** The error of an input that must be refused. */
function refused(value: unknown): RequestError {
  try {
    readInput(value);
  } catch (error) {
    expect(error).toBeInstanceOf(RequestError);
    return error as RequestError;
  }
  throw new Error("the input was accepted");
}

const user = (content: unknown, more: object = {}) => ({ id: "u", role: "user", content, ...more });
const withMessages = (...messages: unknown[]) => ({ ...current, messages });
const entry = (more: object) => ({ ...current, resume: [{ interruptId: "i", status: "resolved", ...more }] });

const aCall = { id: "c", type: "function", function: { name: "book", arguments: "{" } };
const everyMember = {
  threadId: "t",
  runId: "r",
  protocolVersion: "1.0",
  parentRunId: "p",
  state: { a: null },
  messages: [
    {
      id: "1",
      role: "developer",
      content: "d",
      name: "n",
      encryptedValue: "e",
      metadata: { a: null },
      subagentRunId: "s",
    },
    { id: "2", role: "system", content: "s" },
    user([
      { type: "text", text: "a", id: "p1", metadata: "any JSON" },
      { type: "image", source: { type: "data", value: "AA", mimeType: "image/png" }, metadata: { a: 1 } },
      { type: "audio", source: { type: "url", value: "https://x", mimeType: "audio/wav" } },
      { type: "video", source: { type: "url", value: "https://x" } },
      {
        type: "document",
        source: { type: "file", value: "http://canary/", provider: "openai", mimeType: "text/plain" },
      },
    ]),
    { id: "4", role: "assistant" },
    { id: "5", role: "assistant", content: "", toolCalls: [{ ...aCall, encryptedValue: "e", metadata: {} }] },
    { id: "6", role: "tool", toolCallId: "c", content: [{ type: "text", text: "r" }], error: "e", encryptedValue: "e" },
    { id: "7", role: "activity", activityType: "PLAN", content: { unknown: [null] } },
    { id: "8", role: "reasoning", content: "r", encryptedValue: "e" },
  ],
  tools: [{ name: "book", description: "d", parameters: { type: "object", default: null }, metadata: { a: null } }],
  context: [{ description: "d", value: "v" }],
  forwardedProps: { a: null },
  resume: [
    { interruptId: "i", status: "resolved", payload: false, metadata: { a: null } },
    { interruptId: "j", status: "cancelled" },
  ],
};

describe("what is accepted", () => {
  it("takes every member and every message form of 1.0 unchanged and without a warning (P14, P15, P17)", () => {
    const { input, warnings } = readInput(everyMember);
    expect(input).toStrictEqual(everyMember);
    expect(warnings).toEqual([]);
  });

  it("gives tools and context as [] and state as {} where absent (P6, P7)", () => {
    expect(readInput(plain)).toStrictEqual({ input: { ...plain, tools: [], context: [], state: {} }, warnings: [] });
  });

  it("keeps any state that is not null", () => {
    expect([0, "", false, [1]].map((state) => readInput({ ...current, state }).input.state)).toEqual([
      0,
      "",
      false,
      [1],
    ]);
  });

  it("takes any string as an id, the empty and a very long one included (P13)", () => {
    const threadId = "t".repeat(10_000);
    const { input } = readInput({ threadId, runId: "", messages: [{ id: "__proto__", role: "user", content: "🦉 " }] });
    expect([input.threadId, input.runId, input.messages[0]?.id]).toEqual([threadId, "", "__proto__"]);
  });

  it("takes any string as protocolVersion: whether it is served is not decided here (P41, P42)", () => {
    expect(
      ["1.7", "banana", "", "2.0"].map(
        (protocolVersion) => readInput({ ...plain, protocolVersion }).input.protocolVersion,
      ),
    ).toEqual(["1.7", "banana", "", "2.0"]);
  });

  it("takes undefined for absent", () => {
    const { input } = readInput({
      ...plain,
      protocolVersion: undefined,
      parentRunId: undefined,
      state: undefined,
      resume: null,
    });
    expect(input).toStrictEqual({ ...plain, tools: [], context: [], state: {} });
  });

  it("keeps the order of the messages (P8)", () => {
    const messages = Array.from({ length: 50 }, (_, index) => user("", { id: String(49 - index) }));
    expect(readInput(withMessages(...messages)).input.messages).toEqual(messages);
  });
});

describe("what is refused (P2)", () => {
  // `{` and an empty body are no JSON, so they never come this far.
  const leaveOut = " (leave out a member that has no value)";
  const cases: [string, unknown, string][] = [
    ["[]", [], "input: expected an object, found an array"],
    ["null", null, "input: expected an object, found null"],
    ['"x"', "x", "input: expected an object, found a string"],
    ["1", 1, "input: expected an object, found a number"],
    ["nothing", undefined, "input: expected an object, found nothing"],
    ["no threadId", { runId: "r", messages: [] }, "threadId: expected a string, found nothing"],
    ["no runId", { threadId: "t", messages: [] }, "runId: expected a string, found nothing"],
    ["no messages", ids, "messages: expected an array, found nothing"],
    ["messages: undefined", { ...ids, messages: undefined }, "messages: expected an array, found nothing"],
    ["runId: 5", { ...current, runId: 5 }, "runId: expected a string, found a number"],
    ["messages: {}", { ...current, messages: {} }, "messages: expected an array, found an object"],
    ["tools: null", { ...current, tools: null }, `tools: expected an array, found null${leaveOut}`],
    [
      "a tool without description",
      { ...current, tools: [{ name: "a" }] },
      "tools[0].description: expected a string, found nothing",
    ],
    ["protocolVersion: 1", { ...plain, protocolVersion: 1 }, "protocolVersion: expected a string, found a number"],
    [
      "protocolVersion: null",
      { ...plain, protocolVersion: null },
      `protocolVersion: expected a string, found null${leaveOut}`,
    ],
    [
      "forwardedProps: null",
      { ...current, forwardedProps: null },
      `forwardedProps: expected a value, found null${leaveOut}`,
    ],
    ["resume: null", { ...current, resume: null }, `resume: expected an array, found null${leaveOut}`],
    [
      'resume[0].status: "maybe"',
      entry({ status: "maybe" }),
      'resume[0].status: expected "resolved" or "cancelled", found "maybe"',
    ],
    ["resume[0].payload: null", entry({ payload: null }), `resume[0].payload: expected a value, found null${leaveOut}`],
    [
      "messages[0].metadata: null",
      withMessages(user("", { metadata: null })),
      `messages[0].metadata: expected an object, found null${leaveOut}`,
    ],
    [
      "assistant content: null",
      withMessages({ id: "a", role: "assistant", content: null }),
      `messages[0].content: expected a string, found null${leaveOut}`,
    ],
    [
      "an assistant tool call without function",
      withMessages({ id: "a", role: "assistant", toolCalls: [{ id: "c", type: "function" }] }),
      "messages[0].toolCalls[0].function: expected an object, found nothing",
    ],
    ["a message without role", withMessages({ id: "a" }), "messages[0].role: expected a string, found nothing"],
    [
      "a role that is no string",
      withMessages({ id: "a", role: 5 }),
      "messages[0].role: expected a string, found a number",
    ],
    ["a message that is null", withMessages(null), "messages[0]: expected an object, found null"],
    [
      "a message id that is a number",
      withMessages(user("", { id: 5 })),
      "messages[0].id: expected a string, found a number",
    ],
    [
      "user content that is an object",
      withMessages(user({})),
      "messages[0].content: expected a string or an array, found an object",
    ],
    [
      "a source without its value",
      withMessages(user([{ type: "image", source: { type: "url" } }])),
      "messages[0].content[0].source.value: expected a string, found nothing",
    ],
    [
      "a source type that is no string",
      withMessages(user([{ type: "image", source: { type: 1 } }])),
      "messages[0].content[0].source.type: expected a string, found a number",
    ],
    [
      "a tool call of another type",
      withMessages({ id: "a", role: "assistant", toolCalls: [{ ...aCall, type: "custom" }] }),
      'messages[0].toolCalls[0].type: expected "function", found "custom"',
    ],
  ];

  it.each(cases)("%s", (_name, value, message) => {
    const error = refused(value);
    expect([error.message, error.code, error.status]).toEqual([message, RequestErrorCode.INVALID_INPUT, 400]);
    expect(error.issues?.length).toBe(1);
  });

  it("says where in a path of names and indexes, [] for the whole", () => {
    expect(refused(withMessages(user("", { id: 5 }))).issues).toEqual([
      { path: ["messages", 0, "id"], message: "expected a string, found a number" },
    ]);
    expect(refused(null).issues?.[0]?.path).toEqual([]);
  });

  it("says which spelling is meant when only thread_id and run_id are there", () => {
    expect(refused({ thread_id: "t", run_id: "r", messages: [] }).issues).toEqual([
      {
        path: ["threadId"],
        message: 'expected a string, found nothing; the member sent as "thread_id" is spelled "threadId"',
      },
      { path: ["runId"], message: 'expected a string, found nothing; the member sent as "run_id" is spelled "runId"' },
    ]);
    expect(readInput({ ...current, thread_id: "other" }).warnings[0]?.path).toEqual(["thread_id"]);
  });

  it("reports the first five issues of many", () => {
    const { issues } = refused(withMessages(1, 2, 3, { role: "tool" }, 5));
    expect(issues?.map(({ path }) => formatPath(path))).toEqual([
      "messages[0]",
      "messages[1]",
      "messages[2]",
      "messages[3].id",
      "messages[3].toolCallId",
    ]);
  });

  it("never repeats a long value", () => {
    const long = "x".repeat(10_000);
    for (const value of [{ ...current, tools: long }, entry({ status: long }), entry({ metadata: long })]) {
      expect(refused(value).message.length).toBeLessThan(200);
    }
  });
});

describe("formatPath", () => {
  it("writes names plainly where JavaScript would, and quotes the others", () => {
    expect(formatPath(["messages", 0, "id"])).toBe("messages[0].id");
    expect(formatPath(["a b", "c", "1", 'q"'])).toBe('["a b"].c["1"]["q\\""]');
    expect(formatPath([])).toBe("input");
  });
});
