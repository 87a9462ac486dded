import { HttpAgent } from "@ag-ui/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Fetch, threadFetch } from "../../src/client/index.ts";
import { createHandler, type Warning } from "../../src/index.ts";
import { exchange, inputOf } from "../support/open-exchange.ts";

const URL = "http://agent.test/";

/** What a request carried by the time it was sent. */
async function sent(input: string | Request, init?: RequestInit) {
  const calls: Request[] = [];
  const record: Fetch = async (...given) => {
    calls.push(new Request(...given));
    return new Response();
  };
  await threadFetch(record)(input, init);
  const [request] = calls as [Request];
  return { thread: request.headers.get("x-holdline-thread"), request };
}

const post = (body: BodyInit, headers: Record<string, string> = {}): RequestInit => ({ method: "POST", body, headers });
const input = JSON.stringify({ runId: "r", messages: [{ threadId: "decoy" }], threadId: "thread 1 ü" });

describe("threadFetch", () => {
  it("names the body's thread, whatever the body is", async () => {
    const bytes = new TextEncoder().encode(input);
    for (const body of [input, bytes, bytes.buffer, new Blob([input])]) {
      const { thread, request } = await sent(URL, post(body as BodyInit, { "x-own": "kept" }));
      expect([thread, request.headers.get("x-own")]).toEqual(["thread%201%20%C3%BC", "kept"]);
      expect(await request.text()).toBe(input);
    }
    const { thread, request } = await sent(new Request(URL, post(input, { "x-own": "kept" })));
    expect([thread, request.headers.get("x-own"), await request.text()]).toEqual([
      "thread%201%20%C3%BC",
      "kept",
      input,
    ]);
  });

  it("puts its name in the place of another", async () => {
    expect((await sent(URL, post(input, { "x-holdline-thread": "else" }))).thread).toBe("thread%201%20%C3%BC");
  });

  it("leaves alone what has no thread", async () => {
    for (const body of ["{", "null", "5", "{}", '{"threadId":5}', ""])
      expect((await sent(URL, post(body))).thread).toBeNull();
    expect((await sent(URL)).thread).toBeNull();
    const stream = new Blob([input]).stream();
    const { thread, request } = await sent(URL, { method: "POST", body: stream, duplex: "half" } as RequestInit);
    expect([thread, await request.text()]).toEqual([null, input]);
  });

  it("gives a header that any server takes, and the server finds it right", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 2_000, maxLength: 4_000 })),
        async (threadId) => {
          const warnings: Warning[] = [];
          const handler = createHandler({ agent: async () => {}, onWarning: (warning) => warnings.push(warning) });
          const { thread, request } = await sent(URL, {
            ...post(JSON.stringify(inputOf({ threadId })), { "content-type": "application/json" }),
          });
          expect(thread).toMatch(/^[!-~]{0,512}$/);
          await (await handler.handle(request)).text();
          expect(warnings).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("goes into the protocol's own client", async () => {
    const seen: (string | null)[] = [];
    const handler = createHandler({
      async agent({ request }) {
        seen.push(request?.headers.get("x-holdline-thread") ?? null);
      },
    });
    const agent = new HttpAgent({
      url: URL,
      threadId: "t-1",
      fetch: threadFetch((...given) => handler.handle(new Request(...given))),
    });
    await agent.runAgent();
    expect(seen).toEqual(["t-1"]);
  });
});

describe("a thread's header that disagrees with the body", () => {
  const served = async (header: string) => {
    const warnings: Warning[] = [];
    const handler = createHandler({
      agent: async (context) => context.threadId,
      onWarning: (warning) => warnings.push(warning),
    });
    const run = await exchange(handler.handle, { threadId: "a b" }, { headers: { "x-holdline-thread": header } });
    return { result: run.result, codes: warnings.map(({ code }) => code) };
  };

  it("is served with a warning: the body decides", async () => {
    expect(await served("c")).toEqual({ result: "a b", codes: ["THREAD_HEADER_DIFFERS"] });
  });

  it("is not one that names the thread as it is", async () => {
    expect(await served("a b")).toEqual({ result: "a b", codes: [] });
    expect(await served("a%20b")).toEqual({ result: "a b", codes: [] });
  });
});
