/**
 * What people say stays between them and the agent: at default settings no proof, no answer and no message's text is
 * found in a log, in an error, in a refusal or in the numbers. Everything secret here is marked, and everything that
 * anybody but the agent and its client is told is searched for the marks.
 */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type AgentContext, createHandler, RefusalCode, type StandardSchemaV1 } from "../../src/index.ts";
import type { TestAgent, TestAgentOptions, TestRun } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, giveUp, proofOf, soleInterrupt, twoInterrupts } from "../support/runs.ts";
import { schemaOf } from "../support/schemas.ts";

/** Short, so that no cut makes one unrecognisable, and nothing that has to be escaped. */
const MESSAGE = "mark-message";
const ANSWER = "mark-answer";
const QUESTION = "mark-question";
const ARGUMENT = "mark-argument";
const RESULT = "mark-result";
const STATE = "mark-state";
const TEXT = "mark-text";
/** A number is an answer, too. */
const NUMBER = 918_273_645;

const printed: unknown[] = [];
beforeEach(() => {
  for (const method of ["debug", "info", "log", "warn", "error", "trace"] as const) {
    vi.spyOn(console, method).mockImplementation((...said) => void printed.push(said));
  }
});
afterEach(() => {
  printed.length = 0;
  vi.restoreAllMocks();
});

const written = (value: unknown) => inspect(value, { depth: Number.POSITIVE_INFINITY, maxStringLength: null });

/** An agent whose every word to others is kept: to its operators, and in what its own code catches. */
function watched(agent: TestAgentOptions["agent"], options: Omit<TestAgentOptions, "agent"> = {}) {
  const caught: unknown[] = [];
  const proofs: string[] = [];
  const answers: unknown[] = [];
  const tested = agentUnderTest({ validate: false, ...options, agent });

  /** Notes what a run or a request came to, and gives it back. */
  async function noted(run: Promise<TestRun>): Promise<TestRun> {
    const seen = await run;
    answers.push(seen.error);
    for (const interrupt of seen.interrupts) proofs.push(proofOf(interrupt));
    answers.push(tested.handler.stats(), withoutQuestions(tested.handler.inspect()));
    return seen;
  }

  return {
    ...tested,
    caught,
    run: (...given: Parameters<TestAgent["run"]>) => noted(tested.run(...given)),
    answer: (...given: Parameters<TestAgent["answer"]>) => noted(tested.answer(...given)),
    resume: (...given: Parameters<TestAgent["resume"]>) => noted(tested.resume(...given)),
    /** All that was told, with what must be found in it: a search that finds nothing because nothing was said is none. */
    told(...expected: string[]): string {
      const all = written({ printed, caught, answers, warnings: tested.warnings, errors: tested.errors });
      for (const word of expected) expect(all).toContain(word);
      for (const secret of [MESSAGE, ANSWER, QUESTION, ARGUMENT, RESULT, STATE, TEXT, String(NUMBER), ...proofs])
        expect(all).not.toContain(secret);
      return all;
    },
    proofs,
  };
}

/** Held turns as operators see them, less the questions' own words: those they are shown. */
const withoutQuestions = (held: ReturnType<TestAgent["handler"]["inspect"]>) =>
  held.map(({ interrupts, ...turn }) => ({ ...turn, interrupts: interrupts.map(({ message: _, ...rest }) => rest) }));

const said = {
  messages: [{ id: "m1", role: "user" as const, content: MESSAGE }],
  state: { note: STATE },
  context: [{ description: "note", value: MESSAGE }],
  forwardedProps: { note: MESSAGE },
};

