/** The messages a client has: whose id is taken, and what becomes of them when they are restated. */
import type { Message } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { checkWithClient } from "../support/client-check.ts";
import { an, call, emit, emitting, shown, text } from "../support/emitting.ts";
import { soleInterrupt } from "../support/runs.ts";

const history: Message[] = [
  { id: "u1", role: "user", content: "Hello" },
  {
    id: "a1",
    role: "assistant",
    content: "Hi",
    toolCalls: [{ id: "c1", type: "function", function: { name: "book", arguments: "{}" } }],
  },
  { id: "t1", role: "tool", toolCallId: "c1", content: "Booked." },
  { id: "u2", role: "user", content: "Thanks" },
];

describe("an id", () => {
  const cases: [string, Parameters<typeof emit>[0], string[], string][] = [
    [
      "of a message of the history is not opened again (P102, P151)",
      [text("START", "a1"), text("START", "new")],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'TEXT_MESSAGE_START: "a1" is a message of the history; a new message takes a new id.',
    ],
    [
      "of a call of the history is not opened again (P83, P102)",
      [call("START", "c1"), call("START", "c2")],
      ["TOOL_CALL_START", "TOOL_CALL_END"],
      'TOOL_CALL_START: "c1" is a call of the history; a new call takes a new id.',
    ],
    [
      "of a message is not a result's (P110)",
      [call("START", "c2"), call("RESULT", "c2", { messageId: "u1" })],
      ["TOOL_CALL_START", "TOOL_CALL_END"],
      'TOOL_CALL_RESULT: "u1" is another message already; a result takes an id of its own.',
    ],
    [
      "of a result is not a message's (P102)",
      [call("START", "c2"), call("RESULT", "c2"), text("START", "result of c2")],
      ["TOOL_CALL_START", "TOOL_CALL_END", "TOOL_CALL_RESULT"],
      'TEXT_MESSAGE_START: "result of c2" is a message of another role or owner.',
    ],
    [
      "of an activity is not a message's (P121)",
      [
        an("ACTIVITY_SNAPSHOT", { messageId: "x", activityType: "plan", content: {} }),
        text("START", "x"),
        an("REASONING_MESSAGE_START", { messageId: "x" }),
      ],
      ["ACTIVITY_SNAPSHOT"],
      'TEXT_MESSAGE_START: "x" is a message of another role or owner.|' +
        'REASONING_MESSAGE_START: "x" is a message of another role or owner.',
    ],
    [
      "of a message is not an activity's (P121)",
      [
        an("ACTIVITY_SNAPSHOT", { messageId: "u1", activityType: "plan", content: {} }),
        text("START", "m"),
        an("ACTIVITY_SNAPSHOT", { messageId: "m", activityType: "plan", content: {} }),
      ],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'ACTIVITY_SNAPSHOT: "u1" is no activity but another message.|ACTIVITY_SNAPSHOT: "m" is no activity but another message.',
    ],
    [
      "of a reasoning message is not a message's, nor the other way round (P102)",
      [
        an("REASONING_MESSAGE_START", { messageId: "r" }),
        text("START", "r"),
        text("START", "m"),
        an("REASONING_MESSAGE_START", { messageId: "m" }),
      ],
      ["REASONING_MESSAGE_START", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "REASONING_MESSAGE_END"],
      'TEXT_MESSAGE_START: "r" is a message of another role or owner.|REASONING_MESSAGE_START: "m" is a message of another role or owner.',
    ],
    [
      "of a message that is not the assistant's carries no call (P115)",
      [call("START", "c2", { parentMessageId: "u1" }), call("START", "c3", { parentMessageId: "t1" })],
      [],
      'TOOL_CALL_START: the parent "u1" is no message of the assistant\'s.|TOOL_CALL_START: the parent "t1" is no message of the assistant\'s.',
    ],
  ];
  it.each(cases)("%s", async (_name, events, types, messages) => {
    const { run, refused } = await emit(events, { messages: history });
    expect(shown(run)).toEqual(types);
    expect(refused.join("|")).toBe(messages);
  });

  it("of the message that a call made for itself, or stands in, takes text (P102, P115)", async () => {
    const { run, refused } = await emit(
      [
        call("START", "c2", { parentMessageId: "a1" }),
        call("END", "c2"),
        call("START", "c3", { parentMessageId: "later" }),
        call("END", "c3"),
        text("START", "later"),
        text("CONTENT", "later"),
      ],
      { messages: history },
    );
    expect(refused).toEqual([]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.map(({ id, content }) => `${id}: ${content}`)).toEqual([
      "u1: Hello",
      "a1: Hi",
      "t1: Booked.",
      "u2: Thanks",
      "later: Hi",
    ]);
  });

  it("that an interrupt closed goes on under the same id, although the history holds it by then (P80, P102)", async () => {
    const agent = emitting([text("START"), text("CONTENT", "m", { delta: "Shall I" })], async (context) => {
      await context.input("Sure?");
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "? I shall." });
    });
    const asked = await agent.run({ messages: history });
    const { messages } = await checkWithClient(asked.raw, asked.input as never);
    const answered = await agent.answer(soleInterrupt(asked), "yes", { messages });
    expect(shown(answered)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
    const after = (await checkWithClient(answered.raw, answered.input as never)).messages;
    expect(after.at(-1)).toEqual({ id: "m", role: "assistant", content: "Shall I? I shall." });
  });
});

