/** Requests as they are posted, what the agent's code saw of them, and what their senders are told. */
import type { RunAgentInput } from "@ag-ui/core";
import { describe, expect, it, vi } from "vitest";
import type { AgentContext, HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { requestOf } from "../support/open-exchange.ts";
import { readRecorded } from "../support/recorded-stream.ts";

const INPUT = { threadId: "t", runId: "r", messages: [] };
const CURRENT = { ...INPUT, protocolVersion: "1.0" };

interface Posted {
  readonly status: number;
  readonly type: string | null;
  /** The inputs that the agent's code was handed. */
  readonly seen: RunAgentInput[];
  readonly userText: string[];
  readonly warned: string[];
  readonly events: string[];
  readonly error: { code: string; issues?: { path: (string | number)[] }[] } | undefined;
}

/** Posts a body as it is: a string, or what is said in JSON. */
async function post(
  body: unknown,
  headers: Record<string, string> = {},
  options: Partial<HandlerOptions> = {},
): Promise<Posted> {
  const seen: RunAgentInput[] = [];
  const userText: string[] = [];
  const { clock: _clock, ...rest } = options;
  const agent = agentUnderTest({
    ...rest,
    agent: async (context: AgentContext) => {
      seen.push(structuredClone(context.run));
      userText.push(context.userText);
    },
  });
  const response = await agent.handler.handle(requestOf(body, { headers }));
  const text = await response.text();
  const type = response.headers.get("content-type");
  const isStream = type === "text/event-stream";
  const events = isStream
    ? await readRecorded(text, typeof body === "string" ? JSON.parse(body) : (body as never))
    : [];
  return {
    status: response.status,
    type,
    seen,
    userText,
    warned: agent.warnings.map(({ code, path }) => `${code} ${path ?? ""}`.trim()),
    events: events.map((event) => event.type),
    error: type === "application/json" ? JSON.parse(text).error : undefined,
  };
}

const served = { status: 200, type: "text/event-stream", events: ["RUN_STARTED", "RUN_FINISHED"] };

describe("a request", () => {
  it.each(["application/json", "application/json; charset=utf-8"])(
    "is one input in JSON, answered by a stream: %s (P1, P20)",
    async (type) => {
      expect(await post(INPUT, { "content-type": type })).toMatchObject({ ...served, warned: [] });
    },
  );

  const parts = (part: unknown) => ({ ...CURRENT, messages: [{ id: "m", role: "user", content: [part] }] });
  const message = (members: object) => ({ ...CURRENT, messages: [{ id: "m", ...members }] });
  const resume = (members: object) => ({ ...CURRENT, resume: [{ interruptId: "i", status: "resolved", ...members }] });
  const malformed: [string, unknown, string | undefined][] = [
    ["JSON that is cut short", "{", undefined],
    ["nothing", "", undefined],
    ["a list", "[]", undefined],
    ["null", "null", undefined],
    ["a string", '"x"', undefined],
    ["no threadId", { runId: "r", messages: [] }, "threadId"],
    ["no runId", { threadId: "t", messages: [] }, "runId"],
    ["no messages", { threadId: "t", runId: "r" }, "messages"],
    ["a runId that is a number", { ...INPUT, runId: 5 }, "runId"],
    ["messages that are no list", { ...INPUT, messages: {} }, "messages"],
    ["tools that are null", { ...CURRENT, tools: null }, "tools"],
    ["a tool without a description", { ...INPUT, tools: [{ name: "a" }] }, "tools.0.description"],
    ["forwardedProps that are null", { ...CURRENT, forwardedProps: null }, "forwardedProps"],
    ["a resume that is null", { ...CURRENT, resume: null }, "resume"],
    ["an entry with another status (1m no. 2)", resume({ status: "maybe" }), "resume.0.status"],
    ["an entry whose payload is null", resume({ payload: null }), "resume.0.payload"],
    [
      "a message's metadata that is null",
      message({ role: "user", content: "a", metadata: null }),
      "messages.0.metadata",
    ],
    ["an assistant's content that is null", message({ role: "assistant", content: null }), "messages.0.content"],
    [
      "a call without a function",
      message({ role: "assistant", toolCalls: [{ id: "c", type: "function" }] }),
      "messages.0.toolCalls.0.function",
    ],
    ["a text part without a text", parts({ type: "text" }), "messages.0.content.0.text"],
  ];
  it.each(malformed)("with %s is refused with 400 and where, and no run starts (P2)", async (_name, body, path) => {
    const { status, type, seen, error } = await post(body);
    expect([status, type, seen]).toEqual([400, "application/json", []]);
    expect(error?.code).toBe(
      path === undefined && ["{", ""].includes(body as string) ? "INVALID_JSON" : "INVALID_INPUT",
    );
    if (path !== undefined) expect(error?.issues?.map((issue) => issue.path.join("."))).toEqual([path]);
  });

  it.each([1, null, ["1.0"]])("whose protocolVersion is %j, no string, is malformed (P44)", async (protocolVersion) => {
    const { status, seen, error } = await post({ ...INPUT, protocolVersion });
    expect([status, seen, error?.issues?.[0]?.path]).toEqual([400, [], ["protocolVersion"]]);
  });

  it("of somebody who may not is refused before it is read, by a status and no stream (P3)", async () => {
    const identify = (request: Request) =>
      request.headers.get("authorization") === "Bearer right" ? "ann" : new Response("no", { status: 401 });
    const refused = await post("{", { authorization: "Bearer forged" }, { identify });
    expect([refused.status, refused.seen]).toEqual([401, []]);
    expect(await post(INPUT, { authorization: "Bearer right" }, { identify })).toMatchObject(served);
  });

  it("with what the protocol does not describe is served without it, which is told with a path (P4)", async () => {
    const posted = await post({
      ...CURRENT,
      foo: 1,
      messages: [
        { id: "a", role: "alien", content: "hm" },
        { id: "b", role: "user", content: [{ type: "hologram" }, { type: "text", text: "a", zoom: 2 }] },
      ],
      context: [{ description: "d", value: "v", extra: true }],
      tools: [{ name: "n", description: "d", version: 3 }],
    });
    expect(posted).toMatchObject(served);
    const [run] = posted.seen;
    expect(run).toEqual({
      ...CURRENT,
      state: {},
      messages: [{ id: "b", role: "user", content: [{ type: "text", text: "a" }] }],
      context: [{ description: "d", value: "v" }],
      tools: [{ name: "n", description: "d" }],
    });
    expect(posted.warned).toHaveLength(1);
    expect(posted.warned[0]).toMatch(/^INPUT_STRIPPED \S/);
  });

  it("reaches the agent with everything that is open in it untouched (P5, P9)", async () => {
    const open = { a: null, b: [null, { "": 0 }], toString: "own", "ag-ui": { c: [] } };
    const body = {
      ...CURRENT,
      state: open,
      forwardedProps: open,
      messages: [
        { id: "u", role: "user", content: "a", metadata: open },
        { id: "y", role: "activity", activityType: "acme:plan", content: open },
      ],
      tools: [{ name: "n", description: "d", parameters: open, metadata: open }],
    };
    const { seen, warned } = await post(body);
    expect(seen).toEqual([{ ...body, context: [] }]);
    expect(warned).toEqual([]);
  });

  it("that leaves tools, context and state out has none of them: [], [] and {} (P6, P7)", async () => {
    const { seen } = await post(CURRENT);
    expect(seen).toEqual([{ ...CURRENT, tools: [], context: [], state: {} }]);
  });

  it("brings the whole history: nothing of an earlier one on its thread is added (P8)", async () => {
    const seen: string[][] = [];
    const agent = agentUnderTest(async (context) => {
      seen.push(context.run.messages.map(({ id }) => id));
      await context.text("Hello.");
    });
    const say = (id: string) => ({ id, role: "user" as const, content: id });
    await agent.run({ messages: [say("b"), say("a")] });
    await agent.run({ messages: [say("c")] });
    expect(seen).toEqual([["b", "a"], ["c"]]);
  });

  it("with parts that an agent of text cannot use is served all the same (P10)", async () => {
    const image = { type: "image", source: { type: "data", value: "AAAA", mimeType: "image/png" } };
    const posted = await post({ ...CURRENT, messages: [{ id: "m", role: "user", content: [image] }] });
    expect(posted).toMatchObject({ ...served, userText: [""], warned: [] });
  });

  it("names files and addresses that nobody here fetches (P11, P180)", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no"));
    try {
      const content = ["file", "url"].map((type) => ({
        type: "image",
        source: { type, value: "http://canary.test/a", ...(type === "url" && { mimeType: "image/png" }) },
      }));
      const { seen } = await post({ ...CURRENT, messages: [{ id: "m", role: "user", content }] });
      expect(seen[0]?.messages).toEqual([{ id: "m", role: "user", content }]);
      expect(fetched).not.toHaveBeenCalled();
    } finally {
      fetched.mockRestore();
    }
  });

  it("brings its context to the agent (P12)", async () => {
    const context = [{ description: "Where the user is", value: "Oslo" }];
    expect((await post({ ...CURRENT, context })).seen[0]?.context).toEqual(context);
  });

  it.each(["", "a b\n😀", "__proto__", "constructor"])("may have any string for an id: %j (P13)", async (id) => {
    const posted = await post({ ...CURRENT, threadId: id, runId: id, messages: [{ id, role: "user", content: "a" }] });
    expect(posted).toMatchObject({ ...served, userText: ["a"] });
    expect(posted.seen[0]).toMatchObject({ threadId: id, runId: id });
  });

  it("may hold every form of message there is, encrypted values without a type included (P14, P15, P17)", async () => {
    const messages = [
      { id: "1", role: "developer", content: "d" },
      { id: "2", role: "system", content: "s" },
      { id: "3", role: "user", content: "u" },
      {
        id: "4",
        role: "assistant",
        toolCalls: [
          { id: "c", type: "function", function: { name: "n", arguments: "{half" }, encryptedValue: "sealed" },
        ],
        encryptedValue: "sealed",
      },
      { id: "5", role: "tool", toolCallId: "c", content: [{ type: "text", text: "r" }], error: "e" },
      { id: "6", role: "reasoning", content: "Hm", encryptedValue: "sealed" },
      { id: "7", role: "activity", activityType: "acme:plan", content: {} },
    ];
    const posted = await post({ ...CURRENT, messages });
    expect(posted).toMatchObject({ ...served, warned: [] });
    expect(posted.seen[0]?.messages).toEqual(messages);
  });

  it("has members named as Object's own taken for the unknown members they are (P16)", async () => {
    const named = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1';
    const posted = await post(
      `{"threadId":"t","runId":"r",${named},"messages":[{"id":"m","role":"user","content":"a",${named}}]}`,
    );
    expect(posted).toMatchObject(served);
    expect(posted.seen[0]?.messages).toEqual([{ id: "m", role: "user", content: "a" }]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([undefined, "", "*/*", "text/event-stream", "application/vnd.ag-ui.event+proto", "text/html;q=0"])(
    "is answered by server-sent events whatever it accepts: %j (P29, 1m no. 6)",
    async (accept) => {
      expect(await post(INPUT, accept === undefined ? {} : { accept })).toMatchObject(served);
    },
  );

  it("starts over where it says what it has read: there is nothing to take up (P24)", async () => {
    expect(await post(INPUT, { "last-event-id": "3" })).toMatchObject(served);
  });

  it("with a part of an unknown source is served without the part (1m no. 1)", async () => {
    const content = [
      { type: "image", source: { type: "hologram", value: "x" } },
      { type: "text", text: "a" },
    ];
    const posted = await post({ ...CURRENT, messages: [{ id: "m", role: "user", content }] });
    expect(posted).toMatchObject({ ...served, userText: ["a"] });
    expect(posted.seen[0]?.messages).toEqual([{ id: "m", role: "user", content: [{ type: "text", text: "a" }] }]);
    expect(posted.warned).toHaveLength(1);
  });
});

describe("a version", () => {
  it.each(["1.1", "1.10", "1", "1.0.0", "v1", ""])(
    "that is newer, or that nobody can read, is served as ours, with a warning: %j (P40, P41, P42)",
    async (protocolVersion) => {
      const posted = await post({ ...INPUT, protocolVersion });
      expect(posted).toMatchObject({ ...served, warned: ["PROTOCOL_VERSION_UNKNOWN"] });
      expect(posted.seen[0]?.protocolVersion).toBe(protocolVersion);
    },
  );

  it.each(["2.0", "0.9"])("of another major line is refused before a run: %s (P43)", async (protocolVersion) => {
    const posted = await post({ ...INPUT, protocolVersion });
    expect(posted).toMatchObject({ seen: [], events: ["RUN_ERROR"] });
  });

  it("newer than ours may bring what it has: a type beside an encrypted value is stripped, the value kept (P41)", async () => {
    const reasoning = { id: "m", role: "reasoning", content: "Hm", encryptedValue: "sealed" };
    const posted = await post({
      ...INPUT,
      protocolVersion: "1.1",
      messages: [{ ...reasoning, encryptedValueType: "x" }],
    });
    expect(posted).toMatchObject(served);
    expect(posted.seen[0]?.messages).toEqual([reasoning]);
    expect(posted.warned).toContainEqual(expect.stringMatching(/^INPUT_STRIPPED /));
  });
});

describe("a client from before 1.0, which declares no version", () => {
  it("is served as ours without a word where it sends what ours would (P45)", async () => {
    expect(await post(INPUT)).toMatchObject({ ...served, warned: [] });
  });

  it("may send null for what is unset, which is told (1m no. 3 and 4)", async () => {
    const posted = await post({
      ...INPUT,
      parentRunId: null,
      state: null,
      tools: [{ name: "n", description: "d", parameters: null }],
      context: null,
      forwardedProps: null,
      resume: null,
      messages: [{ id: "m", role: "assistant", content: null, toolCalls: null, name: null }],
    });
    expect(posted).toMatchObject(served);
    expect(posted.seen).toEqual([
      {
        ...INPUT,
        state: {},
        tools: [{ name: "n", description: "d" }],
        context: [],
        messages: [{ id: "m", role: "assistant" }],
      },
    ]);
    expect(posted.warned).toHaveLength(1);
    expect(posted.warned[0]).toMatch(/^INPUT_LEGACY \S/);
  });

  it("may send parts of the kind binary, which are read as what they are, and told (1m no. 4)", async () => {
    const content = [{ type: "binary", mimeType: "image/png", data: "AAAA", filename: "seat.png" }];
    const legacy = await post({ ...INPUT, messages: [{ id: "m", role: "user", content }] });
    expect(legacy).toMatchObject(served);
    expect(legacy.seen[0]?.messages[0]?.content).toEqual([
      {
        type: "image",
        source: { type: "data", value: "AAAA", mimeType: "image/png" },
        metadata: { filename: "seat.png" },
      },
    ]);
    expect(legacy.warned[0]).toMatch(/^INPUT_LEGACY \S/);
    const current = await post({ ...CURRENT, messages: [{ id: "m", role: "user", content }] });
    expect(current.seen[0]?.messages[0]?.content).toEqual([]);
    expect(current.warned[0]).toMatch(/^INPUT_STRIPPED \S/);
  });

  it.each([{}, { protocolVersion: "1.0" }])(
    "or any other, may send a state that is null: it counts as none (1m no. 3) %j",
    async (declared) => {
      const posted = await post({ ...INPUT, ...declared, state: null });
      expect(posted).toMatchObject(served);
      expect(posted.seen[0]?.state).toEqual({});
    },
  );
});