describe("nothing that was said is told to others", () => {
  it("when a question is asked, answered wrongly in every way, and answered", async () => {
    const heard: unknown[] = [];
    const agent = watched(
      async (context) => {
        await context.text(TEXT);
        heard.push(await context.input(QUESTION, { metadata: { note: QUESTION } }));
        return RESULT;
      },
      { limits: { queuedRuns: 0 } },
    );
    const interrupt = soleInterrupt(await agent.run(said));
    const [proof = ""] = agent.proofs;
    const other = { holdline: { proof: `${proof.slice(0, -4)}AAAA` } };
    const right = answerTo(interrupt, ANSWER);
    const refused = [
      await agent.run(said),
      await agent.resume([{ ...right, metadata: {} }]),
      await agent.resume([{ ...right, metadata: other }]),
      await agent.resume([{ ...right, interruptId: "int_nobody" }], { threadId: "thread-1" }),
      await agent.resume([right, { ...right, payload: `not ${ANSWER}` }]),
      await agent.resume([{ ...right, payload: { is: ANSWER } }]),
      await agent.resume([right], { protocolVersion: "2.0" }),
      await agent.resume([right], { threadId: "elsewhere" }),
    ];
    expect(refused.map(({ error }) => error?.code).toSorted()).toEqual(
      [
        ...Object.values(RefusalCode).filter((code) => code !== RefusalCode.THREAD_BUSY),
        RefusalCode.INTERRUPT_NOT_OUTSTANDING,
        RefusalCode.INTERRUPT_NOT_PROVEN,
      ].toSorted(),
    );
    agent.told("INTERRUPT_NOT_PROVEN");

    // An entry too many is worth a warning; it is answered all the same, and a second time not.
    await agent.resume([right, { ...right, interruptId: "int_nobody" }]);
    expect(endOf(await agent.resume([right]))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(heard).toEqual([ANSWER]);
    agent.told("RESUME_ENTRY_IGNORED", "answered: 1");
  });

  /** What validators are known to do: to repeat what they were given. */
  const quoting = (value: unknown): StandardSchemaV1.Result<never> => ({
    issues: [{ message: `Expected a date but received ${JSON.stringify(value)}`, path: ["when"] }],
  });
  const numbers = { properties: { n: { type: "number", maximum: 9, minimum: 1, multipleOf: 2 } } };
  it.each<[string, { schema?: StandardSchemaV1; jsonSchema?: Record<string, unknown> }, unknown]>([
    ["no schema", {}, { is: ANSWER }],
    ["a JSON Schema of words", { jsonSchema: { enum: ["a", "b"] } }, ANSWER],
    ["a JSON Schema of a pattern", { jsonSchema: { type: "string", pattern: "^\\d+$", maxLength: 3 } }, ANSWER],
    ["a JSON Schema of numbers", { jsonSchema: { type: "object", ...numbers } }, { n: NUMBER }],
    ["a JSON Schema of small numbers", { jsonSchema: { type: "object", ...numbers } }, { n: -NUMBER }],
    ["zod", { schema: z.object({ when: z.iso.date(), n: z.number().max(9) }) }, { when: ANSWER, n: NUMBER }],
    ["zod of choices", { schema: z.union([z.literal("a"), z.number()]) }, ANSWER],
    ["a schema that quotes", { schema: schemaOf(quoting) }, ANSWER],
    ["a schema that quotes all of it", { schema: schemaOf(quoting) }, { inner: [ANSWER, NUMBER] }],
    ["a schema that quotes in time", { schema: schemaOf(async (value) => quoting(value)) }, `"${ANSWER}"\n`],
  ])("when an answer is refused by %s", async (_what, schemas, payload) => {
    const agent = watched(async (context) => context.input(QUESTION, schemas as { schema: StandardSchemaV1 }));
    const interrupt = soleInterrupt(await agent.run(said));
    expect(endOf(await agent.answer(interrupt, payload))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    agent.told("INTERRUPT_PAYLOAD_REFUSED", "A payload is not what its interrupt asked for");
  });

  it("while a validator's words that repeat nothing reach whoever has to answer again", async () => {
    const agent = watched(async (context) => context.input(QUESTION, { schema: z.object({ n: z.number().max(9) }) }));
    const interrupt = soleInterrupt(await agent.run(said));
    const refused = await agent.answer(interrupt, { n: 10 });
    expect(refused.error?.message).toContain("(n: Too big: expected number to be <=9)");
    expect((await agent.answer(interrupt, {})).error?.message).toContain("expected number, received undefined");
    expect((await agent.answer(interrupt, { n: "e" })).error?.message).toContain("expected number, received string");
  });

  it("when edited arguments are refused", async () => {
    const argsSchema = { type: "object", properties: { eur: { type: "number", maximum: 9 } } };
    const agent = watched(async (context) =>
      context.toolCall("pay", { eur: 5, to: ARGUMENT }, () => RESULT, { approval: { allowEdits: true }, argsSchema }),
    );
    const interrupt = soleInterrupt(await agent.run(said));
    for (const editedArgs of [{ eur: NUMBER }, { eur: ANSWER }, ANSWER]) {
      expect(endOf(await agent.answer(interrupt, { approved: true, editedArgs }))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    }
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("success");
    agent.told("editedArgs");
  });

  it("when the hook that answers in the client's place answers wrongly", async () => {
    const agent = watched(
      async (context) =>
        context.input(QUESTION, { jsonSchema: { type: "number", maximum: 9 } }).catch((error) => {
          agent.caught.push(error);
          throw error;
        }),
      { humanInput: () => NUMBER },
    );
    expect(endOf(await agent.run(said))).toBe("AGENT_FAILED");
    agent.told("INTERRUPT_PAYLOAD_REFUSED");
  });

  it("when the agent's own mistakes are refused to it", async () => {
    const agent: ReturnType<typeof watched> = watched(async (context) => {
      const tried = async (attempt: () => unknown) => {
        try {
          await attempt();
          throw new Error("Nothing was refused.");
        } catch (error) {
          agent.caught.push(error);
        }
      };
      const emit = (event: object) => () => context.emit(event as Parameters<AgentContext["emit"]>[0]);
      await tried(emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: TEXT }));
      await tried(emit({ type: "TEXT_MESSAGE_START", messageId: "m", role: 5, name: TEXT }));
      await tried(emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: ARGUMENT }));
      await tried(emit({ type: "TOOL_CALL_RESULT", toolCallId: "c", messageId: "r", content: { text: RESULT } }));
      await tried(emit({ type: "MESSAGES_SNAPSHOT", messages: [{ id: "x", role: "user", content: { text: TEXT } }] }));
      await tried(emit({ type: "CUSTOM", name: "acme:note", value: { text: TEXT, big: 1n } }));
      await tried(() => context.patchState([{ op: "replace", path: "/nowhere", value: STATE }]));
      await tried(() => context.patchState([{ op: "test", path: "/note", value: `not ${STATE}` }]));
      await tried(() => context.input(QUESTION, { timeoutMs: -1 }));
      await tried(() => context.input(QUESTION, { metadata: { holdline: TEXT } }));
      await tried(() => context.inputRequired(`${TEXT}${" ".repeat(1)}${"x".repeat(2_000)}`));
      await tried(() => context.toolCall("pay", { to: ARGUMENT }, () => ({ text: RESULT, big: 1n })));
      await context.emit({ type: "STATE_DELTA", delta: [{ op: "replace", path: "/nowhere", value: STATE }] });
      await context.emit({ type: "CUSTOM", name: "acme:note", value: TEXT, more: TEXT } as never);
      context.inputRequired(QUESTION);
      await tried(() => context.text(TEXT));
      await tried(() => context.input(QUESTION));
    });
    expect(endOf(await agent.run(said))).toBe("success");
    expect(agent.caught).toHaveLength(14);
    agent.told("EVENT_REFUSED", "PROMPT_INVALID", "TURN_ENDED", "PATCH_NOT_APPLIED", "EVENT_STRIPPED");
  });

  it("when the agent throws, before and after it was answered", async () => {
    const agent = watched(async (context) => {
      const answer = await context.input(QUESTION).catch(() => "nothing");
      await context.toolCall("pay", { to: ARGUMENT }, () => Promise.reject(new Error("a tool broke"))).catch(() => {});
      throw new Error(`the agent broke after ${answer.length} letters`);
    });
    const interrupt = soleInterrupt(await agent.run(said));
    expect(endOf(await agent.answer(interrupt, ANSWER))).toBe("AGENT_FAILED");
    agent.told(`the agent broke after ${ANSWER.length} letters`, "The agent failed.");
  });

  it.each(["expired", "abandoned", "evicted", "stopped", "closed", "ended"] as const)(
    "when its turn is over: %s",
    async (how) => {
      const stuck = defer();
      const agent: ReturnType<typeof watched> = watched(
        async (context) => {
          if (context.threadId !== "thread-1") return context.input(QUESTION);
          const asked = context.input(QUESTION).catch((error) => {
            agent.caught.push(error, context.signal.reason);
            throw error;
          });
          if (how === "ended") await Promise.all([asked, context.input(QUESTION, { timeoutMs: 1_000 })]);
          await asked.catch(() => {});
          // One that does not unwind is named to the operators.
          if (how === "stopped") await stuck.promise;
          throw new Error("the agent broke");
        },
        { retention: { maxHeld: 1 } },
      );
      const [interrupt] = (await agent.run(said)).interrupts;
      if (interrupt === undefined) throw new Error("Nothing was asked.");
      if (how === "expired") await agent.clock.advance(900_000);
      if (how === "abandoned") await agent.resume([giveUp(interrupt)]);
      if (how === "evicted") await agent.run({ ...said, threadId: "thread-2" });
      if (how === "stopped") {
        const stopped = agent.handler.stop("thread-1");
        await agent.clock.advance(10_000);
        expect(await stopped).toBe(true);
      }
      if (how === "closed") await agent.close();
      if (how === "ended") await agent.clock.advance(1_000);
      const late = agent.answer(interrupt, ANSWER).catch((error) => agent.caught.push(error));
      await late;
      stuck.resolve();
      agent.told(how === "evicted" ? "TURN_EVICTED" : how === "stopped" ? "TURN_NOT_UNWOUND" : "Error");
    },
  );

  it("when its client leaves", async () => {
    const gone = defer();
    const agent: ReturnType<typeof watched> = watched(async (context) => {
      await context.text(TEXT);
      context.signal.addEventListener("abort", () => gone.resolve());
      await gone.promise;
      await context.text(TEXT).catch((error) => agent.caught.push(error));
      await context.input(QUESTION).catch((error) => agent.caught.push(error, context.signal.reason));
    });
    const open = await openExchange(agent.handler.handle);
    await open.read(3);
    await open.leave();
    await gone.promise;
    await agent.clock.advance(0);
    expect(agent.caught).toHaveLength(3);
    agent.told("TURN_RELEASED");
  });

  it("when a request is wrong", async () => {
    const agent = watched(async (context) => context.text(TEXT));
    const post = async (body: string, type = "application/json") => {
      const headers = { "content-type": type };
      const response = await agent.handler.handle(new Request("http://agent.test/", { method: "POST", headers, body }));
      agent.caught.push(response.status, await response.text());
    };
    const run = { threadId: "thread-1", runId: "run-1", messages: said.messages };
    await post(`{"messages": "${MESSAGE}`);
    await post(JSON.stringify(run), "text/plain");
    await post(JSON.stringify({ ...run, messages: MESSAGE }));
    await post(JSON.stringify({ ...run, messages: [{ id: 5, role: "user", content: { text: MESSAGE } }] }));
    await post(JSON.stringify({ ...run, messages: [MESSAGE], state: STATE, tools: MESSAGE }));
    await post(JSON.stringify({ ...run, resume: ANSWER }));
    await post(JSON.stringify({ ...run, resume: [{ interruptId: 5, status: "resolved", payload: ANSWER }] }));
    expect(agent.caught.filter((each) => typeof each === "number")).toEqual([400, 415, 400, 400, 400, 400, 400]);
    // What is merely unknown is served, with a warning.
    await agent.run({ ...said, note: MESSAGE, messages: [{ ...said.messages[0], note: MESSAGE }] } as never);
    agent.told("INVALID_INPUT", "INPUT_STRIPPED");
  });
});

