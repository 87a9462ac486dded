/** Chunk forms, which never reach the wire: they leave as start, content and end. */
import type { Message } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { checkWithClient } from "../support/client-check.ts";
import { an, call, emit, shown, text } from "../support/emitting.ts";

const chunk = (members: object = {}) => an("TEXT_MESSAGE_CHUNK", members);
const callChunk = (members: object = {}) => an("TOOL_CALL_CHUNK", members);
const reasoningChunk = (members: object = {}) => an("REASONING_MESSAGE_CHUNK", members);

describe("chunks", () => {
  it("become the three forms of each kind (P106)", async () => {
    const { run, refused } = await emit([
      chunk({ messageId: "m", role: "assistant", delta: "Hel" }),
      chunk({ delta: "lo", metadata: { "acme:last": true } }),
      callChunk({ toolCallId: "c", toolCallName: "book", parentMessageId: "m", delta: "{" }),
      callChunk({ toolCallId: "c", toolCallName: "book", delta: "}" }),
      reasoningChunk({ messageId: "r", delta: "Hm" }),
      reasoningChunk({ delta: "?" }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events.slice(1, -1)).toEqual([
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hel" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "lo", metadata: { "acme:last": true } },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "book", parentMessageId: "m" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "{" },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "}" },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "Hm" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "?" },
      { type: "REASONING_MESSAGE_END", messageId: "r" },
    ]);
  });

  it("may say again what they were opened with, and keep what every event may have", async () => {
    const { run, refused } = await emit([
      chunk({ messageId: "m", timestamp: 1, rawEvent: { provider: "x" } }),
      chunk({ messageId: "m", role: "assistant", delta: "a", timestamp: 2 }),
      chunk({ name: "Booker", delta: "b" }),
      callChunk({ toolCallId: "c", toolCallName: "book", delta: "{}" }),
      callChunk({ toolCallName: "cancel", delta: "{}" }),
    ]);
    expect(run.events.slice(1, 4)).toEqual([
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant", timestamp: 1, rawEvent: { provider: "x" } },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a", timestamp: 2 },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    expect(refused).toEqual([
      'TEXT_MESSAGE_CHUNK: "m" was opened with another name.',
      'TOOL_CALL_CHUNK: "c" was opened with another toolCallName.',
    ]);
  });

  it("with another id open another item (P106)", async () => {
    const { run } = await emit([chunk({ messageId: "m1", delta: "a" }), chunk({ messageId: "m2", delta: "b" })]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.slice(-2)).toEqual([
      { id: "m1", role: "assistant", content: "a" },
      { id: "m2", role: "assistant", content: "b" },
    ]);
  });

  it.each([
    ["CUSTOM", an("CUSTOM", { name: "n", value: 1 })],
    ["STATE_SNAPSHOT", an("STATE_SNAPSHOT", { snapshot: {} })],
    ["STEP_STARTED", an("STEP_STARTED", { stepName: "s" })],
  ])("end at a %s of their lane: the next needs its id again (P108)", async (type, event) => {
    const { run, refused } = await emit([
      chunk({ messageId: "m", delta: "Half " }),
      event,
      chunk({ delta: "and half." }),
    ]);
    expect(shown(run).slice(0, 4)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", type]);
    expect(refused).toEqual(["The first TEXT_MESSAGE_CHUNK must have a messageId."]);
  });

  const of = (subagentRunId: string) => ({ subagentRunId });
  const unsound: [string, ReturnType<typeof an>][] = [
    ["content of no message", text("CONTENT", "x")],
    ["an end of no step", an("STEP_FINISHED", { stepName: "s" })],
    ["an end of no subagent", an("SUBAGENT_FINISHED", { subagentRunId: "x" })],
    ["what JSON cannot say", an("CUSTOM", { name: "n", value: 1n })],
    ["a start in the history", text("START", "u")],
    ["a chunk in the history", chunk({ messageId: "u", delta: "x" })],
    [
      "a first chunk of a call in another's message",
      callChunk({ toolCallId: "c", toolCallName: "t", parentMessageId: "u" }),
    ],
    ["a first chunk of a call without its tool", callChunk({ toolCallId: "c" })],
  ];
  it.each(unsound)("go on after %s, which is refused, in a subagent's lane too (P108)", async (_what, event) => {
    const messages: Message[] = [{ id: "u", role: "user", content: "Go" }];
    for (const tag of [{}, of("s")]) {
      const tagged = event.type.startsWith("SUBAGENT_") ? event : { ...event, ...tag };
      const sent = [chunk({ messageId: "m", delta: "a", ...tag }), tagged, chunk({ delta: "b", ...tag })];
      const { run, refused } = await emit(sent, { messages });
      expect(refused).toHaveLength(1);
      expect(shown(run)).toEqual([
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
      ]);
      expect(run.text).toBe("ab");
    }
  });

  it("have ended before what ends them goes out, each lane by its own events, and whole (P108, P109)", async () => {
    const { run, refused } = await emit([
      an("SUBAGENT_STARTED", { ...of("s"), name: "Booker" }),
      chunk({ messageId: "m1", delta: "a" }),
      chunk({ messageId: "m2", delta: "b\ud83d", ...of("s") }),
      an("STEP_STARTED", { stepName: "plan", ...of("s") }),
      callChunk({ toolCallId: "c", toolCallName: "book", delta: "{}", ...of("s") }),
      chunk({ delta: "c" }),
      an("SUBAGENT_FINISHED", of("s")),
      chunk({ delta: "d" }),
      text("START", "m3"),
    ]);
    expect(refused).toEqual([]);
    const said = run.events.map(({ type, messageId, toolCallId, delta }) =>
      [type, messageId ?? toolCallId, delta].filter((part) => part !== undefined).join(" "),
    );
    expect(said.slice(2, -1)).toEqual([
      "TEXT_MESSAGE_START m1",
      "TEXT_MESSAGE_CONTENT m1 a",
      "TEXT_MESSAGE_START m2",
      "TEXT_MESSAGE_CONTENT m2 b",
      "TEXT_MESSAGE_CONTENT m2 \ufffd",
      "TEXT_MESSAGE_END m2",
      "STEP_STARTED",
      "TOOL_CALL_START c",
      "TOOL_CALL_ARGS c {}",
      "TEXT_MESSAGE_CONTENT m1 c",
      "TOOL_CALL_END c",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
      "TEXT_MESSAGE_CONTENT m1 d",
      "TEXT_MESSAGE_END m1",
      "TEXT_MESSAGE_START m3",
      "TEXT_MESSAGE_END m3",
    ]);
  });

  it("say what is said beside no delta, or an empty one (P142)", async () => {
    const metadata = { "acme:cost": 1 };
    const rawEvent = { provider: "x" };
    const { run, refused } = await emit([
      chunk({ messageId: "m", delta: "", metadata }),
      chunk({ delta: "a" }),
      chunk({}),
      chunk({ delta: "" }),
      chunk({ metadata }),
      chunk({ delta: "\ud83d", metadata, rawEvent }),
      chunk({ delta: "\ude00" }),
      callChunk({ toolCallId: "c", toolCallName: "book", metadata }),
      callChunk({ rawEvent }),
      reasoningChunk({ messageId: "r", delta: "" }),
      reasoningChunk({ metadata }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events.slice(1, -1)).toEqual([
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", metadata },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", metadata },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "", metadata, rawEvent },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "\ud83d\ude00" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "book", metadata },
      { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "", rawEvent },
      { type: "TOOL_CALL_END", toolCallId: "c" },
      { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
      { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "", metadata },
      { type: "REASONING_MESSAGE_END", messageId: "r" },
    ]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.find(({ id }) => id === "m")).toMatchObject({ content: "a\ud83d\ude00", metadata });
  });

  it("go on after what does not end them (P108)", async () => {
    const { run, refused } = await emit([
      chunk({ messageId: "m", delta: "a" }),
      an("RAW", { event: {} }),
      an("ACTIVITY_SNAPSHOT", { messageId: "p", activityType: "plan", content: {} }),
      an("ACTIVITY_DELTA", { messageId: "p", activityType: "plan", patch: [] }),
      an("REASONING_ENCRYPTED_VALUE", { subtype: "message", entityId: "m", encryptedValue: "x" }),
      an("SUBAGENT_STARTED", { subagentRunId: "s", name: "Booker" }),
      an("CUSTOM", { name: "n", value: 1, subagentRunId: "s" }),
      chunk({ delta: "b" }),
    ]);
    expect(refused).toEqual([]);
    expect(run.text).toBe("ab");
    expect(shown(run).filter((type) => type.startsWith("TEXT_"))).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
    ]);
  });

  it("of several subagents go on by their tag, never by guess (P109)", async () => {
    const { run, refused } = await emit([
      chunk({ messageId: "m1", delta: "a", ...of("s1") }),
      chunk({ messageId: "m2", delta: "b", ...of("s2") }),
      chunk({ delta: "a", ...of("s1") }),
      chunk({ delta: "b", ...of("s2") }),
      chunk({ delta: "?" }),
    ]);
    expect(refused).toEqual(["TEXT_MESSAGE_CHUNK: several subagents stream at once; say which with subagentRunId."]);
    const { messages } = await checkWithClient(run.raw, run.input as never);
    expect(messages.slice(-2)).toEqual([
      { id: "m1", role: "assistant", content: "aa", subagentRunId: "s1" },
      { id: "m2", role: "assistant", content: "bb", subagentRunId: "s2" },
    ]);
  });

  const refusals: [string, Parameters<typeof emit>[0], string][] = [
    ["without an id (P106)", [chunk({ delta: "a" })], "The first TEXT_MESSAGE_CHUNK must have a messageId."],
    [
      "without a tool's name (P106)",
      [callChunk({ toolCallId: "c", delta: "{" })],
      "The first TOOL_CALL_CHUNK must have a toolCallName.",
    ],
    [
      "with another role (P106)",
      [chunk({ messageId: "m", delta: "a" }), chunk({ role: "user", delta: "b" })],
      'TEXT_MESSAGE_CHUNK: "m" was opened with another role.',
    ],
    [
      "of another tool (P106)",
      [callChunk({ toolCallId: "c", toolCallName: "book" }), callChunk({ toolCallName: "pay" })],
      'TOOL_CALL_CHUNK: "c" was opened with another toolCallName.',
    ],
    [
      "after a START of their id (P107)",
      [text("START"), chunk({ messageId: "m", delta: "a" })],
      'TEXT_MESSAGE_CHUNK: "m" was opened by a START.',
    ],
    [
      "before an END of their id (P107)",
      [callChunk({ toolCallId: "c", toolCallName: "book" }), call("END")],
      'TOOL_CALL_END: "c" is streamed by chunks.',
    ],
  ];
  it.each(refusals)("are refused %s", async (_name, events, message) => {
    expect((await emit(events)).refused).toEqual([message]);
  });

  it("that repeat what was said, an absent role being the assistant's, go on (P106)", async () => {
    const { run, refused } = await emit([
      chunk({ messageId: "m", delta: "a" }),
      chunk({ messageId: "m", role: "assistant", delta: "b" }),
    ]);
    expect([refused, run.text]).toEqual([[], "ab"]);
  });
});
