/**
 * What one answer of a handler was, read as strictly as a test wants it and put the way a test asks
 * for it: the text, the questions, the result, the state.
 */
import type { Interrupt, RunAgentInput, RunFinishedOutcome } from "@ag-ui/core";
import jsonPatch from "fast-json-patch";
import { RequestError, RequestErrorCode } from "../index.ts";
import { type Frames, frameReader, type WireEvent } from "./frames.ts";

/** One run, as its client saw it. */
export interface TestRun {
  /** Every event, in order. */
  readonly events: WireEvent[];
  /** All assistant text of the run, joined; `""` without any. */
  readonly text: string;
  /** The questions the run ended with; empty unless its outcome is `interrupt`. */
  readonly interrupts: Interrupt[];
  /** `RUN_FINISHED.result`, `undefined` when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: it is whatever the agent returned, and the test knows what that was.
  readonly result: any;
  /** How the run finished, `{ type: "success" }` where RUN_FINISHED does not say; `undefined` when it failed or was refused. */
  readonly outcome: RunFinishedOutcome | undefined;
  /** The RUN_ERROR of a run that failed or was refused. */
  readonly error:
    | { readonly message: string; readonly code?: string; readonly metadata?: Record<string, unknown> }
    | undefined;
  /** The state as its client holds it afterwards: the input's (`{}` without one), changed by snapshots and deltas. */
  // biome-ignore lint/suspicious/noExplicitAny: it is whatever the agent made it, and the test knows what that was.
  readonly state: any;
  /** The body as it was sent. */
  readonly raw: string;
  /** The input as it was sent. */
  readonly input: RunAgentInput;
}

/** The frames of a stream. @throws RequestError for a request that was refused as one, Error for any other answer that is no stream. */
export async function readAnswer(response: Response, signal: AbortSignal | undefined): Promise<Frames> {
  if (
    response.status !== 200 ||
    response.headers.get("content-type") !== "text/event-stream" ||
    response.body === null
  ) {
    throw errorOf(response.status, await response.text());
  }
  const reader = frameReader(response.body);
  const leave = () => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", leave, { once: true });
  try {
    if (signal?.aborted) leave();
    const frames = await reader.rest();
    // As `fetch` has it: whoever left is told why, not what a cut stream looks like.
    signal?.throwIfAborted();
    return { frames, comments: reader.comments };
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

function errorOf(status: number, body: string): Error {
  const { error } = parseOr(body, {});
  if (error?.code in RequestErrorCode) {
    return new RequestError(error.code, error.message, error.issues === undefined ? {} : { issues: error.issues });
  }
  return new Error(`The request was answered with ${status}: ${body}`);
}

// biome-ignore lint/suspicious/noExplicitAny: a body that may be anything.
function parseOr(json: string, otherwise: any): any {
  try {
    return JSON.parse(json) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** What the frames, which have passed the checks, come to. @throws Error when a delta does not apply to the state its client has by then. */
export function readRun({ frames, comments }: Frames, input: RunAgentInput): TestRun {
  const events = frames.map((frame) => frame.event);
  const last = events.at(-1) as WireEvent;
  const outcome: RunFinishedOutcome | undefined =
    last.type === "RUN_FINISHED" ? (last.outcome ?? { type: "success" }) : undefined;
  const blocks = frames.map((frame) => frame.raw);
  // Backwards: what is put in does not move what comes before.
  for (const comment of comments.toReversed()) blocks.splice(comment.after, 0, comment.raw);
  return {
    events,
    text: textOf(events),
    interrupts: outcome?.type === "interrupt" ? outcome.interrupts : [],
    result: last.result,
    outcome,
    error: last.type === "RUN_ERROR" ? (last as WireEvent & { message: string }) : undefined,
    state: stateOf(events, input.state ?? {}),
    raw: blocks.join(""),
    input,
  };
}

function textOf(events: readonly WireEvent[]): string {
  const roles = new Map<string, string>();
  let chunked = "";
  let text = "";
  for (const { type, messageId, role, delta } of events) {
    const chunk = type === "TEXT_MESSAGE_CHUNK";
    if (chunk && messageId !== undefined) chunked = messageId;
    const id: string = chunk ? chunked : messageId;
    // Where an item is reopened its role is the same, and an absent one is the assistant's.
    if ((chunk || type === "TEXT_MESSAGE_START") && !roles.has(id)) roles.set(id, role ?? "assistant");
    if ((chunk || type === "TEXT_MESSAGE_CONTENT") && roles.get(id) === "assistant") text += delta ?? "";
  }
  return text;
}

function stateOf(events: readonly WireEvent[], given: unknown): unknown {
  let state = given;
  for (const [index, event] of events.entries()) {
    if (event.type === "STATE_SNAPSHOT") state = event.snapshot;
    else if (event.type === "STATE_DELTA") state = patched(state, event, index);
  }
  return state;
}

function patched(state: unknown, event: WireEvent, index: number): unknown {
  try {
    // Validated, and not in place: the input is the test's.
    return jsonPatch.applyPatch(state, event.delta, true, false).newDocument;
  } catch (cause) {
    const shown = `${JSON.stringify(event.delta)} to ${JSON.stringify(state)}`;
    throw new Error(`The STATE_DELTA at ${index} does not apply: ${shown}`, { cause });
  }
}
