/** `a2uiAgent`: what becomes of the blocks in an agent's text, by whatever way it says it. */
import { AbstractAgent, type BaseEvent } from "@ag-ui/client";
import { EventType, type RunAgentInput } from "@ag-ui/core";
import { tool } from "ai";
import fc from "fast-check";
import { from, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { a2uiAgent } from "../../src/agents/a2ui.ts";
import { agUiAgent } from "../../src/agents/ag-ui.ts";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import type { Agent, AgentContext, AgentEvent } from "../../src/index.ts";
import type { TestRun } from "../../src/testing/index.ts";
import { besideSurfaces, block, create, label, operationsOf, surfacesOf } from "../support/a2ui.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { an, text } from "../support/emitting.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";
import { call, finish, scripted, words } from "./models.ts";

const wrapped = (agent: Agent) => agentUnderTest(a2uiAgent(agent));

/** Runs an agent once. */
async function run(agent: Agent): Promise<TestRun & { readonly dropped: string[] }> {
  const tested = wrapped(agent);
  const made = await tested.run("Go");
  const dropped = tested.warnings.map(({ code, message }) => {
    expect(code).toBe("A2UI_BLOCK_DROPPED");
    return /not shown: (.*)\.$/.exec(message)?.[1] ?? message;
  });
  return { ...made, dropped };
}

const emit = (context: AgentContext, event: object) => context.emit(event as AgentEvent);

/** The ways by which an agent says a text that comes in pieces. */
const WAYS: Record<string, (context: AgentContext, pieces: readonly string[]) => Promise<unknown>> = {
  async text(context, pieces) {
    for (const piece of pieces) await context.text(piece);
  },
  async "text from an iterable"(context, pieces) {
    await context.text(
      (async function* () {
        yield* pieces;
      })(),
    );
  },
  async content(context, pieces) {
    await emit(context, text("START"));
    for (const delta of pieces) await emit(context, text("CONTENT", "m", { delta }));
    await emit(context, text("END"));
  },
  async "content that is not ended"(context, pieces) {
    await emit(context, text("START"));
    for (const delta of pieces) await emit(context, text("CONTENT", "m", { delta }));
  },
  async "content under the id that text gave"(context, pieces) {
    const [first = "", ...rest] = pieces;
    const messageId = (await context.text(`.${first}`)) || "m";
    for (const delta of rest) await emit(context, text("CONTENT", messageId, { delta }));
  },
  async chunks(context, pieces) {
    for (const delta of pieces) await emit(context, text("CHUNK", "m", { delta }));
  },
  async "chunks that name their message once"(context, pieces) {
    for (const [index, delta] of pieces.entries())
      await emit(context, an("TEXT_MESSAGE_CHUNK", { delta, ...(index === 0 && { messageId: "m" }) }));
  },
  async "a tool's text"(context, pieces) {
    await context.toolCall("say", {}, (_args, tool) => WAYS.text?.(tool as unknown as AgentContext, pieces));
  },
  async "a tool's chunks"(context, pieces) {
    await context.toolCall("say", {}, (_args, tool) => WAYS.chunks?.(tool as unknown as AgentContext, pieces));
  },
  async "a subagent's text"(context, pieces) {
    await context.subagent({ name: "s" }, (sub) => WAYS.text?.(sub, pieces));
  },
  async "a subagent's chunks"(context, pieces) {
    await context.subagent({ name: "s" }, (sub) => WAYS.chunks?.(sub, pieces));
  },
  async "a step's text"(context, pieces) {
    await context.step("s", () => WAYS.text?.(context, pieces));
  },
};

const MAIN = new Set(["text", "content", "chunks"]);

const shape = (made: Pick<TestRun, "text" | "events">) => ({
  text: made.text.replace(/^\./, ""),
  operations: operationsOf(made),
});

describe.each(Object.keys(WAYS))("blocks in %s", (way) => {
  const say = (pieces: readonly string[]) => run((context) => WAYS[way]?.(context, pieces) as Promise<unknown>);
  const surface = [create("s"), label("s", "Hi <b>")];
  const whole = `One < two${block(...surface)} three <a2ui`;

  it("are taken out and shown, wherever a tag is split", async () => {
    const close = whole.indexOf("</");
    // Every place in either tag for the ways that differ most, one in each for those built on them.
    const places = MAIN.has(way) ? [...Array(14).keys()].flatMap((at) => [9 + at, close + at]) : [12, close + 9];
    for (const at of places) {
      const made = await say([whole.slice(0, at), whole.slice(at)]);
      expect(shape(made), `at ${at}`).toEqual({ text: "One < two three <a2ui", operations: [surface] });
      expect(made.dropped).toEqual([]);
    }
    const letters = await say([...whole]);
    expect(shape(letters)).toEqual({ text: "One < two three <a2ui", operations: [surface] });
  });

  it("do not hold back the text around them, but for what may be a tag", async () => {
    const pieces = ["Hel", "lo <", "b> 1 <", " 2 </a2ui", "-jso", "m> 3", "<a2ui-json>", "[", "]</a2ui-json", "> 4"];
    const made = await say(pieces);
    const deltas = made.events.flatMap(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? [delta] : []));
    expect(deltas.join("|").replace(/^\./, "")).toBe("Hel|lo |<b> 1 |< 2 |</a2ui-jsom> 3| 4");
    expect(made.dropped).toEqual(["it holds no operation"]);
  });

  it("are left out when they are not closed, and never stay in the text", async () => {
    const made = await say(["Before ", "<a2ui-json>", JSON.stringify(surface), "</a2ui-js"]);
    expect(shape(made)).toEqual({ text: "Before ", operations: [] });
    expect(made.dropped).toEqual(["it is not closed"]);
    expect(made.raw).not.toContain("createSurface");
  });
});

