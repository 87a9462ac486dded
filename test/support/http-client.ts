/**
 * The protocol's own client, `HttpAgent`, as an application holds it: one conversation, its history and its state kept
 * by the client. It reads the live stream; what it was sent is recorded beside it and held to the same checks as every
 * other stream.
 */
import { HttpAgent, type Interrupt, type Message, type ResumeEntry } from "@ag-ui/client";
import type { RunAgentInput } from "@ag-ui/core";
import { checkStream, readFrames, type StreamExpectation } from "../../src/testing/index.ts";
import { readRun, type TestRun } from "../../src/testing/test-run.ts";
import { checked } from "./agent-under-test.ts";
import { withoutAWord } from "./client-check.ts";
import type { Post } from "./open-exchange.ts";
import { asServerSentEvents, MEDIA_TYPE } from "./protobuf.ts";
import { answerTo, giveUp } from "./runs.ts";

type Parameters = NonNullable<globalThis.Parameters<HttpAgent["runAgent"]>[0]>;

export interface HttpClient {
  readonly agent: HttpAgent;
  /** Appends a user message and runs. */
  say(text: string, parameters?: Parameters): Promise<TestRun>;
  run(parameters?: Parameters): Promise<TestRun>;
  answer(interrupt: Interrupt, payload: unknown): Promise<TestRun>;
  abandon(interrupt: Interrupt): Promise<TestRun>;
  resume(entries: ResumeEntry[]): Promise<TestRun>;
  /** The same conversation in a page that was loaded anew: it knows the messages, and of no open question. */
  reloaded(headers?: Record<string, string>): HttpClient;
}

export interface HttpClientOptions {
  readonly url?: string;
  readonly post?: Post;
  readonly threadId?: string;
  readonly headers?: Record<string, string>;
  readonly messages?: Message[];
  readonly state?: unknown;
  /** Shared by all clients of one server: no interrupt id may come twice. */
  readonly seenInterruptIds?: Set<string>;
  /** Accepted in place of what the client itself accepts: the protobuf binding's media type. */
  readonly accept?: string;
  /** Asked, when a stream has closed, what else it may show. Default: nothing else. */
  readonly expects?: () => Pick<StreamExpectation, "replay" | "lateError">;
}

export function httpClient(options: HttpClientOptions): HttpClient {
  const { url = "http://agent.test/", post = fetch, threadId = "thread-1", headers = {}, messages = [] } = options;
  const seenInterruptIds = options.seenInterruptIds ?? new Set<string>();
  let recorded: { input: RunAgentInput; body: Promise<string> } | undefined;
  const agent = new HttpAgent({
    url,
    threadId,
    headers,
    initialMessages: messages,
    initialState: options.state ?? {},
    async fetch(address, init) {
      const request = new Request(address, init);
      if (options.accept !== undefined) request.headers.set("accept", options.accept);
      const response = await post(request);
      const type = response.headers.get("content-type") ?? "";
      if (response.body === null || !["text/event-stream", MEDIA_TYPE].includes(type)) return response;
      const [live, copy] = response.body.tee();
      const body = type === MEDIA_TYPE ? asServerSentEvents(new Response(copy)) : new Response(copy).text();
      // A client that leaves cuts both; the copy is then nobody's.
      body.catch(() => {});
      recorded = { input: JSON.parse(String(init?.body)), body };
      return new Response(live, response);
    },
  });

  async function run(parameters: Parameters = {}): Promise<TestRun> {
    recorded = undefined;
    await withoutAWord(() => agent.runAgent(parameters));
    const { input, body } = recorded as unknown as { input: RunAgentInput; body: Promise<string> };
    const frames = readFrames(await body);
    const last = frames.frames.at(-1)?.event;
    const asked: { id: string }[] = last?.outcome?.interrupts ?? [];
    const redelivered = !input.resume?.length && asked.length > 0 && asked.every(({ id }) => seenInterruptIds.has(id));
    checkStream(frames.frames, {
      ...options.expects?.(),
      threadId,
      runId: input.runId,
      seenInterruptIds,
      redelivered,
    });
    return checked(readRun(frames, input));
  }

  return {
    agent,
    run,
    say(text, parameters) {
      agent.addMessage({ id: `${threadId}-message-${agent.messages.length + 1}`, role: "user", content: text });
      return run(parameters);
    },
    answer: (interrupt, payload) => run({ resume: [answerTo(interrupt, payload)] }),
    abandon: (interrupt) => run({ resume: [giveUp(interrupt)] }),
    resume: (entries) => run({ resume: entries }),
    reloaded: (as = headers) =>
      httpClient({
        ...options,
        headers: as,
        messages: structuredClone(agent.messages),
        state: structuredClone(agent.state),
        seenInterruptIds,
      }),
  };
}
