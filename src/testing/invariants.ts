/**
 * Whether a body keeps the promises INV-1 to INV-5. It is given the frames of one answer and what
 * the request asked for, and knows nothing of the server: any AG-UI 1.0 producer can be held to it.
 */
import { PROTOCOL_VERSION } from "@ag-ui/core";
import { problemOfShape } from "./event-shape.ts";
import type { WireEvent } from "./frames.ts";
import { type Invariant, InvariantError } from "./invariant-error.ts";
import { RunItems } from "./run-items.ts";

/** What the stream is held against. */
export interface StreamExpectation {
  /** The request's `threadId`. */
  readonly threadId: string;
  /** The request's `runId`. */
  readonly runId: string;
  /**
   * The ids of all interrupts seen so far, of whatever threads: none may come again, and those of this
   * stream are added. Absent: ids are only compared within the stream.
   */
  readonly seenInterruptIds?: Set<string> | undefined;
  /** The run asks the questions of an earlier one again: then every id has to be in `seenInterruptIds`. Default `false`. */
  readonly redelivered?: boolean | undefined;
  /**
   * The stream may replay earlier runs of the thread, under their own run ids, before the requested one. Default `false`:
   * one run and nothing else.
   */
  readonly replay?: boolean | undefined;
  /** The run may fail after it has finished: one RUN_ERROR may follow its RUN_FINISHED, and ends the stream. Default `false`. */
  readonly lateError?: boolean | undefined;
}

type Fail = (invariant: Invariant, problem: string) => never;

/** What one run is checked against. */
interface RunExpectation extends StreamExpectation {
  /** Whether it is the run that was asked for, not one that is replayed. */
  readonly requested: boolean;
}

/**
 * Checks a whole answer. A lone RUN_ERROR (a refusal) is one, and a RUN_ERROR leaves open what it likes.
 * @throws InvariantError at the first promise that is broken.
 */
export function checkStream(frames: ReadonlyArray<{ readonly event: WireEvent }>, expected: StreamExpectation): void {
  const events = frames.map((frame) => frame.event);
  const types = events.map((event) => String(event?.type));
  let index = 0;
  const fail: Fail = (invariant, problem) => {
    throw new InvariantError(invariant, index, problem, types);
  };
  if (events.length === 0) fail("INV-1", "the stream has no event");

  // A refusal: the one stream in which no run begins.
  const isLoneError = types.length === 1 && types[0] === "RUN_ERROR";
  const last = types.lastIndexOf("RUN_STARTED");
  let run: OpenRun | undefined;
  for (const event of events) {
    checkShape(event, fail);
    if (isLoneError) return;
    if (expected.lateError === true && isLateError(types, index)) return;
    if (run === undefined) {
      mustBegin(event, index, expected, fail);
      run = beginRun(event, { ...expected, requested: index === last }, fail);
    } else if (run.take(event)) {
      run = undefined;
    }
    index += 1;
  }
  index -= 1;
  if (run !== undefined) fail("INV-1", "the stream ends without a terminating event");
}

/** Whether the event is the one that may follow a run that has finished, as the stream's last. */
const isLateError = (types: readonly string[], index: number): boolean =>
  index === types.length - 1 && types[index] === "RUN_ERROR" && types[index - 1] === "RUN_FINISHED";

function checkShape(event: WireEvent, fail: Fail): void {
  // Ahead of the validators, which have no name for the promise.
  if (event.type === "RUN_FINISHED" && event.outcome?.type === "interrupt" && event.outcome.interrupts?.length === 0) {
    fail("INV-5", "the interrupt outcome has no interrupt");
  }
  const problem = problemOfShape(event);
  if (problem !== undefined) fail("INV-4", problem);
}

/** Fails unless this event may be the first of a run. */
function mustBegin(event: WireEvent, index: number, expected: StreamExpectation, fail: Fail): void {
  if (event.type !== "RUN_STARTED") {
    fail(
      "INV-1",
      index === 0 ? "the stream does not begin with RUN_STARTED" : `${event.type} follows the terminating event`,
    );
  }
  if (index > 0 && expected.replay !== true) fail("INV-1", "a second run follows the terminating event");
}

interface OpenRun {
  /** Takes the next event; whether it ended the run. */
  take(event: WireEvent): boolean;
}