describe("any text in any pieces", () => {
  const good = block(create("s"), label("s", "Hi"));
  const part = fc.oneof(
    fc.constantFrom("<", "</", "<a2ui", "<a2ui-json", "</a2ui-json", ">", "a2ui-json>", " ", "\ud83d\ude00", "x < y"),
    fc.constant(good),
    fc.constantFrom("<a2ui-json>", "</a2ui-json>", "<a2ui-json>{</a2ui-json>", "<a2ui-json>[]</a2ui-json>"),
    fc.string({ maxLength: 6 }),
  );

  /** What is left of a text, said another way than the filter says it. */
  const left = (whole: string) => whole.replace(/<a2ui-json>[\s\S]*?(<\/a2ui-json>|$)|<\/a2ui-json>/g, "");
  const showsAny = (whole: string) =>
    [...whole.matchAll(/<a2ui-json>([\s\S]*?)<\/a2ui-json>/g)].some(([found]) => found === good);

  it("comes out without its blocks, the same however it is cut", async () => {
    const cut = fc.tuple(fc.array(part, { maxLength: 8 }), fc.array(fc.nat(200), { maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(cut, fc.constantFrom(...Object.keys(WAYS)), async ([parts, cuts], way) => {
        const whole = parts.join("");
        const places = [...new Set(cuts.filter((at) => at < whole.length))].sort((a, b) => a - b);
        const pieces = [0, ...places].map((at, index) => whole.slice(at, places[index] ?? whole.length));
        const made = await run((context) => WAYS[way]?.(context, pieces) as Promise<unknown>);
        expect(made.text.replace(/^\./, "")).toBe(left(whole).replace(/^\./, ""));
        expect(surfacesOf(made).length > 0).toBe(showsAny(whole));
      }),
      { numRuns: 150, seed: 6 },
    );
  });
});

describe("the activity of a turn", () => {
  it("is one message, sent again with each block, with all operations so far", async () => {
    const made = await run(async (context) => {
      await context.text(`A${block(create("one"), label("one", "1"))}B${block(create("two"))}`);
      await context.text(block(label("two", "2")));
    });
    expect(typesOf(made)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "ACTIVITY_SNAPSHOT",
      "ACTIVITY_SNAPSHOT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    const first = [create("one"), label("one", "1"), create("two")];
    expect(operationsOf(made)).toEqual([first, [...first, label("two", "2")]]);
    expect(new Set(surfacesOf(made).map(({ messageId }) => messageId)).size).toBe(1);
    expect(surfacesOf(made)[0]).not.toHaveProperty("subagentRunId");
  });

  it("is the same message after a question, and another one in the next turn", async () => {
    const agent = wrapped(async (context) => {
      await context.text(`Look: ${block(create("s"))}`);
      await context.text(`Well? ${await context.input("Well?")} ${block(label("s", "Thanks"))}`);
    });
    const asked = await agent.run("Go");
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect(answered.text).toBe("Well? yes ");
    expect(operationsOf(answered)).toEqual([[create("s"), label("s", "Thanks")]]);
    const [before, after] = [surfacesOf(asked)[0], surfacesOf(answered)[0]];
    expect(after?.messageId).toBe(before?.messageId);
    const next = await agent.run({ threadId: "thread-2", messages: [] });
    expect(surfacesOf(next)[0]?.messageId).not.toBe(before?.messageId);
    await agent.abandon(soleInterrupt(next));
  });

  it("is one list that can be taken from its beginning: nothing is created twice, nothing is left of what is gone", async () => {
    const gone = { version: "v0.9", deleteSurface: { surfaceId: "two" } };
    const made = await run(async (context) => {
      await context.text(block(create("one"), label("one", "old"), create("two"), label("two", "2")));
      await context.text(block(create("one"), label("one", "new"), gone));
    });
    expect(operationsOf(made)[1]).toEqual([create("one"), label("one", "new"), gone]);
  });

  it("takes one operation, a list, a wrapped list, and what models put around JSON", async () => {
    const one = { createSurface: { surfaceId: "s", catalogId: "c" } };
    const shown = [{ version: "v0.9", ...one }];
    for (const inside of [
      JSON.stringify(one),
      `\n${JSON.stringify([one])}\n`,
      JSON.stringify({ a2ui_operations: [one] }),
      `\`\`\`json\n${JSON.stringify([one], null, 2)}\n\`\`\``,
    ]) {
      expect(operationsOf(await run((context) => context.text(`<a2ui-json>${inside}</a2ui-json>`)))).toEqual([shown]);
    }
  });

  it("may hold the letters of its end, written as JSON lets them be", async () => {
    const shown = [create("s"), label("s", "Close it with </a2ui-json>.")];
    const made = await run((context) => context.text(block(...shown).replace("</a2ui-json>.", "<\\/a2ui-json>.")));
    expect([made.text, operationsOf(made), made.dropped]).toEqual(["", [shown], []]);
  });

  const bad: [string, string][] = [
    ["{", "it is not JSON"],
    ["", "it is not JSON"],
    ["[]", "it holds no operation"],
    ["7", "it is neither an operation nor a list of them"],
    ["[null]", "an operation of it is no object"],
    [
      '{"version":"v0.8","createSurface":{"surfaceId":"s","catalogId":"c"}}',
      "an operation of it is not of version v0.9",
    ],
    [
      '{"beginRendering":{"surfaceId":"s"}}',
      "an operation of it is not one of createSurface, updateComponents, updateDataModel, deleteSurface",
    ],
    [
      '{"createSurface":{"surfaceId":"s","catalogId":"c"},"deleteSurface":{"surfaceId":"s"}}',
      "an operation of it is not one of createSurface, updateComponents, updateDataModel, deleteSurface",
    ],
    [
      '{"__proto__":{"createSurface":{"surfaceId":"s","catalogId":"c"}}}',
      "an operation of it is not one of createSurface, updateComponents, updateDataModel, deleteSurface",
    ],
    ['{"updateDataModel":{"value":1}}', "updateDataModel without a surfaceId"],
    ['{"createSurface":{"surfaceId":"s"}}', "createSurface without a catalogId"],
    [
      '{"updateComponents":{"surfaceId":"s","components":[{"component":"Text"}]}}',
      "updateComponents without components, each with an id",
    ],
    [`[${JSON.stringify(create("s"))},{"deleteSurface":{}}]`, "deleteSurface without a surfaceId"],
  ];

  it.each(bad)("leaves a block out as a whole: %s", async (inside, why) => {
    const made = await run((context) => context.text(`Before<a2ui-json>${inside}</a2ui-json> and after`));
    expect(made.text).toBe("Before and after");
    expect(made.dropped).toEqual([why]);
    expect(surfacesOf(made)).toEqual([]);
  });

  it("is left out when it only begins as what models put around JSON, however long and blank it is", async () => {
    const made = await run((context) =>
      context.text(`<a2ui-json>\`\`\`json${" ".repeat(100_000)}x</a2ui-json>Still here`),
    );
    expect([made.text, made.dropped]).toEqual(["Still here", ["it is not JSON"]]);
  });

  it("is left out when it is too long to go out, and the turn goes on", async () => {
    const long = label("s", "x".repeat(9 * 1024 * 1024));
    const made = await run((context) => context.text(`Before ${block(create("s"), long)}after`));
    expect(made.text).toBe("Before after");
    expect(made.dropped).toEqual(["it could not go out"]);
    expect(endOf(made)).toBe("success");
  });

  it("drops a tag that closes nothing", async () => {
    const made = await run((context) => context.text("One</a2ui-json> two"));
    expect(made.text).toBe("One two");
    expect(made.dropped).toEqual(["its tag closes nothing"]);
  });
});

describe("messages", () => {
  const surface = block(create("s"));

  it("are opened by what is shown: a text that is only a block opens none", async () => {
    const ids: string[] = [];
    const made = await run(async (context) => {
      ids.push(await context.text(surface, { newMessage: true }));
      ids.push(await context.text("One"));
      ids.push(await context.text(block(label("s", "1"))));
      ids.push(await context.text(block(label("s", "2")), { newMessage: true }));
      ids.push(await context.text("Two"));
    });
    expect(besideSurfaces(made).map(({ type, delta }) => delta ?? type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "One",
      "TEXT_MESSAGE_END",
      "TEXT_MESSAGE_START",
      "Two",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    const [one, two] = made.events.flatMap(({ type, messageId }) => (type === "TEXT_MESSAGE_START" ? [messageId] : []));
    expect(ids).toEqual(["", one, one, "", two]);
  });

  it.each<[string, (context: AgentContext) => Promise<unknown>]>([
    ["a tool call", (context) => context.toolCall("t", {}, () => "done")],
    ["a step", (context) => context.step("s", () => {})],
    ["a subagent", (context) => context.subagent({ name: "s" }, () => {})],
    ["reasoning", (context) => context.reasoning("Hm")],
    ["an event of those", (context) => emit(context, an("STEP_STARTED", { stepName: "s" }))],
    ["a message of its own", (context) => context.text("Two", { newMessage: true })],
  ])("are ended by %s: what was held back comes first, an open block is gone", async (_name, next) => {
    const held = await run(async (context) => {
      await context.text("One <a2ui");
      await next(context);
    });
    const types = besideSurfaces(held).map(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : type));
    expect(types.slice(0, 5)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "One ", "<a2ui", "TEXT_MESSAGE_END"]);
    const open = await run(async (context) => {
      await context.text("One <a2ui-json>[");
      await next(context);
      await context.text("]</a2ui-json>!");
    });
    expect(open.text).toMatch(/^One (Two)?\]!$/);
    expect(open.dropped).toEqual(["it is not closed", "its tag closes nothing"]);
  });

  it.each<[string, AgentEvent]>([
    ["state", { type: "STATE_SNAPSHOT", snapshot: {} }],
    ["an event of the application's", { type: "CUSTOM", name: "acme:x", value: 1 }],
    ["another message", { type: "TEXT_MESSAGE_CHUNK", messageId: "other", delta: "." }],
  ])("streamed in chunks are ended by %s", async (_name, event) => {
    const made = await run(async (context) => {
      await emit(context, text("CHUNK", "m", { delta: "One <a2ui" }));
      await context.emit(event);
    });
    const deltas = made.events.map(({ type, delta }) => delta ?? type);
    expect(deltas.slice(0, 5)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "One ", "<a2ui", "TEXT_MESSAGE_END"]);
  });

  it("streamed in chunks go on in a tool that speaks for the same", async () => {
    const made = await run((context) =>
      context.toolCall("t", {}, async (_args, tool) => {
        await emit(context, text("CHUNK", "m", { delta: "One <a2ui" }));
        await tool.emit({ type: "TEXT_MESSAGE_CHUNK", delta: `-json>${JSON.stringify(create("s"))}</a2ui-json>two` });
      }),
    );
    expect([made.text, operationsOf(made), made.dropped]).toEqual(["One two", [[create("s")]], []]);
  });

  it("streamed in chunks go on beside a subagent that streams its own", async () => {
    const made = await run(async (context) => {
      await emit(context, text("CHUNK", "m", { delta: "One <a2ui" }));
      await context.subagent({ name: "s" }, async (sub) => {
        await emit(sub, text("CHUNK", "n", { delta: "two <a2ui-json>" }));
        await emit(sub, an("TEXT_MESSAGE_CHUNK", { delta: `${JSON.stringify(create("n"))}</a2ui-json>` }));
      });
      await emit(context, an("TEXT_MESSAGE_CHUNK", { delta: `-json>${JSON.stringify(create("m"))}</a2ui-json>three` }));
    });
    expect([made.text, made.dropped]).toEqual(["One two three", []]);
    expect(operationsOf(made)).toEqual([[create("n")], [create("n"), create("m")]]);
  });

  it("go on over a question, an open block with them", async () => {
    const agent = wrapped(async (context) => {
      await context.text("One <a2ui-json>[");
      await context.input("Well?");
      await context.text(`${JSON.stringify(create("s"))}]</a2ui-json>two`);
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("Go")), "yes");
    expect([answered.text, operationsOf(answered)]).toEqual(["two", [[create("s")]]]);
  });

  it("of others than the assistant are left as they are", async () => {
    const made = await run(async (context) => {
      await emit(context, text("START", "m", { role: "user" }));
      await emit(context, text("CONTENT", "m", { delta: surface }));
      await emit(context, text("END"));
    });
    expect(made.events[2]).toMatchObject({ delta: surface });
    expect(surfacesOf(made)).toEqual([]);
  });

  it("are restated without their blocks", async () => {
    const said = { id: "a", role: "assistant" as const, content: `Look: ${surface}` };
    const typed = { id: "u", role: "user" as const, content: surface };
    const agent = wrapped(async (context) => {
      context.keepMessages(() => [typed, said]);
      await context.emit({ type: "MESSAGES_SNAPSHOT", messages: [typed, said] });
      await context.input("Well?");
    });
    const asked = await agent.run({ messages: [typed] });
    const snapshots = asked.events.filter(({ type }) => type === "MESSAGES_SNAPSHOT");
    expect(snapshots.map(({ messages }) => messages)).toEqual([
      [typed, { ...said, content: "Look: " }],
      [typed, { ...said, content: "Look: " }],
    ]);
    expect(surfacesOf(asked)).toEqual([]);
    await agent.abandon(soleInterrupt(asked));
  });

  it.each([
    ["given", false],
    ["loaded", true],
  ])("of earlier runs that are %s are restated, and what they showed", async (_name, loaded) => {
    const earlier = { runId: "before", events: [text("CHUNK", "m", { delta: `Look: ${surface}` })] as AgentEvent[] };
    const agent = wrapped(async (context) => {
      await context.replay(loaded ? Promise.resolve([earlier]) : [earlier]);
      await context.text("Now");
    });
    const made = await agent.run({ messages: [] }, { replay: true });
    expect([made.text, operationsOf(made)]).toEqual(["Look: Now", [[create("s")]]]);
    expect(typesOf(made).indexOf("ACTIVITY_SNAPSHOT")).toBeLessThan(typesOf(made).indexOf("RUN_FINISHED"));
  });

  it("that ask for input are asked without their blocks", async () => {
    const agent = wrapped(async (context) => context.inputRequired(`Which? ${surface}`));
    const made = await agent.run("Go");
    expect(made.result).toEqual({ status: "input-required", message: "Which?" });
    expect([made.text, operationsOf(made)]).toEqual(["Which?", [[create("s")]]]);
  });

  it("are not taken any more where nothing may go out: a block is told so as any text is", async () => {
    const told: unknown[] = [];
    const note = (error: { code: string }) => void told.push(error.code);
    const made = await run(async (context) => {
      context.inputRequired("Which?");
      await context.text(surface).catch(note);
      await emit(context, text("CHUNK", "m", { delta: surface })).catch(note);
      await context.text("Words").catch(note);
    });
    expect(told).toEqual(["TURN_ENDED", "TURN_ENDED", "TURN_ENDED"]);
    expect([made.text, surfacesOf(made), made.dropped]).toEqual(["Which?", [], []]);
  });

  it("are finished where the turn throws, and a refused event is still the agent's to hear of", async () => {
    const tested = wrapped(async (context) => {
      await context.text("One <");
      await expect(context.emit({ type: "TEXT_MESSAGE_END", messageId: "nobody" })).rejects.toThrow();
      await expect(context.emit(undefined as unknown as AgentEvent)).rejects.toThrow();
      throw new Error("Broken");
    });
    const made = await tested.run("Go");
    expect([made.text, endOf(made)]).toEqual(["One <", "AGENT_FAILED"]);
    expect(tested.errors.map(({ error }) => (error as Error).message)).toEqual(["Broken"]);
  });
});

describe("an agent that is a generator", () => {
  it("yields what goes out, is told of what is refused, and gives the result", async () => {
    const refused: unknown[] = [];
    const made = await run(async function* () {
      yield text("START") as AgentEvent;
      yield text("CONTENT", "m", { delta: `One ${block(create("s"))}two <` }) as AgentEvent;
      try {
        yield text("END", "nobody") as AgentEvent;
      } catch (error) {
        refused.push(error);
      }
      return { n: 1 };
    });
    expect([made.text, operationsOf(made), made.result]).toEqual(["One two <", [[create("s")]], { n: 1 }]);
    expect(refused).toHaveLength(1);
  });

  it("is left when its turn is stopped", async () => {
    const left: string[] = [];
    const made = await run(async function* (context) {
      try {
        context.stop();
        yield text("CHUNK") as AgentEvent;
      } finally {
        left.push("left");
      }
    });
    expect([endOf(made), left]).toEqual(["cancelled", ["left"]]);
  });
});

describe("another agent that is wrapped", () => {
  const surface = block(create("s"));

  it("may be one with a model: its answer without the blocks, its calls, its question to the user", async () => {
    const model = scripted(
      [...words(...surface), ...call("c", "book", { flight: "LH441" }), finish("tool-calls")],
      [
        ...words("Booked.", ...surface),
        ...call("r", "request_input", { prompt: `Else? ${surface}` }),
        finish("tool-calls"),
      ],
    );
    const asked: string[] = [];
    const book = tool({
      inputSchema: z.object({ flight: z.string() }),
      execute: async ({ flight }, options) => {
        asked.push(await contextOf(options).input(`Book ${flight}?`));
        return "done";
      },
    });
    const agent = agentUnderTest(a2uiAgent(aiAgent({ model, tools: { book } })));
    const first = await agent.run("Book LH441");
    expect(besideSurfaces(first).map(({ type }) => type)).not.toContain("TEXT_MESSAGE_START");
    expect(first.events.find(({ type }) => type === "TOOL_CALL_START")).not.toHaveProperty("parentMessageId", "");
    const second = await agent.answer(soleInterrupt(first), "yes");
    expect([second.text, second.result]).toEqual(["Booked.Else?", { status: "input-required", message: "Else?" }]);
    expect(asked).toEqual(["yes"]);
    expect([operationsOf(first).length, operationsOf(second).length]).toEqual([1, 2]);
    expect(agent.warnings).toEqual([]);
  });

  it("may be one of @ag-ui/client: its chunks without the blocks, the click among its messages", async () => {
    const inputs: RunAgentInput[] = [];
    class Inner extends AbstractAgent {
      override run(input: RunAgentInput): Observable<BaseEvent> {
        inputs.push(input);
        const { threadId, runId } = input;
        return from([
          { type: EventType.RUN_STARTED, threadId, runId },
          ...[...`One ${surface}two`].map((delta) => ({ type: EventType.TEXT_MESSAGE_CHUNK, messageId: "m", delta })),
          { type: EventType.RUN_FINISHED, threadId, runId },
        ] as BaseEvent[]);
      }
    }
    const agent = agentUnderTest(a2uiAgent(agUiAgent(() => new Inner())));
    const forwardedProps = { a2uiAction: { userAction: { name: "book" } } };
    const made = await agent.run({ messages: [], forwardedProps });
    expect([made.text, operationsOf(made)]).toEqual(["One two", [[create("s")]]]);
    expect(inputs[0]?.messages.map(({ content }) => content)).toEqual(['User performed action "book". Context: {}']);
    expect(inputs[0]?.forwardedProps).toEqual(forwardedProps);
  });
});
