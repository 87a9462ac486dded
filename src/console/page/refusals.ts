/** What a code means for the person at the console, and what they can do about it. */
import type { Notice } from "./transcript.ts";

/** Advice by code. Codes of the agent's own (`PublicError`) have none. */
const ADVICE: Readonly<Record<string, string>> = {
  UNSUPPORTED_PROTOCOL_VERSION: "This console and the server speak different versions of AG-UI: update one of them.",
  INTERRUPT_NOT_HELD: "Nothing was done with the answer. Send a new message to start over.",
  INTERRUPT_NOT_OUTSTANDING: "The agent waits for something else by now. Reload the page to see its open questions.",
  INTERRUPT_NOT_COVERED: "Every open question needs its answer in the same run. Reload the page to see all of them.",
  INTERRUPT_NOT_PROVEN:
    "The answer did not carry the proof that came with the question. Reload the page to get the question again.",
  INTERRUPT_PAYLOAD_REFUSED:
    "Nothing was delivered and the question is still open: change the answer and send it again.",
  THREAD_BUSY: "Another run is at work on this thread. Wait for it to end, then send the message again.",
  AGENT_FAILED: "The agent threw an error. Its server's log has the cause.",
  METHOD_NOT_ALLOWED: "The endpoint does not take runs. Check the endpoint this console was mounted with.",
  UNSUPPORTED_MEDIA_TYPE: "Something between the console and the agent changed the request. Check the proxy.",
  BODY_TOO_LARGE:
    "The conversation has grown larger than the server takes. Start a new thread, or raise limits.bodyBytes.",
  INVALID_JSON: "Something between the console and the agent changed the request. Check the proxy.",
  INVALID_INPUT: "The server does not take this run. The event log shows what was sent.",
  IDENTIFY_FAILED: "The server could not tell who is calling. Its log has the cause.",
  SERVER_CLOSING: "The server is closing or restarting. Try again in a moment.",
  CONNECTION_LOST:
    "What the agent was doing may have been stopped. Send the message again; a question that is still held for this browser comes back.",
  UNREACHABLE: "Check that the server is running and that its address is right, then send the message again.",
};

/** Codes after which the question is still open and may be answered once more. */
const STILL_OPEN = new Set([
  "INTERRUPT_NOT_OUTSTANDING",
  "INTERRUPT_NOT_COVERED",
  "INTERRUPT_NOT_PROVEN",
  "INTERRUPT_PAYLOAD_REFUSED",
  "THREAD_BUSY",
  "SERVER_CLOSING",
  "UNREACHABLE",
]);

export const isStillOpen = (code: string | undefined): boolean => code !== undefined && STILL_OPEN.has(code);

/** A failure as a notice. */
export function refusalNotice(code: string | undefined, message: string): Notice {
  return { tone: "error", code, message, advice: code === undefined ? undefined : ADVICE[code] };
}

/** What an error of the client means: an HTTP answer with our codes, a lost connection, or no server at all. */
export function failureNotice(error: unknown, started: boolean): Notice {
  const { payload, status } = (typeof error === "object" && error !== null ? error : {}) as {
    payload?: { error?: { code?: string; message?: string } } | string;
    status?: number;
  };
  if (typeof payload === "object" && typeof payload.error?.code === "string") {
    return refusalNotice(payload.error.code, payload.error.message ?? "The server refused the request.");
  }
  if (status !== undefined) {
    return refusalNotice(`HTTP_${status}`, `The server answered with HTTP ${status}, and not as an agent does.`);
  }
  return started
    ? refusalNotice("CONNECTION_LOST", "The connection was lost before the run had ended.")
    : refusalNotice("UNREACHABLE", "The agent could not be reached.");
}
