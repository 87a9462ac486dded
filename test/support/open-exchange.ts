/**
 * One exchange while it is open, for tests that act in the middle of a stream: leave, stall, answer. What is read
 * to its end is held to the same checks as every other stream.
 */
import { PROTOCOL_VERSION, type RunAgentInput } from "@ag-ui/core";
import { type FrameReader, frameReader } from "../../src/testing/frames.ts";
import { checkStream, type WireEvent } from "../../src/testing/index.ts";
import { readRun, type TestRun } from "../../src/testing/test-run.ts";
import { checked } from "./agent-under-test.ts";

/** How a request reaches a handler: its own `handle`, or `fetch` over a socket. */
export type Post = (request: Request) => Promise<Response>;

export interface OpenExchange {
  readonly input: RunAgentInput;
  readonly response: Response;
  readonly reader: FrameReader;
  /** The next `count` events. Fails when the body closes before. */
  read(count: number): Promise<WireEvent[]>;
  /** Everything that is still to come, and the whole stream checked. */
  rest(): Promise<TestRun>;
  /** Leaves as a browser does when its tab is closed. */
  leave(reason?: unknown): Promise<void>;
}

export interface OpenOptions {
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Ids the stream's interrupts are compared with; see `StreamExpectation`. */
  readonly seenInterruptIds?: Set<string>;
  /** What is sent in place of the input's JSON: for numbers and bytes that no `JSON.stringify` gives. */
  readonly rewrite?: (json: string) => string;
}

let runs = 0;

/** A whole input out of the part that matters. */
export function inputOf(partial: Partial<RunAgentInput> = {}): RunAgentInput {
  runs += 1;
  return {
    threadId: "thread-1",
    runId: `open-${runs}`,
    protocolVersion: PROTOCOL_VERSION,
    state: {},
    messages: [{ id: `open-message-${runs}`, role: "user", content: "Book LH441, please" }],
    tools: [],
    context: [],
    ...partial,
  };
}

/** The request that carries an input. */
export const requestOf = (input: unknown, { url = "http://agent.test/", headers, signal }: OpenOptions = {}): Request =>
  new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof input === "string" ? input : JSON.stringify(input),
    signal: signal ?? null,
  });

/** Posts a run and gives it back open. Fails when the answer is no stream. */
export async function openExchange(
  post: Post,
  partial: Partial<RunAgentInput> = {},
  options: OpenOptions = {},
): Promise<OpenExchange> {
  const input = inputOf(partial);
  const json = JSON.stringify(input);
  const response = await post(requestOf(options.rewrite?.(json) ?? json, options));
  if (response.body === null || response.headers.get("content-type") !== "text/event-stream")
    throw new Error(`No stream, but ${response.status}: ${await response.text()}`);
  const reader = frameReader(response.body);
  const frames: Awaited<ReturnType<FrameReader["rest"]>> = [];
  return {
    input,
    response,
    reader,
    async read(count) {
      const events: WireEvent[] = [];
      while (events.length < count) {
        const step = await reader.next();
        if (step.done) throw new Error(`The body closed after ${frames.length} events.`);
        frames.push(step.value);
        events.push(step.value.event);
      }
      return events;
    },
    async rest() {
      frames.push(...(await reader.rest()));
      const { seenInterruptIds } = options;
      checkStream(frames, { threadId: input.threadId, runId: input.runId, seenInterruptIds });
      return checked(readRun({ frames, comments: reader.comments }, input));
    },
    leave: (reason) => reader.cancel(reason),
  };
}

/** Posts a run and reads it to its end. */
export async function exchange(
  post: Post,
  partial: Partial<RunAgentInput> = {},
  options: OpenOptions = {},
): Promise<TestRun> {
  return (await openExchange(post, partial, options)).rest();
}
