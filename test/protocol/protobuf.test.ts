/** The protocol's other binding, protobuf: the same events, for those who accept it, where it is asked for. */
import { EventType, HttpAgent } from "@ag-ui/client";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AgentContext, AgentEvent } from "../../src/index.ts";
import { checkStream, createTestClock, type TestAgentOptions, type WireEvent } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { withoutAWord } from "../support/client-check.ts";
import { nodeAgent } from "../support/node-agent.ts";
import { requestOf } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { MEDIA_TYPE, readProtobuf } from "../support/protobuf.ts";
import { readRecorded } from "../support/recorded-stream.ts";
import { answerTo } from "../support/runs.ts";

const transports = { protobuf: true };
const INPUT = { threadId: "t", runId: "r", messages: [], protocolVersion: "1.0" };

/** Events of every kind, under ids of their own making. */
const EVERYTHING: object[] = [
  { type: "STEP_STARTED", stepName: "plan", timestamp: 4_102_444_800_000 },
  { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Zürich 😀\r\n\u2028" },
  { type: "TEXT_MESSAGE_END", messageId: "m", metadata: { "acme:a": { b: [1, "c", true] } } },
  { type: "TEXT_MESSAGE_CHUNK", messageId: "k", delta: "In chunks." },
  { type: "REASONING_START", messageId: "r" },
  { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "Hm" },
  { type: "REASONING_MESSAGE_END", messageId: "r" },
  { type: "REASONING_END", messageId: "r" },
  { type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "r", encryptedValue: "sealed" },
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "book", parentMessageId: "m" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"a":1}' },
  { type: "TOOL_CALL_END", toolCallId: "c" },
  { type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "result", content: "Booked.", role: "tool" },
  { type: "STATE_SNAPSHOT", snapshot: { a: 1, list: [{ b: "c" }] } },
  { type: "STATE_DELTA", delta: [{ op: "replace", path: "/a", value: 2 }] },
  { type: "ACTIVITY_SNAPSHOT", messageId: "y", activityType: "acme:plan", content: { n: 1 } },
  { type: "ACTIVITY_DELTA", messageId: "y", activityType: "acme:plan", patch: [{ op: "add", path: "/m", value: 2 }] },
  { type: "SUBAGENT_STARTED", subagentRunId: "s", name: "Booker" },
  { type: "TEXT_MESSAGE_START", messageId: "n", role: "assistant", subagentRunId: "s" },
  { type: "TEXT_MESSAGE_END", messageId: "n", subagentRunId: "s" },
  { type: "SUBAGENT_FINISHED", subagentRunId: "s" },
  { type: "CUSTOM", name: "acme:note", value: { a: [1] } },
  { type: "RAW", event: { a: 1 }, source: "acme" },
  { type: "STEP_FINISHED", stepName: "plan" },
];

const everything = async (context: AgentContext) => {
  for (const event of EVERYTHING) await context.emit(event as AgentEvent);
  context.usage({ provider: "acme", model: "m", inputTokens: 1, outputTokens: 2 });
  const answer = await context.input("Sure?");
  await context.emit({ type: "CUSTOM", name: "acme:answer", value: answer });
  if (answer === "fail") throw new Error("secret");
  return { said: answer };
};

/** What differs from one conversation to the next: what was made at random for its question. */
const comparable = (events: readonly WireEvent[]): unknown =>
  JSON.parse(JSON.stringify(events), (key, value) =>
    key === "proof" || (key === "id" && /^int_/.test(value)) ? "…" : value,
  );

async function exchange(handle: (request: Request) => Promise<Response>, input: object, accept?: string) {
  const response = await handle(requestOf(input, accept === undefined ? {} : { headers: { accept } }));
  const type = response.headers.get("content-type");
  const body = new Uint8Array(await response.arrayBuffer());
  const events = type === MEDIA_TYPE ? readProtobuf(body) : await readRecorded(body, input as never);
  checkStream(
    events.map((event) => ({ event })),
    { threadId: "t", runId: (input as { runId: string }).runId },
  );
  return { type, vary: response.headers.get("vary"), events };
}

async function conversation(accept: string, answer: string, options: Partial<TestAgentOptions> = {}) {
  const agent = agentUnderTest({ agent: everything, transports, ...options });
  const asked = await exchange(agent.handler.handle, INPUT, accept);
  const [interrupt] = asked.events.at(-1)?.outcome.interrupts ?? [];
  const resume = [answerTo(interrupt, answer)];
  const answered = await exchange(agent.handler.handle, { ...INPUT, runId: "r2", resume }, accept);
  const refused = await exchange(agent.handler.handle, { ...INPUT, runId: "r3", resume }, accept);
  return [asked, answered, refused];
}

afterEach(() => {
  vi.doUnmock("@ag-ui/encoder");
  vi.resetModules();
});

