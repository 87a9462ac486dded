import type { RunAgentInput } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange, inputOf, requestOf } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

/** An agent that says what it was called with. */
function echoingAgent() {
  const inputs: RunAgentInput[] = [];
  const agent = agentUnderTest(async (context) => {
    inputs.push(context.run);
  });
  return { ...agent, inputs };
}

const post = (
  body: BodyInit | null,
  headers: Record<string, string> = { "content-type": "application/json" },
): Request => new Request("http://agent.test/", { method: "POST", headers, body, duplex: "half" } as RequestInit);

const streamOf = (...chunks: Uint8Array[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("B86 bodies that are no run input", () => {
  const valid = JSON.stringify(inputOf({ threadId: "t", runId: "r" }));
  const bodies: Record<string, [() => BodyInit | null, string]> = {
    "nothing at all": [() => null, "INVALID_JSON"],
    empty: [() => "", "INVALID_JSON"],
    "an open brace": [() => "{", "INVALID_JSON"],
    null: [() => "null", "INVALID_INPUT"],
    "a list": [() => "[]", "INVALID_INPUT"],
    "a string": [() => '"x"', "INVALID_INPUT"],
    "a number": [() => "1", "INVALID_INPUT"],
    "an empty object": [() => "{}", "INVALID_INPUT"],
    "invalid UTF-8": [() => new Uint8Array([...bytes('{"threadId":"'), 0xff, ...bytes('"}')]), "INVALID_JSON"],
    "half a character at its end": [() => bytes("é").slice(0, 1), "INVALID_JSON"],
    "no bytes in chunks": [() => streamOf(), "INVALID_JSON"],
    "invalid UTF-8 in chunks": [() => streamOf(bytes('{"a":"'), new Uint8Array([0xc3]), bytes('"}')), "INVALID_JSON"],
    "two documents": [() => `${valid}${valid}`, "INVALID_JSON"],
    "a duplicate key, the last of which is wrong": [
      () => valid.replace("{", '{"runId":"a",').replace('"runId":"r"', '"runId":1'),
      "INVALID_INPUT",
    ],
  };

  it.each(Object.keys(bodies))("%s: 400 in JSON, and the agent is not called", async (what) => {
    const [body, code] = bodies[what] as (typeof bodies)[string];
    const { handler, inputs } = echoingAgent();
    const response = await within(5_000, handler.fetch(post(body())));
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ error: { code, message: expect.any(String) } });
    expect(inputs).toEqual([]);
    expect(handler.stats()).toMatchObject({ started: 0, running: 0 });
  });

  it("a byte order mark is no part of the JSON, whole or cut into single bytes", async () => {
    const { handler, inputs } = echoingAgent();
    const marked = new Uint8Array([0xef, 0xbb, 0xbf, ...bytes(valid)]);
    for (const body of [marked, streamOf(...[...marked].map((byte) => new Uint8Array([byte])))]) {
      const response = await handler.fetch(post(body));
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(inputs.map(({ threadId }) => threadId)).toEqual(["t", "t"]);
  });

  it("a character cut between two chunks is whole", async () => {
    const { handler, inputs } = echoingAgent();
    const whole = bytes(JSON.stringify(inputOf({ threadId: "✈ to Zürich" })));
    const response = await handler.fetch(post(streamOf(...[...whole].map((byte) => new Uint8Array([byte])))));
    expect(await response.text()).toContain("✈ to Zürich");
    expect(inputs.map(({ threadId }) => threadId)).toEqual(["✈ to Zürich"]);
  });
});

describe("B87 ids and messages", () => {
  const wrong: Record<string, [(input: Record<string, unknown>) => void, RegExp, unknown[]]> = {
    "no threadId": [(input) => delete input.threadId, /threadId.*found nothing/, ["threadId"]],
    "no runId": [(input) => delete input.runId, /runId.*found nothing/, ["runId"]],
    "no messages": [(input) => delete input.messages, /messages.*found nothing/, ["messages"]],
    "a number for a threadId": [
      (input) => Object.assign(input, { threadId: 5 }),
      /threadId: expected a string, found a number/,
      ["threadId"],
    ],
    "a list for a runId": [
      (input) => Object.assign(input, { runId: [] }),
      /runId: expected a string, found an array/,
      ["runId"],
    ],
    "an object for messages": [
      (input) => Object.assign(input, { messages: {} }),
      /messages: expected an array/,
      ["messages"],
    ],
    "a message without an id": [
      (input) => Object.assign(input, { messages: [{ role: "user", content: "x" }] }),
      /messages\[0\]\.id/,
      ["messages", 0, "id"],
    ],
    thread_id: [
      (input) => {
        delete input.threadId;
        input.thread_id = "t";
      },
      /"thread_id" is spelled "threadId"/,
      ["threadId"],
    ],
  };
  it.each(Object.keys(wrong))("%s: 400, and the message names the member", async (what) => {
    const [spoil, message, path] = wrong[what] as (typeof wrong)[string];
    const { handler, inputs } = echoingAgent();
    const input = { ...inputOf() } as Record<string, unknown>;
    spoil(input);
    const response = await handler.fetch(requestOf(input));
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringMatching(message) });
    expect(error.issues[0].path).toEqual(path);
    expect(inputs).toEqual([]);
  });

  it.each(["", " ", "x".repeat(10_000), "__proto__", "constructor", "🛫\u0000\u2028"])(
    "any string is an id: %j",
    async (id) => {
      const { handler, inputs } = echoingAgent();
      const run = await exchange(handler.fetch, { threadId: id, runId: id });
      expect(run.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", threadId: id, runId: id });
      expect(inputs).toMatchObject([{ threadId: id, runId: id }]);
      const asking = agentUnderTest((context) => context.input("?"));
      const asked = await asking.run({ threadId: id, runId: id });
      expect((await asking.answer(soleInterrupt(asked), "yes")).result).toBe("yes");
    },
  );
});