describe("what operators are told instead", () => {
  it("is printed where no hook was given, and holds nothing that was said", async () => {
    const handler = createHandler({
      agent: async (context) => {
        await context.emit({ type: "CUSTOM", name: "acme:note", value: TEXT, more: TEXT } as never);
        throw new Error("the agent broke");
      },
    });
    const body = JSON.stringify({ threadId: "T", runId: "R", ...said, note: MESSAGE });
    const headers = { "content-type": "application/json" };
    await (await handler.handle(new Request("http://agent.test/", { method: "POST", headers, body }))).text();
    const words = written(printed);
    for (const word of ["INPUT_STRIPPED", "EVENT_STRIPPED", "the agent broke"]) expect(words).toContain(word);
    for (const secret of [MESSAGE, TEXT, STATE]) expect(words).not.toContain(secret);
    expect(printed).toHaveLength(3);
    await handler.close();
  });

  it("is the wording of the questions that are open, in inspect() alone", async () => {
    const agent = watched(async (context) =>
      Promise.all([context.input(QUESTION), context.input("Which?", { metadata: { note: ANSWER } })]),
    );
    const asked = await agent.run(said);
    const [first, second] = twoInterrupts(asked);
    const held = written(agent.handler.inspect());
    expect(held).toContain(QUESTION);
    for (const secret of [proofOf(first), proofOf(second), ANSWER, MESSAGE]) expect(held).not.toContain(secret);
    agent.told();
  });

  it("is what the agent's own code throws, in full: what it puts there is its own to answer for", async () => {
    const agent = agentUnderTest(async (context) => {
      throw new Error(`I was told ${context.userText}`);
    });
    const run = await agent.run(said);
    expect(written(agent.errors)).toContain(MESSAGE);
    expect(run.raw).not.toContain(MESSAGE);
  });
});
