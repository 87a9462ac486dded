/** The Worker in front of the objects, with objects that only take note of what they are sent. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createThreadObject, routeThreads, threadName } from "../../adapters/durable-object.ts";
import type { HandlerOptions } from "../../src/index.ts";
import { createTestClock } from "../../src/testing/index.ts";
import { exchange, inputOf, requestOf } from "../support/open-exchange.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

const URL = "https://agent.example/agent";

/** A Worker whose objects answer what `answer` does, and what reached them. */
function routed(options: Partial<HandlerOptions> = {}, answer = async (_: Request) => new Response("from the object")) {
  const reached: { threadId: string; identity: string | null; request: Request }[] = [];
  const worker = routeThreads(
    {
      stub: (_env, threadId, identity) => ({
        fetch(request) {
          reached.push({ threadId, identity, request: request.clone() as Request });
          return answer(request);
        },
      }),
    },
    () => options,
  );
  return { fetch: (request: Request) => worker.fetch(request, {}), reached };
}

const post = (body: string, headers: Record<string, string> = { "content-type": "application/json" }) =>
  new Request(URL, { method: "POST", headers, body });

describe("the Worker in front of the objects", () => {
  it("passes a run on, its body unchanged, to the object of its thread", async () => {
    const { fetch, reached } = routed();
    const body = ` ${JSON.stringify({ unknown: 1, ...inputOf({ threadId: "Ünï 🧵" }) }).replace(":", " :\t")}\n`;
    const request = post(body, { "content-type": "application/json; charset=utf-8", "x-own": "kept" });
    expect(await (await fetch(request)).text()).toBe("from the object");
    expect(reached).toMatchObject([{ threadId: "Ünï 🧵", identity: null }]);
    const sent = reached[0]?.request as Request;
    expect([sent.method, sent.url, sent.headers.get("x-own")]).toEqual(["POST", URL, "kept"]);
    expect(await sent.text()).toBe(body);
  });

  it("answers everything that is no run itself, and asks who calls, before any object is reached", async () => {
    const asked: string[] = [];
    const { fetch, reached } = routed({
      cors: "*",
      limits: { bodyBytes: 1_000 },
      identify(request) {
        asked.push(request.method);
        return request.headers.has("x-stranger") ? new Response("Who?", { status: 403 }) : "ada";
      },
    });
    const status = async (request: Request) => (await fetch(request)).status;
    expect(await status(new Request(URL, { method: "OPTIONS" }))).toBe(204);
    expect(await status(new Request(URL))).toBe(200);
    expect(await status(new Request(URL, { method: "DELETE" }))).toBe(405);
    expect(await status(post("{"))).toBe(400);
    expect(await status(post('{"threadId":5}'))).toBe(400);
    expect(await status(post(JSON.stringify(inputOf()), { "content-type": "text/plain" }))).toBe(415);
    expect(await status(post(" ".repeat(1_500)))).toBe(413);
    expect(
      await status(post(JSON.stringify(inputOf()), { "content-type": "application/json", "x-stranger": "1" })),
    ).toBe(403);
    expect(asked).toEqual(["GET", "POST", "POST", "POST", "POST", "POST"]);
    expect(reached).toEqual([]);
    expect(await (await fetch(new Request(URL))).json()).toMatchObject({ humanInTheLoop: { interrupts: true } });
  });

  it("lets an object's answer carry the CORS headers, whatever the object was told", async () => {
    const { fetch } = routed({ cors: ["https://app.example"] });
    const answer = await fetch(requestOf(inputOf(), { url: URL, headers: { origin: "https://app.example" } }));
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  it("says so when an object cannot be reached, and tells the application why", async () => {
    const errors: unknown[] = [];
    const { fetch } = routed({ cors: "*", onError: (error) => errors.push(error) }, () =>
      Promise.reject(new Error("Network connection lost.")),
    );
    const answer = await fetch(requestOf(inputOf(), { url: URL }));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(await answer.json()).toMatchObject({ error: { code: "THREAD_UNREACHABLE" } });
    expect(errors).toEqual([new Error("Network connection lost.")]);
  });

  it("names the binding that is missing", async () => {
    const errors: unknown[] = [];
    const worker = routeThreads({ binding: "AGENT_THREADS" }, () => ({ onError: (error) => errors.push(error) }));
    expect((await worker.fetch(requestOf(inputOf(), { url: URL }), {})).status).toBe(503);
    expect(String(errors)).toContain('No Durable Object namespace is bound as "AGENT_THREADS"');
  });
});

const anyText = fc.string({ unit: "binary" });
const anyIdentity = fc.option(anyText);

describe("whose object it is", () => {
  it("is told by a name that no two pairs of identity and thread share", () => {
    const pair = fc.tuple(anyIdentity, anyText);
    fc.assert(
      fc.property(pair, pair, ([identity, threadId], [other, another]) => {
        const same = identity === other && threadId === another;
        expect(threadName(identity, threadId) === threadName(other, another)).toBe(same);
      }),
    );
    const names = [
      threadName(null, "a"),
      threadName("null", "a"),
      threadName("", "a"),
      threadName("a", ""),
      threadName(null, ""),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it("is the Worker's word: any name arrives, and none that a client sends", async () => {
    const state = { storage: { setAlarm: async () => {}, deleteAlarm: async () => {} } };
    const ThreadObject = createThreadObject(() => ({ agent: async ({ identity }) => ({ identity }) }));
    const object = new ThreadObject(state, {});
    await fc.assert(
      fc.asyncProperty(anyIdentity, async (identity) => {
        const { fetch } = routed({ identify: () => identity }, (request) => object.fetch(request));
        const headers = { "x-holdline-identity": '"admin"' };
        expect((await exchange(fetch, {}, { url: URL, headers })).result).toEqual({ identity });
      }),
      { numRuns: 50 },
    );
  });

  it("an object does not guess", async () => {
    const state = { storage: { setAlarm: async () => {}, deleteAlarm: async () => {} } };
    let entered = 0;
    const ThreadObject = createThreadObject(() => ({
      async agent() {
        entered++;
      },
    }));
    const object = new ThreadObject(state, {});
    for (const header of [undefined, "ada", "", "5", '["ada"]', '"ada']) {
      const headers = header === undefined ? {} : { "x-holdline-identity": header };
      const answer = await object.fetch(requestOf(inputOf(), { url: URL, headers }));
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ error: { code: "NOT_ROUTED" } });
    }
    expect(entered).toBe(0);
  });
});

describe("an object's heart-beat", () => {
  /** An object on a clock of the test's, and what it asked of its storage. */
  function beating(heartBeatMs?: number) {
    const clock = createTestClock();
    const alarms: string[] = [];
    const storage = {
      async setAlarm() {
        alarms.push("set");
      },
      async deleteAlarm() {
        alarms.push("deleted");
      },
    };
    const Thread = createThreadObject(
      () => ({
        clock,
        async agent(context) {
          if (context.userText === "ask") await context.input("Sure?");
        },
      }),
      heartBeatMs === undefined ? {} : { heartBeatMs },
    );
    const object = new Thread({ storage }, {});
    const worker = routeThreads({ stub: () => object });
    const run = (content: string, resume: ReturnType<typeof answerTo>[] = []) =>
      exchange((request) => worker.fetch(request, {}), { messages: [{ id: "m", role: "user", content }], resume });
    return { clock, alarms, object, run };
  }

  it("starts with the first held turn, goes on with each alarm, and ends with the answer", async () => {
    const { alarms, object, run } = beating();
    await run("hello");
    await object.alarm();
    expect(alarms).toEqual([]);
    const interrupt = soleInterrupt(await run("ask"));
    expect(alarms).toEqual(["set"]);
    await object.alarm();
    await object.alarm();
    expect(alarms).toEqual(["set", "set", "set"]);
    expect(endOf(await run("", [answerTo(interrupt, "yes")]))).toBe("success");
    await object.alarm();
    expect(alarms).toEqual(["set", "set", "set", "deleted"]);
  });

  it("ends at the deadline", async () => {
    const { clock, alarms, object, run } = beating();
    await run("ask");
    await clock.advance(899_999);
    await object.alarm();
    expect(alarms).toEqual(["set", "set"]);
    await clock.advance(1);
    await object.alarm();
    expect(alarms).toEqual(["set", "set", "deleted"]);
  });

  it("is none at 0, and refuses what is no duration", async () => {
    const { alarms, run } = beating(0);
    await run("ask");
    expect(alarms).toEqual([]);
    for (const heartBeatMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createThreadObject(() => ({ agent: async () => {} }), { heartBeatMs })).toThrow(RangeError);
    }
  });
});
