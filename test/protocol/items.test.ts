/** What has a beginning and an end: what may be begun, continued, ended and begun again. */
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { an, call, emit, emitting, shown, text } from "../support/emitting.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

const step = (what: "STARTED" | "FINISHED", stepName = "s", members: object = {}) =>
  an(`STEP_${what}`, { stepName, ...members });
const span = (what: "START" | "END", messageId = "r", members: object = {}) =>
  an(`REASONING_${what}`, { messageId, ...members });
const reasoning = (what: "START" | "CONTENT" | "END", messageId = "r", members: object = {}) =>
  an(`REASONING_MESSAGE_${what}`, { messageId, ...(what === "CONTENT" && { delta: "Hm" }), ...members });

describe("an event out of order", () => {
  const cases: [string, Parameters<typeof emit>[0], string[], string][] = [
    [
      "starts what is open (P100)",
      [text("START"), text("START")],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'TEXT_MESSAGE_START: the message "m" is open already.',
    ],
    [
      "continues what was never started (P100)",
      [text("CONTENT")],
      [],
      'TEXT_MESSAGE_CONTENT: the message "m" is not open.',
    ],
    [
      "ends what has ended (P100)",
      [call("START"), call("END"), call("END")],
      ["TOOL_CALL_START", "TOOL_CALL_END"],
      'TOOL_CALL_END: the tool call "c" is not open.',
    ],
    ["gives arguments to no call (P100)", [call("ARGS")], [], 'TOOL_CALL_ARGS: the tool call "c" is not open.'],
    [
      "reasons in a span that has no message (P104)",
      [span("START"), reasoning("CONTENT"), span("END")],
      ["REASONING_START", "REASONING_END"],
      'REASONING_MESSAGE_CONTENT: the reasoning message "r" is not open.',
    ],
    [
      "opens a span twice (P104)",
      [span("START"), span("START")],
      ["REASONING_START", "REASONING_END"],
      'REASONING_START: the reasoning span "r" is open already.',
    ],
    [
      "starts a step twice (P90)",
      [step("STARTED"), step("STARTED")],
      ["STEP_STARTED", "STEP_FINISHED"],
      'STEP_STARTED: the step "s" is open already.',
    ],
    ["finishes no step (P90)", [step("FINISHED")], [], 'STEP_FINISHED: the step "s" is not open.'],
    [
      "finishes another owner's step (P91)",
      [step("STARTED", "s", { subagentRunId: "a" }), step("FINISHED")],
      ["STEP_STARTED", "STEP_FINISHED"],
      'STEP_FINISHED: the step "s" is not open.',
    ],
    [
      "opens a message again as another's (P102)",
      [text("START"), text("END"), text("START", "m", { role: "user" })],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'TEXT_MESSAGE_START: "m" was opened with another role.',
    ],
    [
      "opens a message again under another name (P102)",
      [text("START", "m", { name: "Ann" }), text("END"), text("START")],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'TEXT_MESSAGE_START: "m" was opened with another name.',
    ],
    [
      "opens a call again as another tool's (P102)",
      [call("START"), call("END"), call("START", "c", { toolCallName: "pay" })],
      ["TOOL_CALL_START", "TOOL_CALL_END"],
      'TOOL_CALL_START: "c" was opened with another toolCallName.',
    ],
    [
      "opens a call again for another owner (P102)",
      [call("START"), call("END"), call("START", "c", { subagentRunId: "a" })],
      ["TOOL_CALL_START", "TOOL_CALL_END"],
      'TOOL_CALL_START: "c" was opened by another owner.',
    ],
  ];
  it.each(cases)("is refused, and nothing else, when it %s", async (_name, events, types, message) => {
    const { run, refused } = await emit(events);
    expect(shown(run)).toEqual(types);
    expect(refused).toEqual([message]);
  });
});

