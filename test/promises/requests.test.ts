import { describe, expect, it } from "vitest";
import { RequestErrorCode } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange, requestOf } from "../support/open-exchange.ts";
import { counted, INPUT, pieces, refusalOf } from "../support/posted-bodies.ts";
import { endOf } from "../support/runs.ts";

describe("a method", () => {
  it.each(["PUT", "DELETE", "PATCH"])("%s is not served, and is told what is", async (method) => {
    const { agent, seen } = counted();
    const response = await agent.handler.handle(new Request("http://agent.test/", { method }));
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    expect(await refusalOf(response)).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(seen.entered).toBe(0);
  });

  it("OPTIONS is answered with 204 and what is served, and no CORS header without the option", async () => {
    const { agent } = counted();
    const response = await agent.handler.handle(
      new Request("http://agent.test/", { method: "OPTIONS", headers: { origin: "https://app.test" } }),
    );
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect([...response.headers]).toEqual([["allow", "GET, HEAD, POST, OPTIONS"]]);
  });
});

describe("a media type", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    " application/json",
    "application/vnd.acme+json",
    "application/ld+json;profile=x",
  ])("%s is taken", async (type) => {
    const { post, seen } = counted();
    const response = await post(INPUT, { "content-type": type });
    await response.text();
    expect([response.status, seen.entered]).toEqual([200, 1]);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-seq",
    "text/json",
    "application/xml+json2",
    "json",
    "",
  ])("%j is 415, unread", async (type) => {
    const { post, seen } = counted();
    const { body, taken } = pieces(1, new TextEncoder().encode(INPUT));
    expect(await refusalOf(await post(body, type === "" ? {} : { "content-type": type }))).toEqual([
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
    expect([taken.pieces, seen.entered]).toEqual([0, 0]);
  });
});

describe("a stream", () => {
  it("has its headers at once, and none that concerns a single hop", async () => {
    const agent = agentUnderTest(() => new Promise(() => {}));
    const open = await openExchange(agent.handler.handle);
    expect(open.response.status).toBe(200);
    expect([...open.response.headers]).toEqual([
      ["cache-control", "no-cache, no-transform"],
      ["content-type", "text/event-stream"],
      ["x-accel-buffering", "no"],
    ]);
    expect((await open.read(1))[0]?.type).toBe("RUN_STARTED");
    await open.leave();
  });

  it("closes by itself after its terminating event", async () => {
    const agent = agentUnderTest(async () => {});
    const open = await openExchange(agent.handler.handle);
    expect((await open.read(2))[1]?.type).toBe("RUN_FINISHED");
    expect(await open.reader.next()).toEqual({ done: true, value: undefined });
    const refused = await openExchange(agent.handler.handle, { resume: [{ interruptId: "x", status: "cancelled" }] });
    expect((await refused.read(1))[0]?.type).toBe("RUN_ERROR");
    expect((await refused.reader.next()).done).toBe(true);
  });

  it.each(["application/json", "text/html", "", "application/vnd.ag-ui.event+proto", "*/*;q=0.1"])(
    "is what is answered whatever is accepted: %j",
    async (accept) => {
      const { agent } = counted();
      expect(endOf(await agent.run("go", { headers: { accept } }))).toBe("success");
    },
  );

  it("carries the ids of its own request, a used run id too", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?"));
    const asked = await agent.run({ runId: "same" });
    const answered = await agent.answer(asked.interrupts[0] as never, "a", { runId: "same", parentRunId: "parent" });
    expect(answered.events[0]).toMatchObject({ runId: "same", parentRunId: "parent" });
    expect(answered.result).toBe("a");
  });
});

describe("handle", () => {
  it("never rejects, whatever a hook does; what is unforeseen is a 500 in generic words", async () => {
    const agent = agentUnderTest({
      agent: async () => {},
      cors: () => {
        throw new Error("secret");
      },
    });
    const response = await agent.handler.handle(requestOf({}, { headers: { origin: "https://app.test" } }));
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain("secret");
    expect(agent.errors).toHaveLength(1);
  });

  it("and all others work taken off their handler", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?"));
    const { handle, fetch, stop, stats, inspect, close } = agent.handler;
    await (await handle(requestOf({ threadId: "a", runId: "r", messages: [] }))).text();
    await (await fetch(requestOf({ threadId: "b", runId: "r", messages: [] }))).text();
    expect([stats().held, inspect().length]).toEqual([2, 2]);
    expect(await stop("a")).toBe(true);
    await close();
    expect(stats().held).toBe(0);
  });

  it("knows the codes that are exported, each with its status", async () => {
    expect(Object.entries(RequestErrorCode).every(([name, code]) => name === code)).toBe(true);
    expect(Object.keys(RequestErrorCode).sort()).toEqual([
      "BODY_TOO_LARGE",
      "IDENTIFY_FAILED",
      "INVALID_INPUT",
      "INVALID_JSON",
      "METHOD_NOT_ALLOWED",
      "SERVER_CLOSING",
      "UNSUPPORTED_MEDIA_TYPE",
    ]);
  });
});
