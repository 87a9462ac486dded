/** One run through the client, from the request to how it ended, whatever way that was. */
import type { BaseEvent, HttpAgent, Interrupt, RunAgentParameters } from "@ag-ui/client";
import { failureNotice, refusalNotice } from "./refusals.ts";
import type { Notice } from "./transcript.ts";

/** How a run ended. */
export interface Ended {
  /** Whether the server took it: a refused run never starts. */
  readonly started: boolean;
  /** What the human must be told: a refusal, a failure, a cancellation. */
  readonly notice?: Notice;
  /** The questions it ended with. */
  readonly interrupts?: readonly Interrupt[];
  /** What it gave, of a run that succeeded. */
  readonly result?: unknown;
}

/** Never rejects. `hear` is told every event before `Ended` is known. */
export async function runOnce(
  agent: HttpAgent,
  parameters: RunAgentParameters,
  hear: (event: BaseEvent) => void,
): Promise<Ended> {
  let started = false;
  let ending: Omit<Ended, "started"> | undefined;
  let failure: unknown;
  // The page knows what is open; the client's own list would refuse to go on past what has expired meanwhile.
  agent.pendingInterrupts = [];
  try {
    await agent.runAgent(parameters, {
      onEvent: ({ event }) => {
        started ||= String(event.type) === "RUN_STARTED";
        ending ??= endingOf(event);
        hear(event);
      },
    });
  } catch (error) {
    failure = error;
  }
  if (ending !== undefined) return { started, ...ending };
  const stopped: Notice = { tone: "info", code: undefined, message: "You stopped the run.", advice: undefined };
  return { started, notice: agent.abortController.signal.aborted ? stopped : failureNotice(failure, started) };
}

function endingOf(event: BaseEvent): Omit<Ended, "started"> | undefined {
  const fields = event as BaseEvent & { code?: string; message?: string; outcome?: unknown; result?: unknown };
  if (String(event.type) === "RUN_ERROR") return { notice: refusalNotice(fields.code, String(fields.message)) };
  if (String(event.type) !== "RUN_FINISHED") return undefined;
  const { type, interrupts = [] } = (fields.outcome ?? { type: "success" }) as {
    type: string;
    interrupts?: Interrupt[];
  };
  if (type === "interrupt") return { interrupts };
  if (type !== "cancelled") return { result: fields.result };
  return { notice: { tone: "info", code: undefined, message: "The turn was cancelled.", advice: undefined } };
}
