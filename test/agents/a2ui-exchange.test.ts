/**
 * Held questions with `a2uiAgent` in between: it is the same exchange. The tests of what is promised for asking,
 * answering, refusing, giving up, expiring and closing run once more with every agent wrapped; and conversations
 * with an agent that shows surfaces are, but for those, the ones of an agent that shows none.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { a2uiAgent } from "../../src/agents/a2ui.ts";
import type { Agent, AgentContext } from "../../src/index.ts";
import type { TestAgent, TestRun } from "../../src/testing/index.ts";
import { besideSurfaces, block, create, label, surfacesOf } from "../support/a2ui.ts";
import { agentUnderTest, wrapAgents } from "../support/agent-under-test.ts";
import { giveUp, proofOf, soleInterrupt, twoInterrupts } from "../support/runs.ts";

let wrapped = 0;
const around = (agent: Agent): Agent => {
  wrapped++;
  return a2uiAgent(agent);
};
wrapAgents(around);

const promises = (name: string) => ({
  path: `promises/${name}.test.ts`,
  load: () => import(`../promises/${name}.test.ts`),
});
const cases = (name: string) => ({ path: `cases/${name}.test.ts`, load: () => import(`../cases/${name}.test.ts`) });

describe.each([
  ...["ask", "several-questions", "approvals", "edited-arguments", "human-input-hook"].map(promises),
  ...["answers", "async-schemas", "refusals", "proof", "causes", "races", "owner"].map(promises),
  ...["abandoning", "retention", "eviction", "closing", "stopping", "kept-events"].map(promises),
  ...["answers", "claiming", "resuming"].map(cases),
])("$path, with the agent wrapped", async ({ load }) => {
  beforeAll(() => {
    wrapped = 0;
  });
  afterAll(() => expect(wrapped).toBeGreaterThan(0));
  await load();
});

/** Asks twice in a tool and once beside it; `show` is said around every question. */
const traveller = (show: string, log: unknown[]): Agent => {
  const ask = async (context: Pick<AgentContext, "input" | "text">, question: string) => {
    await context.text(`Thinking${show} of ${question}`);
    const answer = await context.input(question, { timeoutMs: 60_000 }).catch((error) => error.code);
    log.push([question, answer]);
    await context.text(`${show}Noted: ${answer}.`);
    return answer;
  };
  return async (context) => {
    await context.text(`${show}Hello.`);
    const flight = await context.toolCall("book", { flight: "LH441" }, async (_args, tool) =>
      Promise.all([ask(tool, "Book?"), ask(tool, "Seat?")]),
    );
    log.push([context.userText, context.run.messages.length]);
    return [flight, await ask(context, "More?")];
  };
};

type Step = (agent: TestAgent, runs: readonly TestRun[]) => Promise<TestRun | undefined>;

const begin: Step = (agent) => agent.run("Book LH441");
const last = (runs: readonly TestRun[]) => runs.findLast(({ interrupts }) => interrupts.length > 0) as TestRun;
const answerBoth: Step = (agent, runs) => {
  const [book, seat] = twoInterrupts(last(runs));
  const entry = ({ id, metadata = {} }: typeof book, payload: string) => ({
    ...{ interruptId: id, status: "resolved" as const, payload, metadata },
  });
  return agent.resume([entry(seat, "12A"), entry(book, "yes")]);
};
const answerOne: Step = (agent, runs) => agent.answer(soleInterrupt(last(runs)), "no");
const forge: Step = (agent, runs) =>
  agent.resume(last(runs).interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: "yes" })));
const answerFirst: Step = (agent, runs) => agent.answer(twoInterrupts(last(runs))[0], "yes");
const abandonAll: Step = (agent, runs) => agent.resume(last(runs).interrupts.map(giveUp));
const wait: Step = async (agent) => void (await agent.clock.advance(60_001));
const close: Step = async (agent) => {
  void agent.handler.close({ graceMs: 1_000 });
  return undefined;
};

const CONVERSATIONS: Record<string, readonly Step[]> = {
  "ask and answer": [begin, answerBoth, answerOne],
  "refuse, then answer": [begin, begin, forge, answerFirst, answerBoth, answerOne, answerOne],
  "give up at once": [begin, abandonAll, answerBoth],
  "give the last one up": [begin, answerBoth, abandonAll, begin],
  "expire, then begin again": [begin, wait, answerBoth, begin, answerBoth, answerOne],
  "close while a question is open": [begin, close, answerBoth, answerOne],
};