function beginRun(started: WireEvent, expected: RunExpectation, fail: Fail): OpenRun {
  checkIds(started, started, expected, fail);
  // A replayed run may have been another version's; what is live speaks one.
  if (expected.requested && started.protocolVersion !== PROTOCOL_VERSION) {
    fail("INV-1", `RUN_STARTED declares the protocol version ${started.protocolVersion}, not ${PROTOCOL_VERSION}`);
  }
  const items = new RunItems((problem) => fail("INV-2", problem));
  items.recall(started.input?.messages);

  return {
    take(event) {
      switch (event.type) {
        case "RUN_STARTED":
          return fail("INV-1", "a run begins while another is open");
        case "RUN_ERROR":
          return true;
        case "RUN_FINISHED":
          items.mustBeClosed();
          checkIds(event, started, expected, fail);
          checkPending(event, items, fail);
          checkInterrupts(event, items, expected, fail);
          return true;
        default:
          items.take(event);
          return false;
      }
    },
  };
}

function checkIds(event: WireEvent, started: WireEvent, expected: RunExpectation, fail: Fail): void {
  const runId = expected.requested ? expected.runId : started.runId;
  mustBe(event.threadId, expected.threadId, `${event.type}.threadId`, fail);
  mustBe(event.runId, runId, `${event.type}.runId`, fail);
  if (event.input === undefined) return;
  mustBe(event.input.threadId, expected.threadId, `${event.type}.input.threadId`, fail);
  mustBe(event.input.runId, runId, `${event.type}.input.runId`, fail);
}

function mustBe(found: string, wanted: string, what: string, fail: Fail): void {
  if (found !== wanted) fail("INV-3", `${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}

function checkPending(finished: WireEvent, items: RunItems, fail: Fail): void {
  const named: string[] | undefined = finished.outcome?.pendingToolCallIds;
  if (named === undefined) return;
  const pending = items.unanswered;
  if (named.length === pending.length && pending.every((id, at) => named[at] === id)) return;
  fail(
    "INV-2",
    `pendingToolCallIds is ${JSON.stringify(named)}, but the calls without a result are ${JSON.stringify(pending)}`,
  );
}

function checkInterrupts(finished: WireEvent, items: RunItems, expected: RunExpectation, fail: Fail): void {
  const interrupts: WireEvent[] = finished.outcome?.type === "interrupt" ? finished.outcome.interrupts : [];
  const ids = new Set<string>();
  for (const { id, toolCallId, subagentRunId } of interrupts) {
    if (ids.has(id)) fail("INV-5", `two interrupts have the id ${JSON.stringify(id)}`);
    ids.add(id);
    if (toolCallId !== undefined && items.answered(toolCallId)) {
      fail(
        "INV-5",
        `the interrupt ${JSON.stringify(id)} is about the tool call ${JSON.stringify(toolCallId)}, which has its result`,
      );
    }
    const end = subagentRunId === undefined ? undefined : items.endOf(subagentRunId);
    if (end !== undefined && end !== "suspended") {
      fail(
        "INV-5",
        `the interrupt ${JSON.stringify(id)} is of the subagent ${JSON.stringify(subagentRunId)}, which ended as ${end}`,
      );
    }
  }
  checkSuspended(interrupts, items, fail);
  if (expected.requested) checkSeen(ids, expected, fail);
}

/** A suspended subagent names interrupts that it raised itself, or none. */
function checkSuspended(interrupts: readonly WireEvent[], items: RunItems, fail: Fail): void {
  for (const [subagentRunId, waitsFor] of items.suspendedOn) {
    for (const id of waitsFor) {
      const interrupt = interrupts.find((candidate) => candidate.id === id);
      if (interrupt !== undefined && interrupt.subagentRunId === subagentRunId) continue;
      fail(
        "INV-5",
        `the subagent ${JSON.stringify(subagentRunId)} is suspended on ${JSON.stringify(id)}, which is no interrupt of its own`,
      );
    }
  }
}

function checkSeen(ids: ReadonlySet<string>, expected: RunExpectation, fail: Fail): void {
  const seen = expected.seenInterruptIds;
  if (seen === undefined) return;
  for (const id of ids) {
    const wanted = expected.redelivered === true;
    if (seen.has(id) !== wanted) {
      fail("INV-5", `the interrupt id ${JSON.stringify(id)} ${wanted ? "was never issued" : "has been used before"}`);
    }
  }
  for (const id of ids) seen.add(id);
}
