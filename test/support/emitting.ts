/** Agents that emit a list of events, for tests of what may go out. */
import type { AgentContext, AgentEvent } from "../../src/index.ts";
import type { TestAgent, TestAgentOptions, TestRun, TestRunOptions } from "../../src/testing/index.ts";
import { agentUnderTest } from "./agent-under-test.ts";

type Emitted = Record<string, unknown> & { type: string };

export interface Emitting extends TestAgent {
  /** What the agent was told of the events that were refused, in order; the others went on. */
  readonly refused: string[];
}

/** Emits events one after another; what is refused is noted, and the next is tried. `then` does the rest of the turn. */
export function emitting(
  events: readonly Emitted[],
  then: (context: AgentContext) => unknown = () => {},
  options: Omit<TestAgentOptions, "agent"> = {},
): Emitting {
  const refused: string[] = [];
  const agent = agentUnderTest({
    ...options,
    agent: async (context) => {
      for (const event of events) {
        await context.emit(event as unknown as AgentEvent).catch((error: Error) => refused.push(error.message));
      }
      return then(context);
    },
  });
  return { ...agent, refused };
}

/** A run of an agent that emits these, and what was refused of them. */
export async function emit(
  events: readonly Emitted[],
  input: Parameters<TestAgent["run"]>[0] = "Go",
  options?: TestRunOptions,
): Promise<{ run: TestRun; refused: string[]; warned: string[] }> {
  const agent = emitting(events);
  const run = await agent.run(input, options);
  return { run, refused: agent.refused, warned: agent.warnings.map(({ code }) => code) };
}

/** An event with fewer words: `an("STEP_STARTED", { stepName: "s" })`. */
export const an = (type: string, members: object = {}): Emitted => ({ type, ...members });

export const text = (what: "START" | "CONTENT" | "END" | "CHUNK", messageId = "m", members: object = {}): Emitted =>
  an(`TEXT_MESSAGE_${what}`, { messageId, ...(what === "CONTENT" && { delta: "Hi" }), ...members });

export const call = (what: "START" | "ARGS" | "END" | "RESULT", toolCallId = "c", members: object = {}): Emitted =>
  an(`TOOL_CALL_${what}`, {
    toolCallId,
    ...(what === "START" && { toolCallName: "book" }),
    ...(what === "ARGS" && { delta: "{}" }),
    ...(what === "RESULT" && { messageId: `result of ${toolCallId}`, content: "done" }),
    ...members,
  });

/** What a run shows between its two ends: the types, without `RUN_STARTED` and `RUN_FINISHED`. */
export const shown = ({ events }: Pick<TestRun, "events">): string[] => events.slice(1, -1).map(({ type }) => type);
