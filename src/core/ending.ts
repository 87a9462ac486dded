/**
 * How a run ends, but for its ids.
 */
import type { Interrupt } from "@ag-ui/core";
import type { InputRequired } from "./agent.ts";
import { AGENT_FAILED, type HoldlineError, PromptInvalidError, PublicError } from "./errors.ts";
import { isTooLong } from "./frames.ts";
import type { WireEvent } from "./items.ts";

export type Ending =
  | { readonly outcome: { type: "success"; pendingToolCallIds?: string[] }; readonly result?: unknown }
  | { readonly outcome: { type: "interrupt"; interrupts: Interrupt[] } }
  | { readonly outcome: { type: "cancelled" } }
  | { readonly error: { message: string; code?: string } };

export const CANCELLED: Ending = { outcome: { type: "cancelled" } };

/** A success names the calls that are left to others; no other ending does. */
export const withPending = (ending: Ending, pendingToolCallIds: string[]): Ending =>
  "outcome" in ending && ending.outcome.type === "success" && pendingToolCallIds.length > 0
    ? { ...ending, outcome: { type: "success", pendingToolCallIds } }
    : ending;

/** The event a run ends with. */
export const lastEvent = (ending: Ending, ids: { threadId: string; runId: string }): WireEvent =>
  "error" in ending ? { type: "RUN_ERROR", ...ending.error } : { type: "RUN_FINISHED", ...ids, ...ending };

/** A function's result as the run's. @throws for what JSON cannot say (a BigInt, a cycle), or not in one frame. */
export function success(result: unknown): Ending {
  const text = JSON.stringify(result);
  if (text !== undefined && isTooLong(text)) throw new RangeError("The agent's result is longer than a frame may be.");
  // A whole `null` is no result (AG-UI: optional members are omitted, never null).
  // Read back: what is sent later is what was tried here, whatever a getter or `toJSON` would say the second time.
  return text === undefined || text === "null"
    ? { outcome: { type: "success" } }
    : { outcome: { type: "success" }, result: JSON.parse(text) };
}

/** In UTF-16 units: an error's own words that are longer say no more than none. */
const LONGEST_WORDS = 256 * 1024;

const isPublic = (error: unknown): error is PublicError => error instanceof PublicError;

/** What the client is told of an error: its own words only where they are meant for it, else `otherwise`. */
export const wordsOf = (error: unknown, otherwise: string, isMeant: IsMeant = isPublic): string =>
  told(error, "message", otherwise, isMeant);

type IsMeant = (error: unknown) => error is HoldlineError;

/** How a run ends whose function threw. */
export const failure = (error: unknown): Ending => ({
  error: { message: wordsOf(error, "The agent failed."), code: told(error, "code", AGENT_FAILED, isPublic) },
});

function told(error: unknown, member: "message" | "code", otherwise: string, isMeant: IsMeant): string {
  try {
    return isMeant(error) && error[member].length <= LONGEST_WORDS ? error[member] : otherwise;
  } catch {
    // What was thrown may itself throw when it is looked at (a proxy).
    return otherwise;
  }
}

const LONGEST_PROMPT = 2000;

/** The result that turn control decides, its prompt trimmed once. @throws PromptInvalidError */
export function inputRequired(prompt: unknown): InputRequired {
  const message = typeof prompt === "string" ? prompt.trim() : "";
  if (message.length === 0 || message.length > LONGEST_PROMPT) throw new PromptInvalidError();
  return { status: "input-required", message };
}