/** What a conversation came to: what the wire showed and what the agent's own code saw. */
async function converse(show: string, steps: readonly Step[]) {
  const log: unknown[] = [];
  const agent = agentUnderTest(traveller(show, log));
  const runs: TestRun[] = [];
  for (const step of steps) {
    const run = await step(agent, runs);
    if (run !== undefined) runs.push(run);
  }
  const { held, running, ...counts } = agent.handler.stats();
  return { runs, log, counts, warned: agent.warnings.map(({ code }) => code) };
}

const RANDOM = new Set(["id", "messageId", "toolCallId", "proof"]);

/** Without what is random: each id and proof by its place, wherever it is quoted. */
function comparable(value: unknown): unknown {
  const places = new Set<string>();
  const json = JSON.stringify(value, (key, member) => {
    if (RANDOM.has(key) && typeof member === "string") places.add(member);
    return member;
  });
  return JSON.parse([...places].reduce((text, random, place) => text.replaceAll(random, `#${place}#`), json));
}

describe("a conversation with an agent that shows surfaces", () => {
  const surface = block(create("s"), label("s", "Hi"));

  it.each(Object.keys(CONVERSATIONS))("is the one without them: %s", async (name) => {
    const steps = CONVERSATIONS[name] ?? [];
    wrapAgents((agent) => agent);
    const plain = await converse("", steps).finally(() => wrapAgents(around));
    const shown = await converse(surface, steps);
    expect(comparable(shown.runs.map(besideSurfaces))).toEqual(comparable(plain.runs.map(besideSurfaces)));
    expect([shown.log, shown.counts, shown.warned]).toEqual([plain.log, plain.counts, plain.warned]);
    expect(shown.runs.flatMap(surfacesOf).length).toBeGreaterThan(0);
    expect(plain.runs.flatMap(surfacesOf)).toEqual([]);
  });
});