describe("B88 null where a member is optional", () => {
  const nulls = { resume: null, parentRunId: null, forwardedProps: null, context: null, tools: null } as const;

  it("without a protocol version it is absent, with one warning", async () => {
    const { handler, inputs, warnings } = echoingAgent();
    const { protocolVersion: _, ...input } = inputOf();
    const response = await handler.fetch(requestOf({ ...input, ...nulls, state: null }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"outcome":{"type":"success"}');
    expect(inputs).toEqual([{ ...input, tools: [], context: [], state: {} }]);
    expect(warnings.map(({ code }) => code)).toEqual(["INPUT_LEGACY"]);
  });

  it.each(Object.keys(nulls))("with version 1.0 %s: null is a 400", async (member) => {
    const { handler, inputs } = echoingAgent();
    const response = await handler.fetch(requestOf({ ...inputOf(), [member]: null }));
    expect(response.status).toBe(400);
    expect((await response.json()).error.message).toContain(member);
    expect(inputs).toEqual([]);
  });

  it("a state that is null counts as absent in every version", async () => {
    const { handler, inputs } = echoingAgent();
    expect(endOf(await exchange(handler.fetch, { state: null }))).toBe("success");
    expect(inputs).toMatchObject([{ state: {} }]);
  });

  it("in a resume entry: no metadata, and a payload that is null", async () => {
    const heard: unknown[] = [];
    const agent = agentUnderTest({
      agent: async (context) => heard.push(await context.input("?", { jsonSchema: {} })),
      proof: "when-present",
    });
    const { id } = soleInterrupt(await agent.run("Ask"));
    const { protocolVersion: _, ...input } = inputOf();
    const entry = { interruptId: id, status: "resolved", payload: null, metadata: null };
    const versioned = await agent.handler.fetch(requestOf({ ...inputOf(), resume: [entry] }));
    expect(versioned.status).toBe(400);
    await versioned.text();
    const response = await agent.handler.fetch(requestOf({ ...input, resume: [entry] }));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"outcome":{"type":"success"}');
    expect(heard).toEqual([null]);
  });
});

describe("B90 what a browser sends across sites without asking", () => {
  it.each([
    "text/plain",
    undefined,
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "application/jsonp",
    "application/json5",
  ])("%s: 415, and the agent is not called", async (type) => {
    const { handler, inputs } = echoingAgent();
    const request = post(
      new TextEncoder().encode(JSON.stringify(inputOf())),
      type === undefined ? {} : { "content-type": type },
    );
    const response = await handler.fetch(request);
    expect(response.status).toBe(415);
    expect((await response.json()).error.code).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect(inputs).toEqual([]);
  });

  it("an Origin is trusted for nothing: it opens and closes no door", async () => {
    const { handler, inputs } = echoingAgent();
    for (const origin of ["https://evil.test", "null"]) {
      const run = await exchange(handler.fetch, {}, { headers: { origin } });
      expect(endOf(run)).toBe("success");
    }
    expect(inputs).toHaveLength(2);
  });
});

describe("B91 media types", () => {
  it.each([
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    " application/json ",
    "application/vnd.x+json",
    "application/json;x=1",
  ])("content-type %s is taken", async (type) => {
    const { handler, inputs } = echoingAgent();
    const response = await handler.fetch(post(JSON.stringify(inputOf()), { "content-type": type }));
    expect(response.status).toBe(200);
    await response.text();
    expect(inputs).toHaveLength(1);
  });

  it.each([
    undefined,
    "*/*",
    "application/json",
    "text/event-stream, application/json",
    "application/json, text/event-stream",
    "text/event-stream;q=0.1, text/html;q=0.9",
    "application/vnd.ag-ui.event+proto",
    "",
  ])("accept %j: a stream of events", async (accept) => {
    const { handler } = echoingAgent();
    const run = await exchange(handler.fetch, {}, accept === undefined ? {} : { headers: { accept } });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });
});

describe("B92 methods", () => {
  const call = (method: string) => {
    const { handler, inputs } = echoingAgent();
    return within(5_000, handler.fetch(new Request("http://agent.test/", { method }))).then((response) => ({
      response,
      inputs,
    }));
  };

  it("GET tells the capabilities, HEAD their head", async () => {
    const get = (await call("GET")).response;
    expect(get.status).toBe(200);
    expect(get.headers.get("content-type")).toBe("application/json");
    expect(await get.json()).toMatchObject({
      transport: { streaming: true },
      humanInTheLoop: { supported: true, interrupts: true, approvals: true },
    });
    const head = (await call("HEAD")).response;
    expect([head.status, head.headers.get("content-type"), await head.text()]).toEqual([200, "application/json", ""]);
  });

  it.each(["PUT", "DELETE", "PATCH", "QUERY"])("%s: 405, with what is allowed", async (method) => {
    const { response, inputs } = await call(method);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    expect((await response.json()).error.code).toBe("METHOD_NOT_ALLOWED");
    expect(inputs).toEqual([]);
  });

  it("OPTIONS: 204, with what is allowed", async () => {
    const { response } = await call("OPTIONS");
    expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([
      204,
      "GET, HEAD, POST, OPTIONS",
      "",
    ]);
  });
});