describe("what is open", () => {
  it("may overlap, steps of one name with different owners too (P90, P91, P100)", async () => {
    const { run, refused } = await emit([
      step("STARTED", "s"),
      step("STARTED", "s", { subagentRunId: "a" }),
      text("START", "m1"),
      text("START", "m2"),
      step("FINISHED", "s"),
      text("END", "m1"),
      step("FINISHED", "s", { subagentRunId: "a" }),
      text("END", "m2"),
    ]);
    expect(refused).toEqual([]);
    expect(shown(run)).toEqual([
      "STEP_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_START",
      "STEP_FINISHED",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "TEXT_MESSAGE_END",
    ]);
  });

  it("is closed before the run finishes, innermost first, with the owner it was opened for (P54, P126)", async () => {
    const subagent = { subagentRunId: "a" };
    const { run, refused } = await emit([
      step("STARTED"),
      an("SUBAGENT_STARTED", { ...subagent, name: "Booker" }),
      step("STARTED", "s", subagent),
      span("START", "r", subagent),
      reasoning("START", "r", { ...subagent, role: "reasoning" }),
      text("START", "m", subagent),
      call("START", "c", subagent),
      call("ARGS", "c", { delta: '{"half' }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events.slice(9)).toEqual([
      { type: "TOOL_CALL_END", toolCallId: "c", ...subagent },
      { type: "TEXT_MESSAGE_END", messageId: "m", ...subagent },
      { type: "REASONING_MESSAGE_END", messageId: "r", ...subagent },
      { type: "REASONING_END", messageId: "r", ...subagent },
      { type: "STEP_FINISHED", stepName: "s", ...subagent },
      { type: "SUBAGENT_FINISHED", ...subagent },
      { type: "STEP_FINISHED", stepName: "s" },
      {
        type: "RUN_FINISHED",
        threadId: "thread-1",
        runId: "run-1",
        outcome: { type: "success", pendingToolCallIds: ["c"] },
      },
    ]);
  });

  it("needs no closing before RUN_ERROR (P55)", async () => {
    const agent = emitting([text("START"), call("START"), step("STARTED")], () => {
      throw new Error("no");
    });
    expect(typesOf(await agent.run("Go"))).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TOOL_CALL_START",
      "STEP_STARTED",
      "RUN_ERROR",
    ]);
  });

  it("goes on when it is opened again as it was: what follows is appended (P102)", async () => {
    const { run, refused } = await emit([
      text("START", "m", { role: "assistant", name: "Ann" }),
      text("CONTENT", "m", { delta: "Hello, " }),
      text("END"),
      call("START", "c", { parentMessageId: "m" }),
      call("END"),
      text("START", "m", { name: "Ann" }),
      text("CONTENT", "m", { delta: "world." }),
      text("END"),
      call("START", "c", { parentMessageId: "m" }),
      call("ARGS", "c", { delta: "{}" }),
      call("END"),
    ]);
    expect(refused).toEqual([]);
    expect(shown(run)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_END",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
    ]);
    expect(run.text).toBe("Hello, world.");
  });

  it("has ids in a namespace of each kind: a span and its message may share one (P100, P103, P104)", async () => {
    const { run, refused } = await emit([
      span("START", "x"),
      reasoning("START", "x"),
      reasoning("CONTENT", "x"),
      reasoning("END", "x"),
      span("END", "x"),
      call("START", "y"),
      call("END", "y"),
    ]);
    expect(refused).toEqual([]);
    expect(shown(run)).toEqual([
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "TOOL_CALL_START",
      "TOOL_CALL_END",
    ]);
    expect(run.events[2]).toEqual({ type: "REASONING_MESSAGE_START", messageId: "x", role: "reasoning" });
  });
});

