/** More than one run on a stream, and a failure that surfaces when a run has finished. */
import type { Message } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { AgentContext, ReplayedRun } from "../../src/index.ts";
import { PublicError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { call, text } from "../support/emitting.ts";
import { defer, nextTurn } from "../support/promises.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

type Events = ReplayedRun["events"];
const events = (...given: object[]) => given as unknown as Events;
const said = (id: string) => events(text("START", id), text("CONTENT", id), text("END", id));

const TOO_LONG = "x".repeat(9 * 1024 * 1024);

/** Replays these, and then says something. */
const replaying = (runs: readonly ReplayedRun[] | (() => Promise<readonly ReplayedRun[]>)) => {
  const refused: string[] = [];
  const agent = agentUnderTest(async (context) => {
    await context.replay(typeof runs === "function" ? runs() : runs).catch((error) => refused.push(error.message));
    await context.text("Live.");
  });
  return { ...agent, refused };
};

const LIVE = ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"];

describe("runs that are replayed", () => {
  it("come before the one that was asked for, each whole, on its thread, under its own id and a version (P46, P53, P150)", async () => {
    const agent = replaying([
      { runId: "old-1", events: said("m1"), result: { n: 1 } },
      { runId: "old-2", parentRunId: "old-1", events: [...said("m2"), ...events(call("START"))] },
      { runId: "old-3", events: events(text("START", "m3")), outcome: { type: "cancelled" } },
      { runId: "old-4", events: events(text("START", "m4")), error: { message: "It failed.", code: "OLD" } },
      {
        runId: "old-5",
        events: [],
        outcome: { type: "interrupt", interrupts: [{ id: "old-question", reason: "r", message: "Sure?" }] },
      },
    ]);
    const run = await agent.run("Go", { replay: true });
    expect(agent.refused).toEqual([]);
    const ends = run.events.filter(({ type }) => type.startsWith("RUN_"));
    expect(ends.map(({ type, runId }) => `${type} ${runId ?? ""}`)).toEqual([
      "RUN_STARTED old-1",
      "RUN_FINISHED old-1",
      "RUN_STARTED old-2",
      "RUN_FINISHED old-2",
      "RUN_STARTED old-3",
      "RUN_FINISHED old-3",
      "RUN_STARTED old-4",
      "RUN_ERROR ",
      "RUN_STARTED old-5",
      "RUN_FINISHED old-5",
      "RUN_STARTED run-1",
      "RUN_FINISHED run-1",
    ]);
    expect(ends.filter(({ threadId }) => threadId !== undefined).every(({ threadId }) => threadId === "thread-1")).toBe(
      true,
    );
    expect(ends.filter(({ type }) => type === "RUN_STARTED").map(({ protocolVersion }) => protocolVersion)).toEqual(
      Array(6).fill("1.0"),
    );
    expect(ends.map(({ outcome }) => outcome?.type)).toEqual([
      undefined,
      "success",
      undefined,
      "success",
      undefined,
      "cancelled",
      undefined,
      undefined,
      undefined,
      "interrupt",
      undefined,
      "success",
    ]);
    expect(ends[1]?.result).toEqual({ n: 1 });
    expect(ends[3]?.outcome).toEqual({ type: "success", pendingToolCallIds: ["c"] });
    expect(ends[7]).toEqual({ type: "RUN_ERROR", message: "It failed.", code: "OLD" });
    expect(typesOf(run).slice(-5)).toEqual(LIVE);
    expect((await checkWithClient(run.raw, run.input as never)).pendingInterrupts).toEqual([]);
  });

  it("come from wherever they were kept: what is null there was not said", async () => {
    const nothing = { parentRunId: null, outcome: null, result: null, error: null };
    const agent = replaying([
      { runId: "old-1", events: said("m1"), ...nothing },
      { runId: "old-2", events: [], ...nothing, error: { message: "It failed.", code: null } },
    ] as never);
    const run = await agent.run("Go", { replay: true });
    expect(agent.refused).toEqual([]);
    const [started, finished, , failed] = run.events.filter(({ type }) => type.startsWith("RUN_"));
    expect(started).toEqual({ type: "RUN_STARTED", threadId: "thread-1", runId: "old-1", protocolVersion: "1.0" });
    expect(finished).toEqual({
      type: "RUN_FINISHED",
      threadId: "thread-1",
      runId: "old-1",
      outcome: { type: "success" },
    });
    expect(failed).toEqual({ type: "RUN_ERROR", message: "It failed." });
  });

  it("restate by snapshots what the client holds; streaming it again is refused, and all of it with it (P120, P151)", async () => {
    const messages: Message[] = [
      { id: "u1", role: "user", content: "Hello" },
      { id: "a1", role: "assistant", content: "Hi" },
    ];
    const again = replaying([
      { runId: "old-1", events: said("new") },
      { runId: "old-2", events: said("a1") },
    ]);
    const refused = await again.run({ messages }, { replay: true });
    expect(again.refused).toEqual([
      'TEXT_MESSAGE_START: "a1" is a message of the history; a new message takes a new id.',
    ]);
    expect(typesOf(refused)).toEqual(LIVE);

    const restated = [...messages, { id: "m1", role: "assistant", content: "More." } as Message];
    const agent = replaying([
      {
        runId: "old",
        events: events(
          { type: "MESSAGES_SNAPSHOT", messages: restated },
          { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
        ),
      },
    ]);
    const run = await agent.run({ messages }, { replay: true });
    const client = await checkWithClient(run.raw, run.input as never);
    expect(client.messages.slice(0, 3)).toEqual(restated);
    expect(client.state).toEqual({ a: 1 });
  });

  it("leave their client with a state and ids that the live run goes on from (P118)", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.replay([
        { runId: "old-1", events: events({ type: "STATE_DELTA", delta: [{ op: "add", path: "/a", value: 1 }] }) },
        {
          runId: "old-2",
          events: events({ type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value: 2 }] }, ...said("m")),
        },
      ]);
      await context.patchState([{ op: "replace", path: "/a", value: 3 }]);
      const reused = await context.emit(text("START", "m") as never).then(
        () => "appended",
        () => "refused",
      );
      return [context.state, reused];
    });
    const run = await agent.run("Go", { replay: true });
    expect(run.result).toEqual([{ a: 3, b: 2 }, "appended"]);
    expect(run.state).toEqual({ a: 3, b: 2 });
    expect(typesOf(run).slice(-5)).toEqual([
      "RUN_STARTED",
      "STATE_DELTA",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it("may go on with a subagent that an earlier one left suspended (P125)", async () => {
    const subagent = { subagentRunId: "s", name: "Booker" };
    const agent = replaying([
      {
        runId: "old-1",
        events: events(
          { type: "SUBAGENT_STARTED", ...subagent },
          { type: "SUBAGENT_FINISHED", subagentRunId: "s", outcome: { type: "suspended" } },
        ),
      },
      {
        runId: "old-2",
        events: events({ type: "SUBAGENT_STARTED", ...subagent }, { type: "SUBAGENT_FINISHED", subagentRunId: "s" }),
      },
    ]);
    const run = await agent.run("Go", { replay: true });
    expect(agent.refused).toEqual([]);
    expect(typesOf(run).filter((type) => type.startsWith("SUBAGENT"))).toHaveLength(4);
  });

  it("may be loaded first: the live run begins when they are there", async () => {
    const loaded = defer<readonly ReplayedRun[]>();
    const agent = replaying(() => loaded.promise);
    const running = agent.run("Go", { replay: true });
    await nextTurn();
    loaded.resolve([{ runId: "old", events: said("m1") }]);
    expect(typesOf(await running)).toEqual([...LIVE, ...LIVE]);
  });

  it("that could not be loaded leave the live run alone", async () => {
    const agent = replaying(() => Promise.reject(new Error("gone")));
    expect(typesOf(await agent.run("Go"))).toEqual(LIVE);
    expect(agent.refused).toEqual(["gone"]);
  });

  it("are replayed once: a second time meanwhile is refused, and the first goes on", async () => {
    const loaded = defer<readonly ReplayedRun[]>();
    const refused: string[] = [];
    const agent = agentUnderTest(async (context) => {
      const first = context.replay(loaded.promise);
      await context.replay([]).catch((error) => refused.push(error.message));
      loaded.resolve([]);
      await first;
      await context.text("Live.");
    });
    expect(typesOf(await agent.run("Go"))).toEqual(LIVE);
    expect(refused).toEqual(["Earlier runs are being replayed already."]);
  });

  it("are waited for: what is emitted or asked meanwhile is refused", async () => {
    const loaded = defer<readonly ReplayedRun[]>();
    const refused: string[] = [];
    const agent = agentUnderTest(async (context) => {
      const replay = context.replay(loaded.promise);
      const note = (error: Error) => refused.push(error.message);
      await Promise.all([context.text("early").catch(note), context.input("early").catch(note)]);
      loaded.resolve([]);
      await replay;
      await context.text("Live.");
    });
    expect(typesOf(await agent.run("Go"))).toEqual(LIVE);
    expect(refused).toEqual(Array(2).fill("Earlier runs are being replayed: await that first."));
  });

  const late: [string, (context: AgentContext) => Promise<void>][] = [
    [
      "after something was awaited",
      async (context) => {
        await nextTurn();
        await context.replay([]);
      },
    ],
    [
      "after something was emitted",
      async (context) => {
        void context.text("first");
        await context.replay([]);
      },
    ],
    [
      "twice",
      async (context) => {
        await context.replay([]);
        await context.replay([]);
      },
    ],
    [
      "in a run that brings an answer",
      async (context) => {
        await context.input("Sure?");
        await context.replay([]);
      },
    ],
  ];
  it.each(late)("are refused %s", async (_name, replay) => {
    const refused: string[] = [];
    const agent = agentUnderTest((context) => replay(context).catch((error: Error) => refused.push(error.message)));
    const run = await agent.run("Go");
    if (run.interrupts.length > 0) await agent.answer(soleInterrupt(run), "yes");
    expect(refused).toEqual(["replay comes first: call it before anything is awaited or emitted."]);
  });

  const wrong: [string, ReplayedRun[], string][] = [
    ["the live run's id", [{ runId: "run-1", events: [] }], 'replay: "run-1" is no runId of a run of its own.'],
    [
      "one id twice (P52)",
      [
        { runId: "old", events: [] },
        { runId: "old", events: [] },
      ],
      'replay: "old" is no runId of a run of its own.',
    ],
    [
      "an end among their events",
      [{ runId: "old", events: events({ type: "RUN_FINISHED", threadId: "t", runId: "old" }) }],
      "RUN_FINISHED is written by the server; an agent returns or throws instead.",
    ],
    [
      "a parent that is no string",
      [{ runId: "old", parentRunId: 7 as never, events: [] }],
      "replay: parentRunId is no string.",
    ],
    [
      "a code that is no string",
      [{ runId: "old", events: [], error: { message: "It failed.", code: 404 as never } }],
      "replay: error.code is no string.",
    ],
    [
      "an id too long for a frame",
      [{ runId: TOO_LONG, events: [] }],
      "replay: a run's end is longer than a frame may be.",
    ],
    [
      "an error too long for a frame",
      [{ runId: "old", events: [], error: { message: TOO_LONG } }],
      "replay: a run's end is longer than a frame may be.",
    ],
    [
      "a result too long for a frame",
      [{ runId: "old", events: [], result: TOO_LONG }],
      "The agent's result is longer than a frame may be.",
    ],
    [
      "interrupts too long for a frame",
      [
        {
          runId: "old",
          events: [],
          outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "r", message: TOO_LONG }] },
        },
      ],
      "replay: a run's end is longer than a frame may be.",
    ],
    [
      "an unknown outcome (P58)",
      [{ runId: "old", events: [], outcome: { type: "paused" } as never }],
      "replay: an outcome is success, interrupt or cancelled.",
    ],
  ];
  it.each(wrong)("are refused with %s", async (_name, runs, message) => {
    const agent = replaying(runs);
    expect(typesOf(await agent.run("Go"))).toEqual(LIVE);
    expect(agent.refused).toEqual([message]);
  });

  it("end with the turn that waits for them", async () => {
    const agent = agentUnderTest(async (context) => {
      void context.replay(new Promise(() => {}));
      throw new Error("no");
    });
    expect(typesOf(await agent.run("Go"))).toEqual(["RUN_STARTED", "RUN_ERROR"]);
  });
});

