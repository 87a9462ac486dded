/**
 * A server that speaks what OpenAI-compatible servers speak, on a port of this machine, and says what a
 * test wrote for it: one answer a request, in the chunks the test wants, or failing the way it wants.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";

/** A message of a request, as the server gets it. */
export interface ChatMessage {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface ChatRequest {
  readonly messages: ChatMessage[];
  readonly tools?: { function: { name: string } }[];
  readonly [member: string]: unknown;
}

/** A piece of an answer: a delta, or one with the reason it finishes for. */
type Chunk = { delta?: object; finish_reason?: string; usage?: object; error?: object };
export type Reply = Chunk[] | ((response: ServerResponse, request: ChatRequest) => void | Promise<void>);

export interface OpenAiServer {
  readonly url: string;
  readonly model: LanguageModel;
  /** What was asked of it, in order. */
  readonly requests: ChatRequest[];
  /** Connections that were closed before their answer was whole. */
  readonly dropped: number;
  /** Further answers, in order. */
  reply(...replies: Reply[]): void;
  close(): Promise<void>;
}

export async function openAiServer(...script: Reply[]): Promise<OpenAiServer> {
  const replies = [...script];
  const requests: ChatRequest[] = [];
  let dropped = 0;
  const server = createServer(async (request, response) => {
    const asked = JSON.parse(await textOf(request)) as ChatRequest;
    requests.push(asked);
    response.on("close", () => {
      if (!response.writableEnded) dropped++;
    });
    const reply = replies.shift();
    if (reply === undefined) return fail(response, 500, "There is no further answer.");
    if (typeof reply === "function") return reply(response, asked);
    begin(response);
    for (const chunk of reply) response.write(frame(chunk));
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    model: createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true })("tiny"),
    requests,
    get dropped() {
      return dropped;
    },
    reply: (...more) => void replies.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

export function begin(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

export function fail(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message, type: "error" } }));
}

export const frame = ({ delta = {}, finish_reason, usage, error }: Chunk): string =>
  `data: ${JSON.stringify(
    error === undefined
      ? {
          id: "chatcmpl-1",
          object: "chat.completion.chunk",
          created: 1,
          model: "tiny",
          choices: [{ index: 0, delta, finish_reason: finish_reason ?? null }],
          ...(usage === undefined ? {} : { usage }),
        }
      : { error },
  )}\n\n`;

export const content = (...pieces: string[]): Chunk[] => pieces.map((piece) => ({ delta: { content: piece } }));

/** A call from its first chunk on: with the id and the name, then the arguments piece by piece. */
export const toolCall = (index: number, id: string, name: string, ...pieces: string[]): Chunk[] => [
  { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] } },
  ...pieces.map((piece) => ({ delta: { tool_calls: [{ index, function: { arguments: piece } }] } })),
];

export const end = (finish_reason: string, read = 11, written = 7): Chunk[] => [
  { finish_reason },
  { usage: { prompt_tokens: read, completion_tokens: written, total_tokens: read + written } },
];

/** The chunks of several, one of each in turn: as a server streams two calls at once. */
export function interleave(...streams: Chunk[][]): Chunk[] {
  const longest = Math.max(...streams.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => streams.flatMap((stream) => stream[i] ?? [])).flat();
}

/**
 * What OpenAI's server and Anthropic's refuse a conversation for: calls that are not followed by their results at once,
 * or results that follow no call. @throws Error
 */
export function checkConversation(messages: readonly ChatMessage[]): void {
  const made = new Set<string>();
  let due: string[] = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === "tool") {
      const [next, ...rest] = due;
      if (next !== tool_call_id) throw new Error(`A result of ${tool_call_id} where one of ${next} is due.`);
      due = rest;
      continue;
    }
    if (due.length > 0) throw new Error(`A ${role} message where results of ${due.join(", ")} are due.`);
    due = (tool_calls ?? []).map(({ id }) => id);
    for (const call of tool_calls ?? []) {
      if (made.has(call.id)) throw new Error(`The id ${call.id} came twice.`);
      made.add(call.id);
      JSON.parse(call.function.arguments);
    }
  }
  if (due.length > 0) throw new Error(`The conversation ends where results of ${due.join(", ")} are due.`);
}