describe("what an answer finds", () => {
  /** What the second run shows, and what was refused in it. */
  async function afterAnswer(before: Parameters<typeof emit>[0], after: Parameters<typeof emit>[0]) {
    const refused: string[] = [];
    const agent = emitting(before, async (context) => {
      await context.input("Sure?");
      for (const event of after)
        await context.emit(event as never).catch((error: Error) => refused.push(error.message));
    });
    const run = await agent.answer(soleInterrupt(await agent.run("Go")), "yes");
    return { types: shown(run), refused: [...agent.refused, ...refused] };
  }
  const plan = (what: string) => an(`STEP_${what}`, { stepName: "plan" });

  it("is a step that goes on, and is not started beside itself (P90)", async () => {
    const { types, refused } = await afterAnswer([plan("STARTED")], [plan("STARTED"), plan("FINISHED")]);
    expect(refused).toEqual(['STEP_STARTED: the step "plan" is open already.']);
    expect(types).toEqual(["STEP_STARTED", "STEP_FINISHED"]);
  });

  it("is a message that goes on, and is open from there (P80)", async () => {
    const { types, refused } = await afterAnswer([text("START")], [text("CONTENT"), text("START"), text("END")]);
    expect(refused).toEqual(['TEXT_MESSAGE_START: the message "m" is open already.']);
    expect(types).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
  });

  it("is a message that may also be started again, as it was (P80, P102)", async () => {
    const { types, refused } = await afterAnswer([text("START")], [text("START"), text("CONTENT"), text("END")]);
    expect(refused).toEqual([]);
    expect(types).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
  });

  it("is a client's call that the client has answered meanwhile, and a snapshot may tell so (P112, P120)", async () => {
    const made = { id: "c", type: "function" as const, function: { name: "book", arguments: "" } };
    const messages = [
      { id: "c", role: "assistant" as const, toolCalls: [made] },
      { id: "r", role: "tool" as const, toolCallId: "c", content: "done" },
    ];
    const tools = [{ name: "book", description: "", parameters: {} }];
    const refused: string[] = [];
    const agent = emitting([call("START"), call("END")], async (context) => {
      await context.input("Sure?");
      await context
        .emit({ type: "MESSAGES_SNAPSHOT", messages } as never)
        .catch((error) => refused.push(error.message));
    });
    const asked = await agent.run({ messages: [], tools });
    const run = await agent.answer(soleInterrupt(asked), "yes", { messages, tools });
    expect([shown(run), refused]).toEqual([["MESSAGES_SNAPSHOT"], []]);
  });

  it("is a subagent that has nothing left to say but its end (P127)", async () => {
    const subagent = (what: string) => an(`SUBAGENT_${what}`, { subagentRunId: "s", name: "Booker" });
    const { types, refused } = await afterAnswer([subagent("STARTED")], [subagent("FINISHED")]);
    expect(refused).toEqual([]);
    expect(types).toEqual(["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]);
  });

  it("is no subagent that has finished: one invocation is announced once (P125)", async () => {
    const subagent = (what: string) => an(`SUBAGENT_${what}`, { subagentRunId: "s", name: "Booker" });
    const { types, refused } = await afterAnswer([subagent("STARTED"), subagent("FINISHED")], [subagent("STARTED")]);
    expect(refused).toEqual(['SUBAGENT_STARTED: "s" was used; it names one invocation, from its announcement on.']);
    expect(types).toEqual([]);
  });
});

describe("calls", () => {
  it("carry their arguments as they are, JSON or not (P114)", async () => {
    const { run } = await emit([
      call("START"),
      call("ARGS", "c", { delta: '{"a":' }),
      call("ARGS", "c", { delta: "oops" }),
      call("END"),
    ]);
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta)).toEqual([
      '{"a":',
      "oops",
    ]);
  });

  it("that are left to others are named by a success, in call order, and by nothing else (P113)", async () => {
    const { run } = await emit([
      call("START", "c1"),
      call("END", "c1"),
      call("START", "c2"),
      call("END", "c2"),
      call("START", "c3"),
      call("RESULT", "c2"),
    ]);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["c1", "c3"] });
    const { run: answered } = await emit([call("START"), call("RESULT")]);
    expect(answered.outcome).toEqual({ type: "success" });
    const { run: backwards } = await emit([call("RESULT", "c1"), call("START", "c1"), call("START", "c2")]);
    expect(backwards.outcome).toEqual({ type: "success", pendingToolCallIds: ["c2"] });
  });

  it("say what is said beside an empty piece of their arguments, as a message does of its words (P142)", async () => {
    const metadata = { "acme:cost": 1 };
    const { run } = await emit([
      call("START"),
      call("ARGS", "c", { delta: "" }),
      call("ARGS", "c", { delta: "", metadata }),
      call("END"),
      text("START"),
      text("CONTENT", "m", { delta: "" }),
      text("CONTENT", "m", { delta: "", rawEvent: 1 }),
      text("CONTENT", "m", { delta: "\ud83d", metadata }),
      text("CONTENT", "m", { delta: "\ude00" }),
    ]);
    expect(run.events.slice(1, -2)).toEqual([
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "book" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "", metadata },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "TEXT_MESSAGE_START", messageId: "m" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", rawEvent: 1 },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", metadata },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "\ud83d\ude00" },
    ]);
  });

  it("are not started again in the run after an interrupt: their arguments would be appended (P83, P102)", async () => {
    const told: string[] = [];
    const agent = emitting([call("START"), call("ARGS"), call("END"), call("START", "open")], async (context) => {
      await context.input("Sure?");
      const again = an("TOOL_CALL_CHUNK", { toolCallId: "c", toolCallName: "book", delta: "{}" });
      for (const event of [call("START"), call("START", "open"), call("ARGS"), again, call("RESULT")])
        await context.emit(event as never).catch((error: Error) => told.push(error.message));
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("Go")), "yes");
    expect(shown(answered)).toEqual(["TOOL_CALL_RESULT"]);
    const again = "TOOL_CALL_START: a tool call is not started again in a later run; its arguments would be appended.";
    expect(told).toEqual([again, again, 'TOOL_CALL_ARGS: the tool call "c" is not open.', again]);
  });

  it("end without a word where their result came first, and only once (P110)", async () => {
    const { run, refused } = await emit([
      call("START"),
      call("ARGS"),
      call("RESULT"),
      call("END"),
      call("END"),
      text("START"),
      an("MESSAGES_SNAPSHOT", { messages: [] }),
      text("CONTENT"),
      text("END"),
      text("END"),
    ]);
    expect(shown(run)).toEqual([
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_END",
      "MESSAGES_SNAPSHOT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
    expect(refused).toEqual([
      'TOOL_CALL_END: the tool call "c" is not open.',
      'TEXT_MESSAGE_END: the message "m" is not open.',
    ]);
  });

  it("are opened again under the message they stood in (P102)", async () => {
    const { refused } = await emit([
      call("START", "c", { parentMessageId: "m" }),
      call("END"),
      call("START", "c", { parentMessageId: "n" }),
      call("START", "c", { parentMessageId: "m" }),
    ]);
    expect(refused).toEqual(['TOOL_CALL_START: "c" was opened with another parentMessageId.']);
  });

  it("may be opened again where a snapshot has restated them (P102, P120)", async () => {
    const made = { id: "c", type: "function", function: { name: "book", arguments: "" } };
    const { run, refused } = await emit([
      call("START"),
      call("END"),
      an("MESSAGES_SNAPSHOT", { messages: [{ id: "c", role: "assistant", toolCalls: [made] }] }),
      call("START"),
      call("ARGS"),
    ]);
    expect(refused).toEqual([]);
    expect(shown(run).slice(-3)).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"]);
  });

  it("of the server's may be answered by a snapshot (P112, P120)", async () => {
    const made = { id: "c", type: "function", function: { name: "book", arguments: "" } };
    const messages = [
      { id: "c", role: "assistant", toolCalls: [made] },
      { id: "r", role: "tool", toolCallId: "c", content: "done" },
    ];
    const { run, refused } = await emit([call("START"), call("END"), an("MESSAGES_SNAPSHOT", { messages })]);
    expect(refused).toEqual([]);
    expect(shown(run)).toEqual(["TOOL_CALL_START", "TOOL_CALL_END", "MESSAGES_SNAPSHOT"]);
  });

  it("take the id of the message they make, which no result may have (P110, P115)", async () => {
    const { run, refused } = await emit([call("START"), call("END"), call("RESULT", "c", { messageId: "c" })]);
    expect(refused).toEqual(['TOOL_CALL_RESULT: "c" is another message already; a result takes an id of its own.']);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["c"] });
  });

  it("are complete once they have a result (P110)", async () => {
    const { run, refused } = await emit([call("START"), call("RESULT", "c", { role: "tool" }), call("ARGS")]);
    expect(shown(run)).toEqual(["TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT"]);
    expect(refused).toEqual(['TOOL_CALL_ARGS: the tool call "c" is not open.']);
  });

  it("of a frontend tool are never answered here, not in a snapshot either (P112)", async () => {
    const tools = [{ name: "book", description: "Books." }];
    const { run, refused } = await emit(
      [
        call("START"),
        call("END"),
        call("RESULT"),
        an("MESSAGES_SNAPSHOT", {
          messages: [
            {
              id: "c",
              role: "assistant",
              toolCalls: [{ id: "c", type: "function", function: { name: "book", arguments: "" } }],
            },
            { id: "t", role: "tool", toolCallId: "c", content: "made up" },
          ],
        }),
      ],
      { tools },
    );
    expect(shown(run)).toEqual(["TOOL_CALL_START", "TOOL_CALL_END"]);
    expect(run.outcome).toEqual({ type: "success", pendingToolCallIds: ["c"] });
    expect(refused).toEqual([
      'TOOL_CALL_RESULT: the call "c" is for the client to answer.',
      'MESSAGES_SNAPSHOT: the call "c" is for the client to answer.',
    ]);
    const backwards = await emit([call("RESULT"), call("START")], { tools });
    expect(shown(backwards.run)).toEqual(["TOOL_CALL_RESULT"]);
    expect(backwards.refused).toEqual([
      'TOOL_CALL_START: the call "c" has a result, and its tool is the client\'s to answer for.',
    ]);
  });

  it("are the frontend's or the server's as they were when they were shown: a resume may come with other tools (P112)", async () => {
    const declared = [{ name: "book", description: "Books." }];
    const asking = async (context: AgentContext) => {
      const shown = context.toolCall("book", {}, async (_args, { input }) => `booked ${await input("When?")}`, {
        toolCallId: "served",
      });
      return shown.catch((error: Error) => error.message);
    };
    const served = emitting([], asking);
    const declaring = await served.answer(soleInterrupt(await served.run("Go")), "today", { tools: declared });
    expect(declaring.result).toBe("booked today");
    expect(shown(declaring)).toEqual(["TOOL_CALL_RESULT"]);

    const refused: string[] = [];
    const kept = emitting([call("START"), call("END")], async (context) => {
      await context.input("Well?");
      await context.emit(call("RESULT") as never).catch((error: Error) => refused.push(error.message));
    });
    const asked = await kept.run({ tools: declared });
    await kept.answer(soleInterrupt(asked), "yes", { tools: [] });
    expect(refused).toEqual(['TOOL_CALL_RESULT: the call "c" is for the client to answer.']);
  });

  it("of a frontend tool are not made by toolCall, whose tool runs here (P112)", async () => {
    let entered = 0;
    const agent = emitting([], async (context) => {
      const booked = context.toolCall("book", {}, () => {
        entered += 1;
      });
      return booked.catch((error: Error) => error.message);
    });
    const run = await agent.run({ tools: [{ name: "book", description: "Books." }] });
    expect(shown(run)).toEqual([]);
    expect(run.result).toBe(
      '"book" is a tool of the client\'s, which answers its calls: emit the call, without a result.',
    );
    expect(entered).toBe(0);
  });
});
