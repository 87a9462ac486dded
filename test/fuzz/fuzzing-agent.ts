/**
 * An agent that does anything: says, asks, asks jointly, calls tools in tools, takes steps and subagents, emits events
 * right and wrong, throws, stops, returns early, leaves work behind. What it is told is compared with what was answered.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonPatchOperation, Message } from "@ag-ui/core";
import {
  type Agent,
  type AgentContext,
  type AgentEvent,
  EventRefusedError,
  HoldlineError,
  PublicError,
} from "../../src/index.ts";
import { nextTurn } from "../support/promises.ts";
import type { Random } from "./random.ts";
import { CALLS, CLIENT_TOOL, randomEvent } from "./random-events.ts";

/** What a question wants for an answer; its message names it. */
export type Wanted = "text" | "number" | "anything" | "approval";

/** How often what happened. */
export const COUNTED = [
  "asks",
  "jointAsks",
  "approvals",
  "answers",
  "nested",
  "steps",
  "subagents",
  "emits",
  "refusedEmits",
  "throws",
  "earlyReturns",
  "stops",
  "decided",
  "replays",
  "lateErrors",
] as const;

/** What the agent and whoever runs it tell each other. */
export interface Journal {
  readonly counts: Record<(typeof COUNTED)[number], number>;
  /** Per question, by its message, what it wants. */
  readonly wanted: Map<string, Wanted>;
  /** Per question what was answered, as the agent must be told it. */
  readonly answered: Map<string, unknown>;
  /** What the agent saw that cannot be. */
  readonly wrong: string[];
  /** The turn entered last. */
  turn: { readonly context: AgentContext; replayed: boolean; late: boolean } | undefined;
}

const MOST_DEEP = 3;

interface Scope {
  readonly context: AgentContext;
  readonly random: Random;
  readonly depth: number;
}

