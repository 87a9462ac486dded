/** Streams written by hand, and what is expected of the checks of them. */
import { expect } from "vitest";
import { readFrames } from "../../src/testing/frames.ts";
import { type Invariant, InvariantError } from "../../src/testing/invariant-error.ts";
import { checkStream, type StreamExpectation } from "../../src/testing/invariants.ts";
import { checkWithClient } from "./client-check.ts";

export type Event = Record<string, unknown> & { type: string };

export const started = { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" };
export const finished = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
export const failed = { type: "RUN_ERROR", message: "It failed.", code: "AGENT_FAILED" };
export const event = (type: string, members: object = {}): Event => ({ type, ...members });
export const text = (what: "START" | "CONTENT" | "END", messageId = "m", members: object = {}) =>
  event(`TEXT_MESSAGE_${what}`, { messageId, ...(what === "CONTENT" && { delta: "Hi" }), ...members });
export const call = (what: "START" | "ARGS" | "END" | "RESULT", toolCallId = "c", members: object = {}) =>
  event(`TOOL_CALL_${what}`, {
    toolCallId,
    ...(what === "START" && { toolCallName: "book" }),
    ...(what === "ARGS" && { delta: "{}" }),
    ...(what === "RESULT" && { messageId: `result of ${toolCallId}`, content: "" }),
    ...members,
  });
export const step = (what: "STARTED" | "FINISHED", members: object = {}) =>
  event(`STEP_${what}`, { stepName: "s", ...members });
export const subagent = (what: "STARTED" | "FINISHED" | "ERROR", subagentRunId = "a", members: object = {}) =>
  event(`SUBAGENT_${what}`, {
    subagentRunId,
    ...(what === "STARTED" && { name: "Asker" }),
    ...(what === "ERROR" && { message: "It failed." }),
    ...members,
  });
export const of = (subagentRunId: string) => ({ subagentRunId });
export const interrupt = (id: string, members: object = {}) => ({
  id,
  reason: "human_input",
  message: "Sure?",
  ...members,
});
export const asks = (...interrupts: object[]) => ({ ...finished, outcome: { type: "interrupt", interrupts } });
export const run = (...events: Event[]): Event[] => [started, ...events, finished];

export const bodyOf = (events: readonly object[]) => events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
export const request = { threadId: "t", runId: "r" };

export function check(events: readonly object[], expected: Partial<StreamExpectation> = {}): void {
  checkStream(readFrames(bodyOf(events)).frames, { ...request, ...expected });
}

export function problem(events: readonly object[], expected: Partial<StreamExpectation> = {}): InvariantError {
  try {
    check(events, expected);
  } catch (error) {
    if (error instanceof InvariantError) return error;
    throw error;
  }
  throw new Error("The stream passed.");
}

/** The stream breaks this promise, in such words, at this event (the last one unless told otherwise). */
export function breaks(
  invariant: Invariant,
  words: string,
  events: readonly object[],
  index = events.length - 1,
): void {
  const error = problem(events);
  expect(error.message).toContain(words);
  expect(error).toMatchObject({ invariant, index });
}

/** The stream passes, and the reference client takes it without a word. */
export async function passes(events: readonly object[], expected: Partial<StreamExpectation> = {}): Promise<void> {
  check(events, expected);
  await checkWithClient(bodyOf(events), { ...request, messages: [] });
}
