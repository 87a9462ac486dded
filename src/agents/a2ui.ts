/**
 * An agent whose text may hold A2UI surfaces, for clients that render them (CopilotKit's do): its
 * `<a2ui-json>` blocks become an activity, and a click on a surface its user's input.
 *
 * @module
 */
import type { Agent, AgentEvent } from "../index.ts";
import { wrapTurn } from "./a2ui/context.ts";

/**
 * Wraps an agent. What it puts between `<a2ui-json>` and `</a2ui-json>` in its text, as one A2UI 0.9 operation or a
 * list of them, is taken out and sent as an `ACTIVITY_SNAPSHOT`, `activityType: "a2ui-surface"`, `content: { a2ui_operations }`.
 * A turn has one such message; each further block sends it again, with all operations so far. A block that cannot be
 * shown is left out and told to `onWarning` as `A2UI_BLOCK_DROPPED`: it never stays in the text.
 *
 * A click (`forwardedProps.a2uiAction.userAction`) is the last user message of the input, in words. It comes from the
 * client: it grants nothing and answers no held question. Everything else is the agent's, exactly as without this.
 */
export function a2uiAgent(agent: Agent): Agent {
  const serve: Agent = (given) => {
    const { context, end } = wrapTurn(given);
    let work: ReturnType<Agent>;
    try {
      work = agent(context);
    } catch (error) {
      end();
      throw error;
    }
    if (isGenerator(work)) return emitting(work, context.emit, end);
    return Promise.resolve(work).finally(end);
  };
  return Object.assign(serve, { keepsInterrupts: agent.keepsInterrupts === true });
}

/**
 * A generator that sends itself what the other one yields, and yields nothing: one yielded event may be none or several.
 * Leaving it leaves the other one, at once.
 */
function emitting(
  inner: AsyncGenerator<AgentEvent, unknown>,
  emit: (event: AgentEvent) => Promise<void>,
  end: () => void,
): AsyncGenerator<AgentEvent, unknown> {
  const outer: Pick<typeof inner, "next" | "return" | "throw"> = {
    next: async () => ({ done: true, value: await drive(inner, emit).finally(end) }),
    return: (value) => inner.return(value),
    throw: (error) => inner.throw(error),
  };
  return { ...outer, [Symbol.asyncIterator]: () => outer } as unknown as typeof inner;
}

/** Sends what a generator yields; a refused event is thrown in where it was yielded. */
async function drive(
  generator: AsyncGenerator<AgentEvent, unknown>,
  emit: (event: AgentEvent) => Promise<void>,
): Promise<unknown> {
  let step = await generator.next();
  while (!step.done) {
    const refused = await emit(step.value).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    step = refused === undefined ? await generator.next() : await generator.throw(refused.error);
  }
  return step.value;
}

const isGenerator = (work: unknown): work is AsyncGenerator<AgentEvent, unknown> =>
  typeof work === "object" && work !== null && Symbol.asyncIterator in work && "next" in work;
