/**
 * A click on a surface as the words of its user. It comes from the client, like all that a user says:
 * it grants nothing and answers no held question.
 */
import type { Message, RunAgentInput } from "@ag-ui/core";

interface UserAction {
  readonly name: string;
  readonly surfaceId?: unknown;
  readonly sourceComponentId?: unknown;
  readonly context?: unknown;
}

/** An input as its agent sees it. */
export interface Heard {
  readonly run: RunAgentInput;
  /** The click, in words; `undefined` without one. */
  readonly action: string | undefined;
}

/** So that whoever asks twice gets the same object. */
const heard = new WeakMap<RunAgentInput, Heard>();

/** The input with what was clicked behind its messages, as the user's. */
export function hear(run: RunAgentInput): Heard {
  const known = heard.get(run);
  if (known !== undefined) return known;
  const action = inWords(member(member(run.forwardedProps, "a2uiAction"), "userAction"));
  const said: Heard = { run: action === undefined ? run : withWords(run, action), action };
  heard.set(run, said);
  return said;
}

function withWords(run: RunAgentInput, content: string): RunAgentInput {
  const said = { id: `a2ui_action_${run.runId}`, role: "user" as const, content };
  return { ...run, messages: [...unlogged(run.messages), said] };
}

/** The messages without the call, and its result, by which CopilotKit's middleware tells of a click: it is told once. */
function unlogged(messages: readonly Message[]): readonly Message[] {
  const [call, result] = messages.slice(-2);
  if (call?.role !== "assistant" || result?.role !== "tool") return messages;
  const [logged, ...others] = call.toolCalls ?? [];
  const isLog = logged?.function.name === "log_a2ui_event" && logged.id === result.toolCallId && others.length === 0;
  return isLog ? messages.slice(0, -2) : messages;
}

/** What a client forwards may be anything: `undefined` for what is no click. */
function inWords(action: unknown): string | undefined {
  const name = member(action, "name");
  if (typeof name !== "string" || name === "") return undefined;
  const { surfaceId, sourceComponentId, context = {} } = action as UserAction;
  const surface = typeof surfaceId === "string" ? ` on surface ${JSON.stringify(surfaceId)}` : "";
  const component = typeof sourceComponentId === "string" ? ` (component: ${JSON.stringify(sourceComponentId)})` : "";
  return `User performed action ${JSON.stringify(name)}${surface}${component}. Context: ${JSON.stringify(context)}`;
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
