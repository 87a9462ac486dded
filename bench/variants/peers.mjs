/** The peers, each as its own documentation shows. Imports are inside: a process loads only what its variant needs. */
import { once } from "node:events";
import { deltas } from "../source.mjs";
import { handWritten, nextMessageId, readJson, SSE } from "./hand-written.mjs";
import { listenFetch, listenNode } from "./listen.mjs";

export const peers = {
  /** node:http with the protocol's own parse and encoder. */
  async "agui-encoder"() {
    const { EventType } = await import("@ag-ui/core");
    const { RunAgentInputSchema } = await import("@ag-ui/core/schemas");
    const { EventEncoder } = await import("@ag-ui/encoder");
    return listenNode(async (request, response) => {
      const { threadId, runId } = RunAgentInputSchema.parse(await readJson(request));
      const encoder = new EventEncoder({ accept: request.headers.accept });
      response.writeHead(200, { ...SSE, "content-type": encoder.getContentType() });
      const messageId = nextMessageId();
      const write = async (event) => {
        if (!response.write(encoder.encodeSSE(event))) await once(response, "drain");
      };
      await write({ type: EventType.RUN_STARTED, threadId, runId });
      await write({ type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" });
      for await (const delta of deltas()) await write({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta });
      await write({ type: EventType.TEXT_MESSAGE_END, messageId });
      await write({ type: EventType.RUN_FINISHED, threadId, runId });
      response.end();
    });
  },

  /** Hono's streamSSE, hand-written events. */
  async "hono-sse"() {
    const { Hono } = await import("hono");
    const { streamSSE } = await import("hono/streaming");
    const app = new Hono();
    app.post("/agent", async (c) => {
      const input = await c.req.json();
      return streamSSE(c, async (stream) => {
        for await (const event of handWritten(input)) await stream.writeSSE({ data: JSON.stringify(event) });
      });
    });
    return listenFetch(app.fetch);
  },

  /** TanStack AI: chat() over a fake adapter, toServerSentEventsResponse(). */
  async tanstack() {
    const { chat, chatParamsFromRequest, toServerSentEventsResponse } = await import("@tanstack/ai");
    const { BaseTextAdapter } = await import("@tanstack/ai/adapters");
    class FakeAdapter extends BaseTextAdapter {
      name = "fake";
      async *chatStream({ threadId = "thread", runId = "run" }) {
        const messageId = nextMessageId();
        yield { type: "RUN_STARTED", threadId, runId, timestamp: Date.now() };
        yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant", timestamp: Date.now() };
        for await (const delta of deltas())
          yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta, timestamp: Date.now() };
        yield { type: "TEXT_MESSAGE_END", messageId, timestamp: Date.now() };
        yield { type: "RUN_FINISHED", threadId, runId, finishReason: "stop", timestamp: Date.now() };
      }
      async structuredOutput() {
        throw new Error("not used");
      }
    }
    const adapter = new FakeAdapter({}, "fake-model");
    return listenFetch(async (request) => {
      const { messages, threadId, runId } = await chatParamsFromRequest(request);
      const abortController = new AbortController();
      const stream = chat({ adapter, messages, threadId, runId, abortController });
      return toServerSentEventsResponse(stream, { abortController });
    });
  },

  /** The AI SDK: streamText over its own mock model, toUIMessageStreamResponse(). Its own protocol, not AG-UI. */
  async "ai-sdk"() {
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const { streamText } = await import("ai");
    const { MockLanguageModelV4 } = await import("ai/test");
    const usage = { inputTokens: { total: 9 }, outputTokens: { total: 20 } };
    const answer = async function* () {
      yield { type: "stream-start", warnings: [] };
      yield { type: "text-start", id: "1" };
      for await (const delta of deltas()) yield { type: "text-delta", id: "1", delta };
      yield { type: "text-end", id: "1" };
      yield { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage };
    };
    return listenFetch(async (request) => {
      const input = await request.json();
      const messages = input.messages.map(({ role, content }) => ({ role, content }));
      // A model per request: this one records its calls for ever.
      const model = new MockLanguageModelV4({ doStream: async () => ({ stream: ReadableStream.from(answer()) }) });
      return streamText({ model, messages, abortSignal: request.signal }).toUIMessageStreamResponse();
    });
  },

  /** CopilotKit's runtime (SSE mode, in-memory runner) in front of an AG-UI agent. */
  async copilotkit() {
    process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
    const { CopilotRuntime, createCopilotRuntimeHandler } = await import("@copilotkit/runtime/v2");
    const { AbstractAgent } = await import("@ag-ui/client");
    const { Observable } = await import("rxjs");
    class FakeAgent extends AbstractAgent {
      run(input) {
        return new Observable((subscriber) => {
          let live = true;
          void (async () => {
            for await (const event of handWritten(input)) {
              if (!live) return;
              subscriber.next(event);
            }
            subscriber.complete();
          })();
          return () => {
            live = false;
          };
        });
      }
      clone() {
        return new FakeAgent();
      }
    }
    const runtime = new CopilotRuntime({ agents: { fake: new FakeAgent() } });
    const handler = createCopilotRuntimeHandler({ runtime, basePath: "/api" });
    return listenFetch((request) => {
      const url = new URL(request.url);
      if (url.pathname !== "/agent") return handler(request);
      url.pathname = "/api/agent/fake/run";
      return handler(new Request(url, request));
    });
  },
};
