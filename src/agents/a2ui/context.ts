/**
 * The context that the wrapped agent is handed: the handler's own, but for its text and its input. Whatever
 * is not named here is the handler's.
 */
import type { AgentContext, AgentEvent, SubagentRequest, ToolCallOptions, ToolContext } from "../../index.ts";
import { withoutBlocks } from "./blocks.ts";
import { restate } from "./restate.ts";
import { type Lanes, readable, Speech } from "./speech.ts";
import { Surfaces } from "./surfaces.ts";
import { hear } from "./user-action.ts";
import { Voice } from "./voice.ts";

type AnyContext = Omit<AgentContext, "approve">;
type Tool = (args: object, tool: ToolContext) => unknown;

/** A context of the turn (its own, a tool's, a subagent's), and the end of what it says. */
export interface Wrapped<C> {
  readonly context: C;
  /** What it held back goes out: it says nothing more. */
  end(): void;
}

/** Events that leave a context's open message open, as the handler has it. */
const BESIDES = /^(STATE_|CUSTOM$|RAW$|ACTIVITY_|MESSAGES_|TEXT_)/;

/** The turn's own context. Its `end` ends whatever the turn has said. */
export function wrapTurn(context: AgentContext): Wrapped<AgentContext> {
  const speech = new Speech(new Surfaces(context.emit, context.warn));
  const wrapped = wrap(context, speech, new Map());
  const end = () => {
    wrapped.end();
    speech.endAll(context.emit);
  };
  return { context: wrapped.context, end };
}

function wrap<C extends AnyContext>(inner: C, speech: Speech, lanes: Lanes): Wrapped<C> {
  const voice = new Voice(inner, speech);
  const end = () => {
    voice.endMessage();
    speech.endLane(undefined, inner.emit, lanes);
  };
  const own = {
    text: voice.text,
    emit(event: AgentEvent) {
      if (!BESIDES.test(String((event as AgentEvent | undefined)?.type))) voice.endMessage();
      return speech.pass(event, inner.emit, lanes);
    },
    reasoning(...given: Parameters<AgentContext["reasoning"]>) {
      end();
      return inner.reasoning(...given);
    },
    toolCall(name: string, args: object, run: Tool, options?: ToolCallOptions<object>) {
      // One that was shown already ended what it ended when it was.
      if (!options?.shown) end();
      const call = inner.toolCall as (...given: unknown[]) => Promise<unknown>;
      // A tool speaks for whoever called it: a chunk stream may go on in it.
      const inside = (called: object, tool: ToolContext) => {
        const wrapped = wrap(tool, speech, lanes);
        return ending(wrapped.end, () => run(called, wrapped.context));
      };
      return call(name, args, inside, options);
    },
    step(name: string, run: () => unknown) {
      end();
      return inner.step(name, () => ending(end, run));
    },
    subagent(request: SubagentRequest, run: (context: AgentContext) => unknown) {
      // A chunk stream goes on beside a subagent, which has a lane of its own.
      voice.endMessage();
      return inner.subagent(request, (context) => {
        const wrapped = wrap(context, speech, new Map());
        return ending(wrapped.end, () => run(wrapped.context));
      });
    },
    inputRequired(prompt: string, options?: { reason?: string }) {
      end();
      if (typeof prompt !== "string") return inner.inputRequired(prompt, options);
      const piece = withoutBlocks(prompt);
      void speech.complete(piece);
      if (piece.unclosed) speech.surfaces.leftOut("it is not closed");
      return inner.inputRequired(piece.text, options);
    },
    keepMessages(give: Parameters<AgentContext["keepMessages"]>[0]) {
      inner.keepMessages(() => give().map(readable));
    },
    replay(runs: Parameters<AgentContext["replay"]>[0]) {
      return inner.replay(restate(runs, inner.warn));
    },
  };
  const context = new Proxy(inner, {
    get(target, name) {
      if (name === "run") return hear(target.run).run;
      if (name === "userText") return hear(target.run).action ?? target.userText;
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own];
      // Its getters and methods know no other `this` than itself.
      return Reflect.get(target, name, target);
    },
  });
  return { context, end };
}

/** Runs what a context was made for, and ends what that has said, however it ends. */
async function ending<R>(end: () => void, run: () => R | PromiseLike<R>): Promise<R> {
  try {
    return await run();
  } finally {
    end();
  }
}
