/**
 * How a run ends, but for its ids.
 */
import type { Interrupt } from "@ag-ui/core";
import type { InputRequired } from "./agent.ts";
import { AGENT_FAILED, PromptInvalidError, PublicError } from "./errors.ts";

export type Ending =
  | { readonly outcome: { type: "success"; pendingToolCallIds?: string[] }; readonly result?: unknown }
  | { readonly outcome: { type: "interrupt"; interrupts: Interrupt[] } }
  | { readonly outcome: { type: "cancelled" } }
  | { readonly error: { message: string; code: string } };

export const CANCELLED: Ending = { outcome: { type: "cancelled" } };

/** A function's result as the run's. @throws what JSON cannot say (a BigInt, a cycle). */
export function success(result: unknown): Ending {
  const text = JSON.stringify(result);
  // A whole `null` is no result (AG-UI: optional members are omitted, never null).
  // Read back: what is sent later is what was tried here, whatever a getter or `toJSON` would say the second time.
  return text === undefined || text === "null"
    ? { outcome: { type: "success" } }
    : { outcome: { type: "success" }, result: JSON.parse(text) };
}

/** What the client is told of an error: its own words only where they are meant for it. */
export function failure(error: unknown): Ending {
  const { message, code } = error instanceof PublicError ? error : { message: "The agent failed.", code: AGENT_FAILED };
  return { error: { message, code } };
}

const LONGEST_PROMPT = 2000;

/** The result that turn control decides, its prompt trimmed once. @throws PromptInvalidError */
export function inputRequired(prompt: unknown): InputRequired {
  const message = typeof prompt === "string" ? prompt.trim() : "";
  if (message.length === 0 || message.length > LONGEST_PROMPT) throw new PromptInvalidError();
  return { status: "input-required", message };
}