describe("protobuf", () => {
  it.each(["yes", "fail"])("carries the same events as server-sent events do (P160, P161): %s", async (answer) => {
    const clock = createTestClock().now();
    const sse = await conversation("text/event-stream", answer, { clock: createTestClock(clock) });
    const protobuf = await conversation(MEDIA_TYPE, answer, { clock: createTestClock(clock) });
    expect(sse.map(({ type }) => type)).toEqual(Array(3).fill("text/event-stream"));
    expect(protobuf.map(({ type }) => type)).toEqual(Array(3).fill(MEDIA_TYPE));
    expect(comparable(protobuf.flatMap(({ events }) => events))).toEqual(
      comparable(sse.flatMap(({ events }) => events)),
    );
    expect(new Set(sse.flatMap(({ events }) => events).map(({ type }) => type)).size).toBeGreaterThan(24);
  });

  it.each([
    [MEDIA_TYPE, MEDIA_TYPE],
    ["*/*", MEDIA_TYPE],
    ["application/*", MEDIA_TYPE],
    [`text/event-stream, ${MEDIA_TYPE};q=0.1`, MEDIA_TYPE],
    ["text/event-stream", "text/event-stream"],
    ["text/*", "text/event-stream"],
    ["application/json", "text/event-stream"],
    ["", "text/event-stream"],
    [`${MEDIA_TYPE};q=0, */*`, "text/event-stream"],
    [undefined, "text/event-stream"],
  ])(
    "is for those whose Accept admits it, with Vary for caches in either case (P160, P162): %s",
    async (accept, type) => {
      const agent = agentUnderTest({ agent: async () => {}, transports });
      const answered = await exchange(agent.handler.handle, INPUT, accept);
      expect([answered.type, answered.vary]).toEqual([type, "Accept"]);
    },
  );

  it("is off where it is not asked for, and then nothing varies (P29, P160)", async () => {
    const agent = agentUnderTest({ agent: async () => {} });
    const answered = await exchange(agent.handler.handle, INPUT, MEDIA_TYPE);
    expect([answered.type, answered.vary]).toEqual(["text/event-stream", null]);
  });

  it("leaves errors of a request in JSON (P161)", async () => {
    const agent = agentUnderTest({ agent: async () => {}, transports });
    const response = await agent.handler.handle(requestOf("{", { headers: { accept: MEDIA_TYPE } }));
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/json"]);
  });

  it("holds no keep-alive, which it has no word for (P161)", async () => {
    const [started, over] = [defer(), defer()];
    const agent = agentUnderTest({
      transports,
      agent() {
        started.resolve();
        return over.promise;
      },
    });
    const running = exchange(agent.handler.handle, INPUT, MEDIA_TYPE);
    await started.promise;
    await agent.clock.advance(60_000);
    over.resolve();
    expect((await running).events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it("ends with RUN_ERROR at an event that it cannot say, which is reported; nothing follows (P161)", async () => {
    // In JSON two bytes a number, here eleven and more: no frame holds it any more.
    const numbers = Array.from({ length: 1_000_000 }, () => 1);
    const agent = agentUnderTest({
      transports,
      agent: async (context) => {
        await context.custom("acme:before", 1);
        await context.custom("acme:numbers", numbers);
        await context.custom("acme:after", 1);
      },
    });
    const { events } = await exchange(agent.handler.handle, INPUT, MEDIA_TYPE);
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "CUSTOM", "RUN_ERROR"]);
    expect(events.at(-1)?.code).toBe("ENCODING_FAILED");
    expect(agent.errors.map(({ error }) => error)).toEqual([expect.any(RangeError)]);
  });

  it("loads its package at the first run, and only where it is asked for", async () => {
    let loads = 0;
    vi.resetModules();
    vi.doMock("@ag-ui/encoder", async (original) => {
      loads += 1;
      return original();
    });
    const { createHandler } = await import("../../src/index.ts");
    const handle = async (on: boolean) => {
      const handler = createHandler({ agent: async () => {}, ...(on && { transports }) });
      const before = loads;
      await (await handler.handle(requestOf(INPUT, { headers: { accept: MEDIA_TYPE } }))).arrayBuffer();
      await handler.close();
      return [before, loads];
    };
    expect(await handle(false)).toEqual([0, 0]);
    expect(await handle(true)).toEqual([0, 1]);
  });

  it("without its package is reported once, and everybody gets server-sent events", async () => {
    vi.resetModules();
    vi.doMock("@ag-ui/encoder", () => {
      throw new Error("not there");
    });
    const { createHandler } = await import("../../src/index.ts");
    const errors: unknown[] = [];
    const handler = createHandler({ agent: async () => {}, transports, onError: (error) => void errors.push(error) });
    for (let times = 0; times < 2; times += 1)
      expect((await exchange(handler.handle, INPUT, MEDIA_TYPE)).type).toBe("text/event-stream");
    expect(errors.map((error) => (error as Error).message)).toEqual([
      "transports.protobuf needs the package @ag-ui/encoder: install it beside holdline.",
    ]);
    await handler.close();
  });

  it("is read by the protocol's own client from a socket, question and answer (P160, P161)", async () => {
    const server = await nodeAgent({ agent: everything, transports });
    class Binary extends HttpAgent {
      protected override requestInit(input: Parameters<HttpAgent["run"]>[0]): RequestInit {
        const init = super.requestInit(input);
        return { ...init, headers: { ...init.headers, Accept: MEDIA_TYPE } };
      }
    }
    const types: (string | null)[] = [];
    const agent = new Binary({
      url: server.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        types.push(response.headers.get("content-type"));
        return response;
      },
    });
    await withoutAWord(() => agent.runAgent());
    const [interrupt] = agent.pendingInterrupts;
    const seen: unknown[] = [];
    const resume = [answerTo(interrupt as never, "yes")];
    const { result } = await withoutAWord(() =>
      agent.runAgent({ resume }, { onEvent: ({ event }) => void seen.push(event.type) }),
    );
    expect(types).toEqual([MEDIA_TYPE, MEDIA_TYPE]);
    expect(result).toEqual({ said: "yes" });
    expect(seen).toEqual([EventType.RUN_STARTED, EventType.CUSTOM, EventType.RUN_FINISHED]);
    expect(agent.state).toEqual({ a: 2, list: [{ b: "c" }] });
  });
});
