/**
 * Turn control: results that end the turn, and the tool by which the model itself ends it with a
 * question to the user.
 */
import { jsonSchema, type Tool, tool } from "ai";
import { PublicError } from "../../index.ts";
import type { Termination } from "./batch.ts";

/** The tool's name, as the model and the wire have it. */
export const REQUEST_INPUT = "request_input";

const LONGEST_PROMPT = 2000;

const DESCRIPTION = `Ask the user a question and end your turn. The user's reply arrives as their next message, and you go on from there.
Use it when you cannot go on without something only the user can tell: a choice between options, a detail that is missing, a request that can be read in more than one way. Ask for one thing at a time, in words the user can answer without knowing what you are doing.
Do not use it for what you can find out or decide yourself or with another tool, to report what you have done, or to have an action permitted: a reply to it is not an approval.`;

/** What `reason` is told to be. It goes to the application's own records and nowhere else. */
const REASON = "Why you need to ask, for the operator's records. The user never sees it.";

export const requestInput = (description: string = DESCRIPTION): Tool =>
  tool({
    description,
    // Without a validation of its own: what is wrong is said below, in words that quote nothing.
    inputSchema: jsonSchema<{ prompt?: unknown; reason?: unknown }>({
      type: "object",
      properties: {
        prompt: {
          type: "string",
          minLength: 1,
          maxLength: LONGEST_PROMPT,
          description: "The question, as the user reads it.",
        },
        reason: { type: "string", description: REASON },
      },
      required: ["prompt"],
      additionalProperties: false,
    }),
    execute: (given) => {
      // Whatever JSON the model wrote: a whole null too.
      const { prompt, reason } = given ?? {};
      const message = typeof prompt === "string" ? prompt.trim() : "";
      if (!isPrompt(message)) throw new PublicError(PROMPT_WRONG);
      return {
        content: message,
        terminate: { status: "input-required", message, ...(typeof reason === "string" ? { reason } : {}) },
      };
    },
  });

const PROMPT_WRONG = `\`prompt\` must be a text of 1 to ${LONGEST_PROMPT} characters.`;

/** What the wire is told of arguments that could not even be read. */
export const ARGUMENTS_WRONG = `The arguments were not JSON. ${PROMPT_WRONG}`;

const isPrompt = (message: string): boolean => message.length >= 1 && message.length <= LONGEST_PROMPT;

/** The arguments as the wire may show them: the question, without what else the model wrote. */
export function shownArgs(args: string): string {
  try {
    const { prompt } = JSON.parse(args) as { prompt?: unknown };
    return JSON.stringify(typeof prompt === "string" ? { prompt } : {});
  } catch {
    return "{}";
  }
}

/** A tool's result, and what of it ends the turn. */
export interface ReadResult {
  readonly content: unknown;
  readonly termination: Termination | undefined;
  /** Why what looks like an ending is none. */
  readonly ignored: string | undefined;
}

/** Reads a result: `{ content, terminate: { status, message } }` ends the turn, anything else is just a result. */
export function readResult(result: unknown): ReadResult {
  if (typeof result !== "object" || result === null || !Object.hasOwn(result, "terminate"))
    return { content: result, termination: undefined, ignored: undefined };
  const { terminate } = result as { terminate: unknown };
  const termination = readTermination(terminate);
  const without = Object.hasOwn(result, "content") ? (result as { content: unknown }).content : undefined;
  if (typeof termination !== "string")
    return { content: without ?? termination.message, termination, ignored: undefined };
  return { content: without ?? result, termination: undefined, ignored: termination };
}

function readTermination(given: unknown): Termination | string {
  if (typeof given !== "object" || given === null) return "it is no object";
  const { status, message, reason } = given as Record<string, unknown>;
  if (status !== "input-required" && status !== "completed")
    return 'its status is neither "input-required" nor "completed"';
  const text = typeof message === "string" ? message.trim() : "";
  if (text === "" || (status === "input-required" && !isPrompt(text)))
    return `its message is not a text of 1 to ${LONGEST_PROMPT} characters`;
  return { status, message: text, ...(typeof reason === "string" ? { reason } : {}) };
}