describe("a snapshot of the messages", () => {
  const said: Message = { id: "m", role: "assistant", content: "Shown." };

  it("goes out as it is, and a message it restates may go on (P120)", async () => {
    const { run, refused, warned } = await emit(
      [
        text("START"),
        text("CONTENT"),
        text("END"),
        an("MESSAGES_SNAPSHOT", { messages: [...history, said] }),
        text("START"),
        text("CONTENT", "m", { delta: " And more." }),
      ],
      { messages: history },
    );
    expect([refused, warned]).toEqual([[], []]);
    expect(run.events[4]).toEqual({ type: "MESSAGES_SNAPSHOT", messages: [...history, said] });
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages).toEqual([...history, { ...said, content: "Shown. And more." }]);
  });

  it("that leaves out what its client sent is served with a warning: the client drops it (P120)", async () => {
    const { run, warned } = await emit([an("MESSAGES_SNAPSHOT", { messages: [said] })], { messages: history });
    expect(shown(run)).toEqual(["MESSAGES_SNAPSHOT"]);
    expect(warned).toEqual(["MESSAGES_DROPPED"]);
    // Activities and reasoning are the client's own business where the snapshot has none.
    const own: Message[] = [
      { id: "r", role: "reasoning", content: "Hm" },
      { id: "p", role: "activity", activityType: "plan", content: {} },
    ];
    const quiet = await emit([an("MESSAGES_SNAPSHOT", { messages: history })], { messages: [...history, ...own] });
    expect(quiet.warned).toEqual([]);
  });

  it("may take back what the turn showed, without a warning (P120)", async () => {
    const { run, warned } = await emit(
      [text("START"), text("CONTENT"), text("END"), an("MESSAGES_SNAPSHOT", { messages: history })],
      { messages: history },
    );
    expect(warned).toEqual([]);
    expect((await checkWithClient(run.raw, run.input as never)).messages).toEqual(history);
  });

  it("ends what is open and not among them, which begins anew when it goes on (P54, P120)", async () => {
    const { run, refused } = await emit(
      [
        text("START"),
        text("CONTENT", "m", { delta: "Gone." }),
        call("START", "c2"),
        an("REASONING_START", { messageId: "r" }),
        an("REASONING_MESSAGE_START", { messageId: "r" }),
        an("MESSAGES_SNAPSHOT", { messages: history }),
        text("CONTENT", "m", { delta: "Anew." }),
        call("ARGS", "c2"),
        an("REASONING_MESSAGE_CONTENT", { messageId: "r", delta: "Hm" }),
      ],
      { messages: history },
    );
    expect(shown(run)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TOOL_CALL_START",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "TOOL_CALL_END",
      "TEXT_MESSAGE_END",
      "MESSAGES_SNAPSHOT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "REASONING_MESSAGE_END",
      "REASONING_END",
    ]);
    expect(refused).toEqual(['TOOL_CALL_ARGS: the tool call "c2" is not open.']);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.find(({ id }) => id === "m")?.content).toBe("Anew.");
  });

  const refusals: [string, Message[], string][] = [
    ["with one id twice", [said, said], "MESSAGES_SNAPSHOT: two of the messages have one id."],
    [
      "that gives an open message to another owner (P128)",
      [{ ...said, subagentRunId: "a" }],
      'MESSAGES_SNAPSHOT: the open message "m" is given another owner.',
    ],
  ];
  it.each(refusals)("is refused %s", async (_name, messages, message) => {
    const { run, refused } = await emit([text("START"), an("MESSAGES_SNAPSHOT", { messages })]);
    expect(shown(run)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"]);
    expect(refused).toEqual([message]);
  });

  it("carries no owner (P63)", async () => {
    const { run, warned } = await emit([an("MESSAGES_SNAPSHOT", { messages: [], subagentRunId: "a" })], {
      messages: [],
    });
    expect(run.events[1]).toEqual({ type: "MESSAGES_SNAPSHOT", messages: [] });
    expect(warned).toEqual(["EVENT_STRIPPED"]);
  });

  it("goes out before each interrupt where the agent keeps the messages, and only there (P85)", async () => {
    const kept: Message[] = [...history];
    const agent = emitting([], async (context) => {
      context.keepMessages(() => kept);
      await context.setState({ step: 1 });
      kept.push({ id: await context.text("Shall I?"), role: "assistant", content: "Shall I?" });
      await context.input("Sure?");
      kept.push({ id: await context.text("Done."), role: "assistant", content: "Done." });
    });
    const asked = await agent.run({ messages: history });
    expect(shown(asked)).toEqual([
      "STATE_SNAPSHOT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "STATE_SNAPSHOT",
      "MESSAGES_SNAPSHOT",
      "TEXT_MESSAGE_END",
    ]);
    expect(asked.events[5]?.messages).toEqual(kept);
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect(shown(answered)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
  });

  it("that cannot go out before an interrupt is told of, and the question goes out (P85)", async () => {
    for (const give of [
      () => [said, said],
      () => {
        throw new Error("secret");
      },
    ]) {
      const agent = emitting([], async (context) => {
        context.keepMessages(give);
        await context.input("Sure?");
      });
      const asked = await agent.run("Go");
      expect(shown(asked)).toEqual([]);
      expect(asked.interrupts).toHaveLength(1);
      expect(agent.warnings.map(({ code }) => code)).toEqual(["MESSAGES_NOT_SHOWN"]);
      expect(JSON.stringify(agent.warnings)).not.toContain("secret");
    }
  });
});

