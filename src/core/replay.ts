/**
 * Earlier runs of the thread, restated on a stream before the run that was asked for (AG-UI lifecycle, several
 * runs on one stream). Every event passes what the turn's own events pass; all of it is read before any of it is written.
 */
import { PROTOCOL_VERSION, type RunAgentInput, type RunFinishedOutcome } from "@ag-ui/core";
import type { AgentEvent } from "./agent.ts";
import type { JsonValue } from "./answer-schema.ts";
import { CANCELLED, type Ending, lastEvent, success, withPending } from "./ending.ts";
import { refuse } from "./errors.ts";
import { frame, isTooLong } from "./frames.ts";
import { nobody, type Sink } from "./kept-events.ts";
import type { Output } from "./output.ts";

/** An earlier run of the thread, for `context.replay`. */
export interface ReplayedRun {
  /** Its own id: neither that of the run that was asked for nor that of another one replayed. */
  runId: string;
  /** The run that started it, where it was one of an agent's own. */
  parentRunId?: string;
  /**
   * What it showed, in order; its two ends are written. A message that the client has already is restated in a
   * MESSAGES_SNAPSHOT, never streamed again: it would be appended to itself, so it is refused.
   */
  events: readonly AgentEvent[];
  /** How it finished. Default: as a success. */
  outcome?: RunFinishedOutcome;
  /** Its result, if it had one. */
  result?: JsonValue;
  /** How it failed, in place of an outcome. */
  error?: { message: string; code?: string };
}

const SUCCESS: RunFinishedOutcome = { type: "success" };

/**
 * Reads the runs through an output that has seen nothing yet, and that serves the turn afterwards. The
 * frames are for whoever writes them. @throws EventRefusedError, and then the output is spent.
 */
export function replayed(runs: readonly ReplayedRun[], input: RunAgentInput, output: Output): string[] {
  const frames: string[] = [];
  const sink: Sink = { ...nobody, write: (text) => frames.push(text) };
  const taken = new Set([input.runId]);
  const { threadId } = input;
  output.attach(sink, input);
  for (const { runId, parentRunId, events, error, result, outcome } of runs) {
    if (typeof runId !== "string" || taken.has(runId))
      refuse(`replay: ${inWords(runId)} is no runId of a run of its own.`);
    taken.add(runId);
    const parent = optional(parentRunId, "parentRunId");
    const started = { type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION, parentRunId: parent };
    frames.push(frame(started));
    for (const event of events) output.send(event);
    const ending =
      (error ?? undefined) === undefined ? finished(outcome ?? SUCCESS, result, output) : failed(error as object);
    // RUN_ERROR ends whatever is open.
    const unanswered = output.endRestated("error" in ending ? nobody : sink);
    frames.push(frame(lastEvent(withPending(ending, unanswered), { threadId, runId })));
  }
  if (frames.some(isTooLong)) refuse("replay: a run's end is longer than a frame may be.");
  return frames;
}

/** A run's own members come from wherever it was kept: what is `null` there was not said (AG-UI: omitted, never null). */
function optional(value: unknown, member: string): string | undefined {
  if (value !== undefined && value !== null && typeof value !== "string") refuse(`replay: ${member} is no string.`);
  return (value ?? undefined) as string | undefined;
}

function failed({ message, code }: { message?: unknown; code?: unknown }): Ending {
  const known = optional(code, "error.code");
  return { error: { message: String(message), ...(known === undefined ? {} : { code: known }) } };
}

/** The start of what it says of itself: it may be long. */
const inWords = (value: unknown): string => String(JSON.stringify(value)).slice(0, 100);

function finished(outcome: RunFinishedOutcome, result: JsonValue | undefined, output: Output): Ending {
  switch (outcome.type) {
    case "success":
      return success(result);
    case "cancelled":
      return CANCELLED;
    case "interrupt":
      return { outcome: { type: "interrupt", interrupts: output.interrupts(outcome.interrupts) } };
    default:
      return refuse("replay: an outcome is success, interrupt or cancelled.");
  }
}
