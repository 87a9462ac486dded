/** A run's two ends, its outcome, and what it says it used. */
import { PROTOCOL_VERSION } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { type AgentContext, PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { call, emitting, shown, text } from "../support/emitting.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

describe("a run", () => {
  it("begins with RUN_STARTED whatever its agent does first, and carries the input's ids at both ends (P50, P51)", async () => {
    for (const ids of [
      { threadId: "", runId: "" },
      { threadId: "__proto__", runId: "a b\n😀" },
    ]) {
      const run = await emitting([text("START")]).run(ids);
      expect(run.events[0]).toEqual({ type: "RUN_STARTED", ...ids, protocolVersion: PROTOCOL_VERSION });
      expect(run.events.at(-1)).toMatchObject({ type: "RUN_FINISHED", ...ids });
    }
  });

  it("declares this server's own version, whatever its input declares (P40, P41, P42, P45)", async () => {
    for (const protocolVersion of ["1.0", "1.9", "banana", "", undefined]) {
      const run = await emitting([]).run({ protocolVersion } as never);
      expect(run.events[0]?.protocolVersion).toBe("1.0");
      expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    }
  });

  it("repeats the parentRunId it was given, and has none otherwise (P62)", async () => {
    expect((await emitting([]).run({ parentRunId: "p" })).events[0]?.parentRunId).toBe("p");
    expect((await emitting([]).run("Go")).events[0]).not.toHaveProperty("parentRunId");
  });

  it("does not repeat its input (P61)", async () => {
    expect((await emitting([]).run("Go")).events[0]).not.toHaveProperty("input");
  });

  it("has no ends of its agent's making (P50, P51, P53)", async () => {
    const types = ["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"];
    const agent = emitting(types.map((type) => ({ type, threadId: "t", runId: "r", message: "m" })));
    const run = await agent.run("Go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(agent.refused).toEqual(
      types.map((type) => `${type} is written by the server; an agent returns or throws instead.`),
    );
  });

  it("ends as a success with what the function returned, and without a result where that is nothing (P28, P58, P60)", async () => {
    const ends = async (result: unknown) => (await emitting([], () => result).run("Go")).events.at(-1);
    const last = { type: "RUN_FINISHED", threadId: "thread-1", runId: "run-1", outcome: { type: "success" } };
    for (const result of [0, "", false, [], { a: null }]) expect(await ends(result)).toEqual({ ...last, result });
    for (const nothing of [undefined, null, () => 1, Number.NaN]) expect(await ends(nothing)).toEqual(last);
  });

  it("that fails ends with RUN_ERROR in generic words, or in those meant for its client (P26, P28, P59)", async () => {
    const fails = async (error: unknown) =>
      (
        await emitting([text("START")], () => {
          throw error;
        }).run("Go")
      ).events.slice(1);
    const generic = { type: "RUN_ERROR", message: "The agent failed.", code: "AGENT_FAILED" };
    for (const error of [new Error("postgres://u:p@h"), "a string", undefined, null, { message: "m" }]) {
      expect(await fails(error)).toEqual([{ type: "TEXT_MESSAGE_START", messageId: "m" }, generic]);
    }
    expect((await fails(new PublicError("Out of seats.", { code: "NO_SEATS" })))[1]).toEqual({
      type: "RUN_ERROR",
      message: "Out of seats.",
      code: "NO_SEATS",
    });
    const unsayable = await emitting([], () => 1n).run("Go");
    expect(unsayable.events.at(-1)).toEqual(generic);
  });

  it("shows nothing after its last event, whatever its agent tries (P56)", async () => {
    const late: unknown[] = [];
    let context: AgentContext | undefined;
    const agent = agentUnderTest(async (given) => {
      context = given;
      await given.text("Done.");
    });
    const run = await agent.run("Go");
    for (const attempt of [
      () => context?.text("more"),
      () => context?.emit({ type: "CUSTOM", name: "n", value: 1 }),
      () => context?.setState({}),
      () => context?.input("Still there?"),
      () => context?.toolCall("book", {}, () => late.push("ran")),
    ]) {
      await attempt()?.catch((error: { code: string }) => late.push(error.code));
    }
    expect(late).toEqual(["TURN_ENDED", "TURN_ENDED", "TURN_ENDED", "TURN_ENDED", "TURN_ENDED"]);
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it("that is stopped on purpose ends as cancelled: all closed, no result, no pending calls (P54, P64, P65, P66)", async () => {
    const agent = emitting(
      [text("START"), call("START"), call("ARGS", "c", { delta: '{"half' }), { type: "STEP_STARTED", stepName: "s" }],
      (context) => {
        context.usage({ inputTokens: 1, outputTokens: 2 });
        context.stop();
        return "a result";
      },
    );
    const run = await agent.run("Go");
    expect(run.events.slice(5)).toEqual([
      { type: "STEP_FINISHED", stepName: "s" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      {
        type: "RUN_FINISHED",
        threadId: "thread-1",
        runId: "run-1",
        outcome: { type: "cancelled" },
        usage: [{ inputTokens: 1, outputTokens: 2, totalTokens: 3 }],
      },
    ]);
    // The next run is an ordinary one.
    expect((await agent.run("Again")).outcome).toEqual({ type: "cancelled" });
  });

  it("that asks ends as an interrupt and nothing else, its gated call complete and without a result (P54, P70, P73)", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.toolCall("book", { flight: "LH441" }, () => "Booked.", { approval: true });
    });
    const asked = await agent.run("Go");
    expect(shown(asked)).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]);
    expect(Object.keys(asked.events.at(-1)?.outcome)).toEqual(["type", "interrupts"]);
    const answered = await agent.answer(soleInterrupt(asked), false);
    // P83: the original call is answered, not made again.
    expect(shown(answered)).toEqual(["TOOL_CALL_RESULT"]);
    expect(answered.events[1]?.toolCallId).toBe(asked.events[1]?.toolCallId);
  });

  it("that goes on after an interrupt has its own runId, and nothing open (P80, P83)", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.input("Sure?");
    });
    const asked = await agent.run("Go");
    const answered = await agent.answer(soleInterrupt(asked), "yes", { runId: "another" });
    expect(answered.events.map(({ runId }) => runId)).toEqual(["another", "another"]);
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });
});