describe("a failure that surfaces when the run has finished", () => {
  it("is told by one RUN_ERROR after RUN_FINISHED, worded as any other (P57)", async () => {
    for (const [error, told] of [
      [new Error("secret"), { message: "The agent failed.", code: "AGENT_FAILED" }],
      [new PublicError("Not saved.", { code: "NOT_SAVED" }), { message: "Not saved.", code: "NOT_SAVED" }],
    ] as const) {
      const saved = defer();
      const agent = agentUnderTest(async (context) => {
        context.waitUntil(saved.promise);
        await context.text("Done.");
      });
      const running = agent.run("Go", { lateError: true });
      await nextTurn();
      saved.reject(error);
      const run = await running;
      expect(typesOf(run)).toEqual([...LIVE, "RUN_ERROR"]);
      expect(run.events.at(-1)).toEqual({ type: "RUN_ERROR", ...told });
      expect(agent.errors.map(({ error: reported }) => reported)).toEqual([error]);
    }
  });

  it("that does not come lets the stream end as it was", async () => {
    const agent = agentUnderTest(async (context) => {
      context.waitUntil(nextTurn());
      context.waitUntil(Promise.resolve("saved"));
      await context.text("Done.");
    });
    expect(typesOf(await agent.run("Go"))).toEqual(LIVE);
  });

  it("is the run's own concern: its thread is free as soon as it has finished", async () => {
    const saved = defer();
    const agent = agentUnderTest(async (context) => {
      if (context.userText === "First") context.waitUntil(saved.promise);
      await context.text("Done.");
    });
    const first = agent.run("First");
    await agent.clock.advance(0);
    expect(typesOf(await agent.run("Second"))).toEqual(LIVE);
    saved.resolve();
    expect(typesOf(await first)).toEqual(LIVE);
  });

  it("waits for the turn's last run, and not after one that failed or was stopped", async () => {
    const agent = agentUnderTest(async (context) => {
      context.waitUntil(Promise.reject(new Error("late")));
      if (context.userText === "Fail") throw new Error("no");
      if (context.userText === "Stop") context.stop();
      else await context.input("Sure?");
    });
    expect(typesOf(await agent.run("Fail"))).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(typesOf(await agent.run("Stop"))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    const asked = await agent.run("Ask");
    expect(typesOf(asked)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    const answered = await agent.answer(soleInterrupt(asked), "yes", {}, { lateError: true });
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "RUN_FINISHED", "RUN_ERROR"]);
  });

  it("is given up on after closeTimeoutMs, which is told", async () => {
    const agent = agentUnderTest({
      closeTimeoutMs: 1_000,
      agent: async (context) => {
        context.waitUntil(new Promise(() => {}));
        await context.text("Done.");
      },
    });
    const running = agent.run("Go");
    await agent.clock.advance(1_000);
    expect(typesOf(await running)).toEqual(LIVE);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["LATE_WORK_NOT_SETTLED"]);
  });
});
