/**
 * The one way by which tests post to a handler in process: `testAgent`, and every stream it gives
 * also has to leave the protocol's own client without a word, and nothing may be rejected unheard.
 */
import type { RunAgentInput } from "@ag-ui/core";
import { expect } from "vitest";
import type { Agent } from "../../src/index.ts";
import { type TestAgent, type TestAgentOptions, type TestRun, testAgent } from "../../src/testing/index.ts";
import { checkWithClient } from "./client-check.ts";
import { countStream } from "./count-streams.ts";

const unheard: unknown[] = [];
process.on("unhandledRejection", (error) => unheard.push(error));
process.on("uncaughtException", (error) => unheard.push(error));
const open: TestAgent[] = [];

/** Closes the agents of a test, and fails it when something was rejected unheard. */
export async function closeAgents(): Promise<void> {
  for (const agent of open.splice(0)) await agent.close();
  expect(unheard.splice(0)).toEqual([]);
}

/** Streams and inputs that were posted by other means pass the same checks. */
export async function checked(run: TestRun): Promise<TestRun> {
  await checkWithClient(run.raw, run.input as RunAgentInput);
  countStream();
  return run;
}

let wrap = (agent: Agent): Agent => agent;

/** For a file that runs tests of others: what it puts around every agent under test must not make a difference to them. */
export function wrapAgents(by: (agent: Agent) => Agent): void {
  wrap = by;
}

/** An agent that is closed after the test, and whose every stream is checked. */
export function agentUnderTest(agent: Agent | TestAgentOptions): TestAgent {
  const given = typeof agent === "function" ? { agent } : agent;
  const tested = testAgent({ ...given, agent: wrap(given.agent) });
  open.push(tested);
  return {
    ...tested,
    run: async (...given) => checked(await tested.run(...given)),
    answer: async (...given) => checked(await tested.answer(...given)),
    abandon: async (...given) => checked(await tested.abandon(...given)),
    resume: async (...given) => checked(await tested.resume(...given)),
  };
}