describe("usage", () => {
  const used = async (...entries: object[]) =>
    (
      await emitting([], (context) => {
        for (const entry of entries) context.usage(entry);
      }).run("Go")
    ).events.at(-1)?.usage;

  it("is one entry for each provider and model, and absent without any (P130)", async () => {
    expect(await used()).toBeUndefined();
    expect(
      await used(
        { provider: "a", model: "x", inputTokens: 1, outputTokens: 2 },
        { provider: "a", model: "y", inputTokens: 10 },
        { provider: "a", model: "x", inputTokens: 3, outputTokens: 4, reasoningTokens: 1 },
      ),
    ).toEqual([
      { provider: "a", model: "x", inputTokens: 4, outputTokens: 6, totalTokens: 10, reasoningTokens: 1 },
      { provider: "a", model: "y", inputTokens: 10 },
    ]);
  });

  it("holds labels and whole numbers only; what is not known is not there (P130, P132)", async () => {
    expect(
      await used({
        provider: "a",
        model: 7,
        inputTokens: Number.NaN,
        outputTokens: 1.5,
        totalTokens: -1,
        reasoningTokens: null,
        cachedInputTokens: 0,
        cacheWriteInputTokens: "3",
        prompt: "secret",
      }),
    ).toEqual([{ provider: "a", cachedInputTokens: 0 }]);
  });

  it("has totals that are sums, and parts that are parts (P131)", async () => {
    expect(
      await used({ inputTokens: 10, outputTokens: 5, totalTokens: 99, cachedInputTokens: 10, reasoningTokens: 5 }),
    ).toEqual([{ inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 10, reasoningTokens: 5 }]);
    expect(
      await used({
        inputTokens: 10,
        outputTokens: 5,
        cachedInputTokens: 8,
        cacheWriteInputTokens: 3,
        reasoningTokens: 6,
      }),
    ).toEqual([{ inputTokens: 10, outputTokens: 5, totalTokens: 15 }]);
  });

  it("is each run's own, that of subagents included, that of a pause the next one's (P81, P133)", async () => {
    const agent = agentUnderTest(async (context) => {
      context.usage({ inputTokens: 1 });
      const asking = context.input("Sure?");
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      context.usage({ inputTokens: 10 });
      await asking;
      await context.subagent({ name: "Booker" }, (inner) => inner.usage({ inputTokens: 100 }));
    });
    const asked = await agent.run("Go");
    await agent.clock.advance(0);
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect([asked, answered].map(({ events }) => events.at(-1)?.usage)).toEqual([
      [{ inputTokens: 1 }],
      [{ inputTokens: 110 }],
    ]);
  });

  it("is told of a run that failed, and never by a subagent's events (P129, P130)", async () => {
    const agent = emitting([], async (context) => {
      await context.subagent({ name: "Booker" }, (inner) => inner.usage({ outputTokens: 1 }));
      throw new Error("no");
    });
    const run = await agent.run("Go");
    expect(run.events.filter(({ usage }) => usage !== undefined).map(({ type }) => type)).toEqual(["RUN_ERROR"]);
  });
});
