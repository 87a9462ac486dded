/**
 * Steps and subagents: what begins and ends around a function, however that ends. Where the turn was
 * stopped or has ended meanwhile, whoever ended it has closed them.
 */
import type { SubagentRequest } from "./agent.ts";
import { wordsOf } from "./ending.ts";
import { attempt } from "./handled.ts";
import type { Voice } from "./voice.ts";

export function runStep<R>(voice: Voice, stepName: string, run: () => R | PromiseLike<R>): Promise<R> {
  return attempt(async () => {
    voice.check();
    voice.begin({ type: "STEP_STARTED", stepName });
    try {
      return await run();
    } finally {
      if (voice.turn.standing.emitRefusal === undefined) {
        voice.close();
        voice.send({ type: "STEP_FINISHED", stepName });
      }
    }
  });
}

/** Announces the subagent that `voice` speaks for, and runs it. */
export function runSubagent<R>(
  parent: Voice,
  voice: Voice,
  announced: SubagentRequest & { parentSubagentRunId: string | undefined },
  run: () => R | PromiseLike<R>,
): Promise<R> {
  const subagentRunId = voice.owner as string;
  const finish = (end: { type: string; message?: string }) => {
    if (voice.turn.standing.emitRefusal !== undefined) return;
    voice.close();
    voice.turn.output.send({ ...end, subagentRunId });
  };
  return attempt(async () => {
    parent.check();
    const { ledger } = parent.turn.output;
    parent.begin(ledger.parented({ type: "SUBAGENT_STARTED", ...announced, subagentRunId }));
    try {
      const result = await run();
      finish({ type: "SUBAGENT_FINISHED" });
      return result;
    } catch (error) {
      finish({ type: "SUBAGENT_ERROR", message: wordsOf(error, "The subagent failed.") });
      throw error;
    }
  });
}