describe("a click", () => {
  const userAction = {
    name: "book",
    surfaceId: "flights",
    sourceComponentId: "book-button",
    context: { flight: "LH441" },
    timestamp: "2026-01-01T00:00:00.000Z",
  };
  const clicked = { forwardedProps: { a2uiAction: { userAction }, other: 1 } };
  const WORDS = `User performed action "book" on surface "flights" (component: "book-button"). Context: {"flight":"LH441"}`;
  const before = { id: "m1", role: "user" as const, content: "Show flights" };

  /** Runs an agent that notes its input, wrapped. */
  async function heard(input: Parameters<TestAgent["run"]>[0]) {
    const seen: Pick<AgentContext, "userText" | "run">[] = [];
    const agent = agentUnderTest(async (context) => {
      seen.push({ userText: context.userText, run: context.run });
      await context.toolCall("t", {}, async (_args, tool) => {
        seen.push({ userText: tool.userText, run: tool.run });
      });
    });
    const run = await agent.run(input);
    return { seen, run };
  }

  it("is the last user message of the input that the agent sees, also in a tool; the rest is as it was sent", async () => {
    const { seen, run } = await heard({ runId: "run-7", messages: [before], ...clicked });
    const messages = [before, { id: "a2ui_action_run-7", role: "user", content: WORDS }];
    expect(seen[0]).toEqual({ userText: WORDS, run: { ...run.input, messages } });
    expect(seen[1]?.run).toBe(seen[0]?.run);
    expect(seen[1]?.userText).toBe(WORDS);
  });

  it("is told once where CopilotKit's middleware has put it into the messages too", async () => {
    const log = (id: string, name = "log_a2ui_event", more: object[] = []) => [
      {
        ...{ id: `${id}-call`, role: "assistant" as const, content: "" },
        toolCalls: [{ id, type: "function" as const, function: { name, arguments: "{}" } }, ...more],
      },
      { id: `${id}-result`, role: "tool" as const, toolCallId: id, content: WORDS },
    ];
    const idsOf = async (messages: object[], extra: object = clicked) => {
      const { seen } = await heard({ runId: "run-7", ...extra, messages } as Parameters<TestAgent["run"]>[0]);
      return seen[0]?.run.messages.map(({ id }) => id);
    };
    const click = "a2ui_action_run-7";
    expect(await idsOf([before, ...log("now")])).toEqual(["m1", click]);
    // What is not that call, and what stands further back, is the client's history.
    const earlier = ["old-call", "old-result", "m1"];
    expect(await idsOf([...log("old"), before])).toEqual([...earlier, click]);
    expect(await idsOf([...log("old", "book")])).toEqual(["old-call", "old-result", click]);
    const second = { id: "second", type: "function", function: { name: "book", arguments: "{}" } };
    expect(await idsOf([...log("old", "log_a2ui_event", [second])])).toEqual(["old-call", "old-result", click]);
    expect(await idsOf([...log("old")], {})).toEqual(["old-call", "old-result"]);
  });

  it("is worded by what it has", async () => {
    const { seen } = await heard({ ...clicked, forwardedProps: { a2uiAction: { userAction: { name: 'a"b' } } } });
    expect(seen[0]?.userText).toBe('User performed action "a\\"b". Context: {}');
  });

  it.each([
    null,
    7,
    {},
    { a2uiAction: null },
    { a2uiAction: { userAction: "book" } },
    { a2uiAction: { userAction: [] } },
    { a2uiAction: { userAction: { name: "" } } },
    { a2uiAction: { userAction: { name: 7 } } },
    JSON.parse('{"__proto__":{"a2uiAction":{"userAction":{"name":"x"}}}}'),
  ])("is nothing but a click: %j leaves the input as it is", async (forwardedProps) => {
    const { seen, run } = await heard({
      messages: [before],
      ...(forwardedProps !== null && { forwardedProps }),
    } as Parameters<TestAgent["run"]>[0]);
    expect(seen[0]).toEqual({ userText: "Show flights", run: run.input });
  });

  it("answers no held question, and is not heard instead of it", async () => {
    const log: unknown[] = [];
    const agent = agentUnderTest(traveller("", log));
    const asked = await agent.run("Book LH441");
    const alone = await agent.run({ ...clicked, messages: [before] });
    expect(alone.error?.code).toBe("INTERRUPT_NOT_COVERED");
    const [book, seat] = twoInterrupts(asked);
    const half = await agent.answer(book, "yes", { ...clicked, messages: [before] });
    expect(half.error?.code).toBe("INTERRUPT_NOT_COVERED");
    const unproven = [book, seat].map(({ id }) => ({ interruptId: id, status: "resolved" as const, payload: "yes" }));
    expect((await agent.resume(unproven, clicked)).error?.code).toBe("INTERRUPT_NOT_PROVEN");
    expect([log, agent.handler.stats().held]).toEqual([[], 1]);

    const entries = [book, seat].map(({ id, metadata }) => ({
      ...{ interruptId: id, status: "resolved" as const, payload: "yes" },
      metadata: metadata ?? {},
    }));
    expect(proofOf(book)).not.toBe(proofOf(seat));
    const resumed = await agent.resume(entries, { ...clicked, messages: [before] });
    expect(soleInterrupt(resumed).message).toBe("More?");
    expect(log).toEqual([
      ["Book?", "yes"],
      ["Seat?", "yes"],
      [WORDS, 2],
    ]);
  });
});

describe("an agent that keeps its questions itself", () => {
  it("still does, and sees the resume entries and the click", async () => {
    const seen: unknown[] = [];
    const keeper: Agent = async (context) => {
      seen.push([context.run.resume?.length, context.userText]);
      if (context.run.resume === undefined) context.interrupted([{ id: "mine", reason: "acme:ask", message: "Well?" }]);
    };
    const agent = agentUnderTest(Object.assign(keeper, { keepsInterrupts: true }));
    expect(soleInterrupt(await agent.run("Go")).id).toBe("mine");
    const entries = [{ interruptId: "mine", status: "resolved" as const, payload: 1 }];
    const click = { forwardedProps: { a2uiAction: { userAction: { name: "ok" } } } };
    expect((await agent.resume(entries, click)).outcome).toEqual({ type: "success" });
    expect(seen).toEqual([
      [undefined, "Go"],
      [1, 'User performed action "ok". Context: {}'],
    ]);
  });
});
