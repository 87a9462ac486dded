/** A run written by hand, by no library: what the limits and some peers send. */
import { deltas } from "../source.mjs";

export const SSE = { "content-type": "text/event-stream", "cache-control": "no-cache" };

export const frame = (event) => `data: ${JSON.stringify(event)}\n\n`;

let messages = 0;
export const nextMessageId = () => `message-${++messages}`;

export async function* handWritten({ threadId, runId }) {
  const messageId = nextMessageId();
  yield { type: "RUN_STARTED", threadId, runId };
  yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant" };
  for await (const delta of deltas()) yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
  yield { type: "TEXT_MESSAGE_END", messageId };
  yield { type: "RUN_FINISHED", threadId, runId };
}

/** @param {import("node:http").IncomingMessage} request */
export async function readJson(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}
