/** The protocol's protobuf binding, read by the protocol's own client. */
import { type AGUIEvent, HttpAgent } from "@ag-ui/client";
import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/index.ts";
import type { TestAgentOptions } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";

const PROTOBUF = "application/vnd.ag-ui.event+proto";

function serving(agent: Agent, options: Omit<TestAgentOptions, "agent"> = {}) {
  const errors: unknown[] = [];
  const tested = agentUnderTest({
    ...options,
    agent,
    transports: { protobuf: true },
    onError: (error) => void errors.push(error),
  });
  const post = (accept?: string, input: Parameters<typeof inputOf>[0] = {}) =>
    tested.handler.handle(requestOf(inputOf(input), { headers: accept === undefined ? {} : { accept } }));
  /** What the client reads of a run that it asked for in protobuf. */
  const read = async (parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) => {
    const events: AGUIEvent[] = [];
    const client = new HttpAgent({
      url: "http://agent.test/",
      threadId: "thread-1",
      headers: { accept: PROTOBUF },
      fetch: async (_url, init) => {
        const response = await tested.handler.handle(new Request("http://agent.test/", init as RequestInit));
        expect(response.headers.get("content-type")).toBe(PROTOBUF);
        return response;
      },
    });
    await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as AGUIEvent) });
    return { events, messages: client.messages };
  };
  return { ...tested, errors, post, read };
}

const talking: Agent = async (context) => {
  await context.text("Hello, ");
  await context.text("Zoë ✈");
};

describe("transports.protobuf", () => {
  it("gives a client that takes it the same events in its binding", async () => {
    const { post, read, errors } = serving(talking);
    const { events, messages } = await read();
    expect(events.map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(messages).toMatchObject([{ role: "assistant", content: "Hello, Zoë ✈" }]);
    expect((await post(PROTOBUF)).headers.get("vary")).toBe("Accept");
    expect(errors).toEqual([]);
  });

  it("carries a question and its answer", async () => {
    const answers: unknown[] = [];
    const { post, read } = serving(async (context) => {
      answers.push(await context.input("Which seat?", { jsonSchema: { type: "string" } }));
    });
    const asked = await read();
    const last = asked.events.at(-1);
    if (last?.type !== "RUN_FINISHED" || last.outcome?.type !== "interrupt") throw new Error("Nothing was asked.");
    const [interrupt] = last.outcome.interrupts;
    const answer = { interruptId: interrupt?.id as string, status: "resolved" as const, payload: "12C" };
    const response = await post(PROTOBUF, { resume: [{ ...answer, metadata: interrupt?.metadata as never }] });
    expect(response.headers.get("content-type")).toBe(PROTOBUF);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    expect(answers).toEqual(["12C"]);
  });

  it.each([
    ["without the header", undefined],
    ["that asks for SSE", "text/event-stream"],
  ])("gives SSE to a client %s, and says that it depends", async (_what, accept) => {
    const { post } = serving(talking);
    const response = await post(accept);
    expect([response.headers.get("content-type"), response.headers.get("vary")]).toEqual([
      "text/event-stream",
      "Accept",
    ]);
    expect(await response.text()).toMatch(/^data: \{"type":"RUN_STARTED"/);
  });

  it("says that it depends beside what else it depends on", async () => {
    const { handler } = serving(talking, { cors: ["https://app.test"] });
    const response = await handler.handle(requestOf(inputOf(), { headers: { origin: "https://app.test" } }));
    await response.text();
    expect(response.headers.get("vary")).toBe("Origin, Accept");
  });

  it("is declared, and only where it is on", async () => {
    const { handler } = serving(talking, { capabilities: { transport: { websocket: false } } });
    const { transport } = await (await handler.handle(new Request("http://agent.test/"))).json();
    expect(transport).toEqual({ streaming: true, httpBinary: true, websocket: false });
    const off = agentUnderTest({ agent: talking, capabilities: { transport: { httpBinary: true } } });
    const said = await (await off.handler.handle(new Request("http://agent.test/"))).json();
    expect(said.transport.httpBinary).toBe(false);
  });

  it("keeps quiet where SSE would send comments", async () => {
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { post, clock } = serving(async () => gone, { keepAliveMs: 1_000 });
    const response = await post(PROTOBUF);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    await clock.advance(5_000);
    go();
    const rest: number[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(...next.value);
    const [size = 0] = rest.length < 4 ? [] : [new DataView(Uint8Array.from(rest).buffer).getUint32(0)];
    // One frame, RUN_FINISHED, behind the first read.
    expect([first.done, rest.length]).toEqual([false, 4 + size]);
  });

  it("ends the stream with an error at an event that it cannot carry, and sends nothing behind it", async () => {
    const { read, errors } = serving(async (context) => {
      // A number takes two bytes of JSON, and eight and more of protobuf.
      await context.emit({ type: "CUSTOM", name: "acme:zeros", value: new Array(1_500_000).fill(0) });
      await context.text("Behind it.");
    });
    const { events } = await read();
    expect(events.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(events[1]).toMatchObject({ code: "ENCODING_FAILED", message: "An event could not be encoded." });
    expect(errors.map(String)).toEqual(["RangeError: An event is longer in protobuf than a frame may be."]);
  });
});
