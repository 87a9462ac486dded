/**
 * Any agent of `@ag-ui/client` (LangGraph, Mastra, a remote one, …), served by this handler: its
 * events through our ledger, its questions and what answers them passed through. Needs the package
 * `@ag-ui/client`, version 1, beside this one.
 *
 * @module holdline/ag-ui
 */
import type { AbstractAgent } from "@ag-ui/client";
import type {
  BaseEvent,
  RunErrorEvent,
  RunFinishedEvent,
  SubagentFinishedEvent,
  SubagentStartedEvent,
  TokenUsage,
} from "@ag-ui/core";
import { type Agent, type AgentContext, type AgentEvent, PublicError } from "../index.ts";

/** How the inner run ended: the last of its boundaries counts. */
type Boundary = RunFinishedEvent | RunErrorEvent;

/**
 * Serves an `AbstractAgent`. Each run has an instance of its own: a clone of the one given, or what the function gives.
 *
 * The inner agent gets the run's messages, state, tools, context, `forwardedProps` and `resume` as they were sent. It
 * keeps its state, and what it asks, itself: the interrupts of its runs go out as they are, nothing is held here, and
 * answers start a turn in which it finds them. Their proof, if they need one, is its own to ask for.
 *
 * Several inner runs in one stream are one run here: its outcome, result and usage are those of the last.
 *
 * When the turn is stopped, `abortRun` is called. What an inner RUN_ERROR says was said to a client and is passed on;
 * what the agent throws stays here, as with every agent.
 */
export function agUiAgent(
  agent: AbstractAgent | ((context: AgentContext) => AbstractAgent | PromiseLike<AbstractAgent>),
): Agent {
  const instance = typeof agent === "function" ? agent : (): AbstractAgent => agent.clone();
  const serve = async (context: AgentContext) => carry(context, await instance(context));
  return Object.assign(serve, { keepsInterrupts: true });
}

async function carry(context: AgentContext, inner: AbstractAgent): Promise<unknown> {
  const { run, signal } = context;
  signal.throwIfAborted();
  if (inner.isRunning) throw new TypeError("This agent is running already: give each run an instance of its own.");
  inner.threadId = run.threadId;
  inner.setMessages(run.messages);
  inner.setState(run.state);
  // What an earlier run of the instance left open is the inner agent's to remember, not its client's.
  inner.pendingInterrupts = [];
  let boundary: Boundary | undefined;
  let failure: { readonly error: unknown } | undefined;
  /** What the last of the inner runs used: an earlier one has reported its own (AG-UI usage). */
  let usage: readonly TokenUsage[] = [];
  /** Ends of subagents that an inner run left suspended, kept back: a later one may go on with them, and ours is one run. */
  const suspended = new Map<string, SubagentFinishedEvent>();

  const leave = () => {
    inner.abortRun();
    // One that does not listen is read no further.
    inner.detachActiveRun().catch(() => {});
  };
  const fail = (error: unknown) => {
    failure ??= { error };
  };

  async function take(event: BaseEvent): Promise<void> {
    if (failure !== undefined || signal.aborted) return;
    if (event.type === "RUN_STARTED") {
      usage = [];
      // Our interrupts are those of the last inner run.
      for (const [id, end] of suspended) suspended.set(id, { ...end, outcome: { type: "suspended" } });
      return;
    }
    if (isBoundary(event)) {
      boundary = event;
      // A failure that comes late says nothing of what its run has used.
      usage = (event as { usage?: TokenUsage[] }).usage ?? usage;
      return;
    }
    if (isSuspension(event)) {
      suspended.set(event.subagentRunId, event);
      return;
    }
    if (event.type === "SUBAGENT_STARTED" && suspended.delete((event as SubagentStartedEvent).subagentRunId)) return;
    try {
      await context.emit(event as unknown as AgentEvent);
    } catch (error) {
      // Its stream is not sound, or nobody is left: either way it is of no use to go on.
      fail(error);
      leave();
    }
  }

  signal.addEventListener("abort", leave, { once: true });
  try {
    const { runId, tools, context: entries, forwardedProps, resume } = run;
    await inner.runAgent(
      { runId, tools, context: entries, forwardedProps, ...(resume === undefined ? {} : { resume }) },
      {
        onEvent: ({ event }) => take(event),
        onRunFailed({ error }) {
          fail(error);
          // Read by the client, though not in its type: otherwise it writes the error to the console.
          return { stopPropagation: true } as object;
        },
      },
    );
  } catch (error) {
    fail(error);
  } finally {
    signal.removeEventListener("abort", leave);
  }
  for (const entry of usage) context.usage(entry);
  signal.throwIfAborted();
  if (failure !== undefined) throw failure.error;
  // Meanwhile the turn may be stopped: then emitting says so.
  for (const end of suspended.values()) await context.emit(end);
  return conclude(context, boundary);
}

const isBoundary = (event: BaseEvent): event is BaseEvent & Boundary =>
  event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";

const isSuspension = (event: BaseEvent): event is BaseEvent & SubagentFinishedEvent =>
  event.type === "SUBAGENT_FINISHED" && (event as SubagentFinishedEvent).outcome?.type === "suspended";

/** Ends the run as the inner one ended. */
function conclude(context: AgentContext, boundary: Boundary | undefined): unknown {
  if (boundary === undefined) throw new Error("The agent's stream ended before its run had finished.");
  if (boundary.type === "RUN_ERROR") {
    const { message, code } = boundary;
    throw new PublicError(message, code === undefined ? {} : { code });
  }
  const { outcome, result } = boundary;
  if (outcome?.type === "interrupt") context.interrupted(outcome.interrupts);
  else if (outcome?.type === "cancelled") context.stop();
  else return result;
  return undefined;
}
