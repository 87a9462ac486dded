/** What is promised of one exchange. */
import { expect } from "vitest";
import { FLOOD, ORIGIN } from "../fixtures/served-agent.ts";
import { inputOf } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { endOf, typesOf } from "../support/runs.ts";
import { Conversation, type Instance, send } from "./instance.ts";
import type { Cases } from "./suite.ts";

const json = { "content-type": "application/json" };

async function problem(at: Instance, init: RequestInit & { duplex?: "half" }) {
  const response = await send(at, init);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const { error } = (await response.json()) as { error: { code: string; issues?: { path: unknown[] }[] } };
  return { status: response.status, code: error.code, paths: error.issues?.map(({ path }) => path) };
}

export const serving = {
  async capabilities({ at, able }) {
    const response = await send(at, { method: "GET" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      transport: { streaming: true },
      humanInTheLoop: { supported: true, interrupts: able.includes("hold"), approvals: able.includes("hold") },
    });
  },

  async methods({ at }) {
    const head = await send(at, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const options = await send(at, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
    const put = await send(at, { method: "PUT", headers: json, body: "{}" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
    await put.text();
  },

  async "not-a-run"({ at }) {
    const thread = new Conversation(at);
    const { threadId } = thread;
    const run = JSON.stringify(inputOf({ threadId }));
    const post = (body: BodyInit, headers: Record<string, string> = json) =>
      problem(at, { method: "POST", headers, body, duplex: "half" });
    expect(await post(run, { "content-type": "text/plain" })).toMatchObject({
      status: 415,
      code: "UNSUPPORTED_MEDIA_TYPE",
    });
    expect(await post("{")).toMatchObject({ status: 400, code: "INVALID_JSON" });
    expect(await post(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({ status: 400, code: "INVALID_JSON" });
    const wrong = JSON.stringify({ ...inputOf({ threadId }), runId: 5 });
    expect(await post(wrong)).toEqual({ status: 400, code: "INVALID_INPUT", paths: [["runId"]] });
    // Longer than 4 MiB: once by its declared length, once found while reading.
    const long = run.replace("{", `{${" ".repeat(4 * 1024 * 1024)}`);
    expect(await post(long)).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
    const bytes = new TextEncoder().encode(long);
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let from = 0; from < bytes.length; from += 65_536) controller.enqueue(bytes.subarray(from, from + 65_536));
        controller.close();
      },
    });
    expect(await post(chunks)).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
    expect(await thread.seen()).toMatchObject({ entered: 0 });
  },

  async "refused-caller"({ at }) {
    const thread = new Conversation(at);
    const body = JSON.stringify(inputOf({ threadId: thread.threadId }));
    const response = await send(at, { method: "POST", headers: { ...json, "x-user": "nobody we know" }, body });
    expect([response.status, response.headers.get("x-reason")]).toEqual([401, "unknown"]);
    expect(await response.text()).toBe("Who is that?");
    expect(await thread.seen()).toMatchObject({ entered: 0 });
  },

  async cors({ at }) {
    const preflight = await send(at, {
      method: "OPTIONS",
      headers: {
        origin: ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    const stream = await new Conversation(at).open("say: Hi", {}, { origin: ORIGIN });
    const wrong = await send(at, { method: "POST", headers: { ...json, origin: ORIGIN }, body: "{" });
    for (const { headers } of [preflight, stream.response, wrong]) {
      expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
      expect(headers.get("access-control-allow-credentials")).toBe("true");
      expect(headers.get("vary")).toMatch(/origin/i);
    }
    await stream.rest();
    await wrong.text();
    const stranger = await new Conversation(at).open("say: Hi", {}, { origin: "https://else.example" });
    expect(stranger.response.headers.get("access-control-allow-origin")).toBeNull();
    await stranger.rest();
  },

  async stream({ at }) {
    const exchange = await new Conversation(at).open("say: Hi");
    const { status, headers } = exchange.response;
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("content-encoding")).toBeNull();
    // Its ids, its one terminating event and the closing of the body are checked of every stream of the suite.
    expect(typesOf(await exchange.rest())).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  },

  async "at-once"({ at }) {
    const thread = new Conversation(at);
    const exchange = await thread.open("each");
    const next = async () => (await within(5_000, exchange.read(1), "the next event"))[0];
    expect(await next()).toMatchObject({ type: "RUN_STARTED" });
    await thread.release();
    expect(await next()).toMatchObject({ type: "TEXT_MESSAGE_START" });
    expect(await next()).toMatchObject({ delta: "one" });
    await thread.release();
    expect(await next()).toMatchObject({ delta: "two" });
    await exchange.rest();
  },

  async order({ at }) {
    const run = await new Conversation(at).run("count: 3000");
    expect(run.events.slice(1, -1).map(({ value }) => value)).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  },

  async text({ at }) {
    const written = "Où? 😀 שלום \u0085\u2028\u2029 \r\n \u0000 data: 漢字";
    expect((await new Conversation(at).run(`say: ${written}`)).text).toBe(written);
  },

  async "long-history"({ at }) {
    const messages = Array.from({ length: 1_000 }, (_, n) => ({
      id: `message ${n}`,
      role: "user" as const,
      content: n === 999 ? "measure" : "é".repeat(1_000),
    }));
    const { result } = await new Conversation(at).run("", { messages });
    expect(result).toEqual({ messages: 1_000, characters: JSON.stringify(messages).length });
  },

  async failure({ at }) {
    const thread = new Conversation(at);
    const run = await thread.run("fail");
    expect(run.error).toEqual({ type: "RUN_ERROR", code: "AGENT_FAILED", message: "The agent failed." });
    expect((await thread.seen()).complaints).toEqual(["Error: postgres://user:password@host"]);
  },

  async tool({ at }) {
    const run = await new Conversation(at).run("tool");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(run.events[4]).toMatchObject({ content: "3" });
    expect(run.result).toBe(3);
  },

  async "input-required"({ at }) {
    const thread = new Conversation(at);
    const run = await thread.run("require");
    const message = "In the morning or in the evening?";
    expect([run.text, run.result, run.outcome]).toEqual([
      message,
      { status: "input-required", message },
      { type: "success" },
    ]);
    expect((await thread.run("say: Good")).text).toBe("Good");
    expect(await thread.seen()).toMatchObject({ entered: 2 });
  },

  async "threads-apart"({ at }) {
    const threads = Array.from({ length: 20 }, () => new Conversation(at));
    const runs = await Promise.all(threads.map((thread) => thread.run(`say: ${thread.threadId}`)));
    expect(runs.map(({ text }) => text)).toEqual(threads.map(({ threadId }) => threadId));
  },

  async "slow-reader"({ at }) {
    const thread = new Conversation(at);
    const { reader } = await thread.open("flood");
    for (let event = 0; event < 5; event++) await reader.next();
    let before = -1;
    let emitted = (await thread.seen()).emitted;
    // It has stopped when two looks, far enough apart for thousands of events, find it at the same place.
    const stalled = async () => {
      before = emitted;
      emitted = (await thread.seen()).emitted;
      return before === emitted;
    };
    await expect.poll(stalled, { timeout: 10_000, interval: 300 }).toBe(true);
    expect(emitted).toBeLessThan(FLOOD.events * 0.9);
    const characters = (await reader.rest()).reduce((sum, { event }) => sum + (event.delta?.length ?? 0), 0);
    // The first five were RUN_STARTED, the message's START, and three of its contents.
    expect(characters).toBe((FLOOD.events - 3) * FLOOD.characters);
  },

  async "no-hold"({ at }) {
    const thread = new Conversation(at);
    const run = await thread.run("ask");
    expect(endOf(run)).toBe("AGENT_FAILED");
    const seen = await thread.seen();
    expect(seen.rejections).toEqual(["HoldUnavailableError"]);
    expect(seen.complaints.join()).toMatch(/holdline\/durable-object.*inputRequired/);
  },
} satisfies Cases;