/** The agent; `draw` gives each turn a chance of its own. */
export function fuzzingAgent(journal: Journal, draw: () => Random): Agent {
  const { counts, wanted, answered, wrong } = journal;
  let questions = 0;
  let names = 0;
  let turns = 0;

  async function told(message: string, expected: Wanted, ask: () => Promise<unknown>): Promise<unknown> {
    wanted.set(message, expected);
    counts.asks += 1;
    const answer = await ask();
    counts.answers += 1;
    if (!answered.has(message)) wrong.push(`${message} was answered by nobody.`);
    else if (!isDeepStrictEqual(answer, answered.get(message)))
      wrong.push(`${message} was told ${JSON.stringify(answer)}, not ${JSON.stringify(answered.get(message))}.`);
    return answer;
  }

  function question({ context, random }: Scope): Promise<unknown> {
    questions += 1;
    const message = `Question ${questions}`;
    const options = random.percent(30) ? { timeoutMs: random.pick([400, 800]) } : {};
    const kind = random.int(4);
    if (kind === 0)
      return told(message, "number", () => context.input(message, { ...options, jsonSchema: { type: "integer" } }));
    if (kind === 1) return told(message, "anything", () => context.input(message, { ...options, jsonSchema: {} }));
    if (kind === 2) {
      // About a call that may have been emitted, answered, or neither.
      const about = random.percent(50) ? { toolCallId: random.pick(CALLS) } : {};
      const request = { ...options, ...about, reason: "acme:ask", message, metadata: { a: 1 } };
      return told(message, "text", () => context.ask(request));
    }
    return told(message, "text", () => context.input(message, options));
  }

  function gatedCall(scope: Scope): Promise<unknown> {
    questions += 1;
    names += 1;
    const message = `Question ${questions}`;
    wanted.set(message, "approval");
    counts.asks += 1;
    counts.approvals += 1;
    const run = () => {
      if (answered.get(message) !== true) wrong.push(`${message} was denied or never answered, and its tool ran.`);
      return "ran";
    };
    // A name of its own: an "always" is for no other call.
    return scope.context.toolCall(`tool_${names}`, { a: 1 }, run, { approval: { message } });
  }

  const joint = ({ context, random, depth }: Scope): Promise<unknown> => {
    counts.jointAsks += 1;
    const count = 2 + random.int(2);
    const asks = Array.from({ length: count }, () => {
      const scope = { context, random: random.fork(), depth };
      return random.percent(40) ? gatedCall(scope) : question(scope);
    });
    return random.percent(50) ? Promise.all(asks) : Promise.allSettled(asks);
  };

  const inner = (scope: Scope, context: AgentContext) =>
    several({ context, random: scope.random.fork(), depth: scope.depth + 1 });

  const nesting: readonly ((scope: Scope) => Promise<unknown>)[] = [
    (scope) => {
      counts.nested += scope.depth > 0 ? 1 : 0;
      const run = async (_args: object, tool: AgentContext) => {
        await inner(scope, tool);
        return scope.random.pick<unknown>(["done", undefined, { a: 1 }, [{ type: "text", text: "done" }]]);
      };
      return scope.context.toolCall("book", { n: 1 }, run as never);
    },
    (scope) => {
      counts.steps += 1;
      return scope.context.step(scope.random.pick(["plan", "act", `step ${scope.random.int(9)}`]), () =>
        inner(scope, scope.context),
      );
    },
    (scope) => {
      counts.subagents += 1;
      return scope.context.subagent({ name: "Booker" }, (context) => inner(scope, context));
    },
    // Work beside that nobody waits for: it goes on while the turn asks, is held, or has returned.
    async (scope) => void inner(scope, scope.context).catch(() => {}),
  ];

  const emitted = async ({ context, random }: Scope): Promise<void> => {
    counts.emits += 1;
    const event = randomEvent({ random, messages: context.run.messages, turn: turns });
    await context.emit(event as unknown as AgentEvent);
  };

  /** A call as a model streams it, which is then run. */
  const streamed = async ({ context, random }: Scope): Promise<unknown> => {
    names += 1;
    const toolCallId = `streamed ${names}`;
    await context.emit({ type: "TOOL_CALL_START", toolCallId, toolCallName: "search" });
    if (random.percent(70)) await context.emit({ type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" });
    if (random.percent(50)) await nextTurn();
    if (random.percent(70)) await context.emit({ type: "TOOL_CALL_END", toolCallId });
    return context.toolCall("search", {}, () => "found", { toolCallId, shown: true });
  };

  const simple: readonly ((scope: Scope) => unknown)[] = [
    emitted,
    emitted,
    emitted,
    emitted,
    ({ context, random }) =>
      context.text(random.pick(["Hello", "", "😀", "\ud83d", "\ude00 there"]), { newMessage: random.percent(20) }),
    ({ context, random }) => context.reasoning(random.pick(["Hm", "", "\ud83d"])),
    ({ context, random }) => context.setState(random.pick<unknown>([{ a: 1, b: [] }, {}, { n: random.int(9) }])),
    ({ context, random }) =>
      context.patchState(random.pick<JsonPatchOperation[]>([[{ op: "add", path: "/a", value: 1 }], []])),
    ({ context, random }) => context.activity({ activityType: "acme:plan", content: { n: random.int(9) } }),
    ({ context }) => context.custom("acme:note", undefined),
    ({ context, random }) => context.usage({ inputTokens: random.pick([1, Number.NaN, -1]), outputTokens: 2 }),
    ({ context }) => context.keepMessages(() => context.run.messages as Message[]),
    ({ context, random }) =>
      context.emit({
        type: "TOOL_CALL_START",
        toolCallId: `client ${random.int(20)}`,
        toolCallName: CLIENT_TOOL,
      }),
    streamed,
    () => nextTurn(),
  ];

  async function one(scope: Scope): Promise<unknown> {
    const { random, depth, context } = scope;
    const drawn = random.int(100);
    if (drawn < 6) return question(scope);
    if (drawn < 9) return gatedCall(scope);
    if (drawn < 13) return joint(scope);
    if (drawn < 25 && depth < MOST_DEEP) return random.pick(nesting)(scope);
    if (drawn < 26) {
      counts.throws += 1;
      throw random.percent(50) ? new Error("secret") : new PublicError("Out of seats.", { code: "NO_SEATS" });
    }
    if (drawn === 26 && random.percent(40)) {
      counts.stops += 1;
      return context.stop();
    }
    if (drawn === 27 && random.percent(60)) {
      counts.decided += 1;
      return context.inputRequired("Which one?");
    }
    if (drawn === 28) {
      const isLate = random.percent(50);
      if (isLate && journal.turn !== undefined) journal.turn.late = true;
      counts.lateErrors += isLate ? 1 : 0;
      return context.waitUntil(isLate ? nextTurn().then(() => Promise.reject(new Error("late"))) : nextTurn());
    }
    return random.pick(simple)(scope);
  }

  async function several(scope: Scope): Promise<void> {
    const many = 1 + scope.random.int(6);
    for (let done = 0; done < many; done += 1) {
      try {
        await one(scope);
      } catch (error) {
        if (error instanceof EventRefusedError) counts.refusedEmits += 1;
        // What a question, or the end of its turn, rejects with is swallowed as often as passed on.
        else if (!(error instanceof HoldlineError) || error instanceof PublicError || scope.random.percent(50))
          throw error;
      }
    }
  }

  return async (context) => {
    const chance = draw();
    turns += 1;
    const turn = { context, replayed: false, late: false };
    journal.turn = turn;
    if (chance.percent(5) && context.run.resume === undefined) {
      counts.replays += 1;
      turn.replayed = true;
      const events = Array.from({ length: 1 + chance.int(4) }, () =>
        randomEvent({ random: chance, messages: context.run.messages, turn: turns }),
      );
      await context
        .replay([{ runId: `old ${context.runId}`, events: events as unknown as AgentEvent[] }])
        .catch((error: unknown) => {
          if (!(error instanceof EventRefusedError)) throw error;
          turn.replayed = false;
        });
    }
    const scope = { context, random: chance.fork(), depth: 0 };
    await several(scope);
    if (chance.percent(15)) {
      counts.earlyReturns += 1;
      void several({ ...scope, random: chance.fork() }).catch(() => {});
    } else if (chance.percent(60)) await several({ ...scope, random: chance.fork() });
    return chance.pick<unknown>([undefined, null, "done", { a: 1 }]);
  };
}
