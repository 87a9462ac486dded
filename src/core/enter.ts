/**
 * Enters an agent's function, whichever of its forms it has, and gives one promise for its end.
 */
import type { Agent, AgentContext, AgentEvent } from "./agent.ts";
import { attempt } from "./handled.ts";

/**
 * @param onGenerator is given what leaves a generator when its turn is stopped: at a `yield` at once, elsewhere
 * as soon as what it waits for has settled.
 */
export function enter(agent: Agent, context: AgentContext, onGenerator: (leave: () => void) => void): Promise<unknown> {
  // No async function: its frame would be kept, for nothing, as long as the turn is held.
  try {
    const work = agent(context);
    if (!isGenerator(work)) return Promise.resolve(work);
    // An iterator that only looks like a generator may have no `return`, or one that throws: its turn stops all the same.
    onGenerator(() => void attempt(async () => work.return(undefined)));
    return drive(work, context);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Sends what a generator yields; a refused event is thrown in where it was yielded. */
async function drive(generator: AsyncGenerator<AgentEvent, unknown>, context: AgentContext): Promise<unknown> {
  let step = await generator.next();
  while (!step.done) {
    let refused: { error: unknown } | undefined;
    try {
      await context.emit(step.value);
    } catch (error) {
      refused = { error };
    }
    step = refused === undefined ? await generator.next() : await generator.throw(refused.error);
  }
  return step.value;
}

function isGenerator(value: unknown): value is AsyncGenerator<AgentEvent, unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}