describe("an encrypted value", () => {
  const value = (subtype: string, entityId: string, members: object = {}) =>
    an("REASONING_ENCRYPTED_VALUE", { subtype, entityId, encryptedValue: "x", ...members });

  it("stays with a message or a call that is there, of the history too (P105)", async () => {
    const { run, refused } = await emit(
      [
        text("START"),
        text("END"),
        call("START", "c2", { subagentRunId: "a" }),
        call("END", "c2"),
        value("message", "m"),
        value("message", "a1"),
        value("tool-call", "c1"),
        value("tool-call", "c2"),
        value("tool-call", "c2", { subagentRunId: "a" }),
      ],
      { messages: history },
    );
    expect(refused).toEqual([]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.map((message) => (message as { encryptedValue?: string }).encryptedValue)).toEqual([
      undefined,
      "x",
      undefined,
      undefined,
      "x",
      undefined,
    ]);
  });

  it("is refused where nothing can hold it, or it is another's (P105)", async () => {
    const { run, refused } = await emit([
      an("ACTIVITY_SNAPSHOT", { messageId: "p", activityType: "plan", content: {} }),
      value("message", "p"),
      value("message", "nobody"),
      value("tool-call", "p"),
      text("START"),
      value("message", "m", { subagentRunId: "a" }),
    ]);
    expect(shown(run)).toEqual(["ACTIVITY_SNAPSHOT", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END"]);
    expect(refused).toEqual([
      'REASONING_ENCRYPTED_VALUE: there is no message "p" to keep the value.',
      'REASONING_ENCRYPTED_VALUE: there is no message "nobody" to keep the value.',
      'REASONING_ENCRYPTED_VALUE: there is no tool-call "p" to keep the value.',
      'REASONING_ENCRYPTED_VALUE: "m" belongs to another owner.',
    ]);
  });
});

describe("an activity", () => {
  const snapshot = (content: object, members: object = {}) =>
    an("ACTIVITY_SNAPSHOT", { messageId: "p", activityType: "plan", content, ...members });
  const delta = (patch: object[], members: object = {}) =>
    an("ACTIVITY_DELTA", { messageId: "p", activityType: "plan", patch, ...members });

  it("changes by patches that apply to what was shown of it (P121)", async () => {
    const { run, refused } = await emit([
      snapshot({ steps: ["a"] }),
      delta([{ op: "add", path: "/steps/-", value: "b" }]),
      snapshot({ steps: [] }, { replace: false }),
      delta([
        { op: "test", path: "/steps/1", value: "b" },
        { op: "remove", path: "/steps/0" },
      ]),
      snapshot({ done: true }),
      delta([{ op: "replace", path: "/done", value: false }], { activityType: "log" }),
    ]);
    expect(refused).toEqual([]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.at(-1)).toEqual({ id: "p", role: "activity", activityType: "log", content: { done: false } });
  });

  it("is not changed before it was shown, by what does not apply, into what is no object, or by another (P121)", async () => {
    const { run, refused } = await emit([
      delta([]),
      snapshot({ steps: ["a"] }),
      delta([{ op: "replace", path: "/none", value: 1 }]),
      delta([{ op: "replace", path: "", value: [] }]),
      delta([], { subagentRunId: "a" }),
      delta([{ op: "test", path: "/steps/0", value: "a" }]),
    ]);
    expect(shown(run)).toEqual(["ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"]);
    expect(refused).toEqual([
      'ACTIVITY_DELTA: the activity "p" was not shown.',
      "ACTIVITY_DELTA: the patch does not apply to the activity as it stands.",
      "ACTIVITY_DELTA: an activity's content stays an object.",
      'ACTIVITY_DELTA: the activity "p" belongs to another owner.',
    ]);
  });
});
