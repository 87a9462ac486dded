/** Frames: one event each, in order, small enough for every reader, and their members as the protocol has them. */
import { describe, expect, it } from "vitest";
import { an, call, emit, emitting, shown, text } from "../support/emitting.ts";

const MIB = 1024 * 1024;

describe("frames", () => {
  it("are one JSON object and a blank line each, with LF alone, whatever text they carry (P21, P22)", async () => {
    const { run } = await emit([text("START"), text("CONTENT", "m", { delta: "a\r\nb\n\ndata: x\u2028\u2029\u0085" })]);
    expect(run.raw).not.toMatch(/[\r\u0085\u2028\u2029]/);
    const blocks = run.raw.split("\n\n");
    expect(blocks.pop()).toBe("");
    expect(blocks.map((block) => JSON.parse(block.slice("data: ".length)).type)).toEqual(
      run.events.map(({ type }) => type),
    );
    expect(run.text).toBe("a\r\nb\n\ndata: x\u2028\u2029\u0085");
  });

  it("have neither ids nor event names, and nothing follows the last (P24, P25)", async () => {
    const { run } = await emit([text("START"), text("CONTENT")]);
    expect(run.raw).not.toMatch(/^(id|event|retry):/m);
    expect(run.raw).not.toContain("[DONE]");
    expect(run.raw).toMatch(/\n\ndata: \{"type":"RUN_FINISHED"[^\n]*\}\n\n$/);
  });

  it("come whole and in order, ten thousand of them (P27)", async () => {
    const agent = emitting([], async (context) => {
      for (let i = 0; i < 10_000; i += 1) await context.text(`${i},`);
    });
    const run = await agent.run("Go");
    expect(run.text).toBe(`${Array.from({ length: 10_000 }, (_, i) => i).join(",")},`);
  }, 60_000);

  it("are pieces where a delta is too long for one, pairs kept whole (P32)", async () => {
    // Three bytes a unit, and a pair across the cut.
    const long = `${"\u20ac".repeat(MIB - 1)}😀.`;
    const { run, refused } = await emit([
      text("START"),
      text("CONTENT", "m", { delta: long, metadata: { "acme:a": 1 }, rawEvent: { native: true } }),
      call("START"),
      call("ARGS", "c", { delta: long }),
    ]);
    expect(refused).toEqual([]);
    const pieces = run.events.filter(({ type, messageId }) => type === "TEXT_MESSAGE_CONTENT" && messageId === "m");
    expect(pieces.map(({ delta }) => delta.length)).toEqual([MIB - 1, 3]);
    expect(pieces.map(({ delta }) => delta).join("")).toBe(long);
    expect(pieces.filter(({ metadata, rawEvent }) => metadata !== undefined && rawEvent !== undefined)).toHaveLength(1);
    expect(Math.max(...run.raw.split("\n\n").map((frame) => Buffer.byteLength(frame)))).toBeLessThan(8 * MIB);
    const args = run.events.filter(({ type }) => type === "TOOL_CALL_ARGS");
    expect(args.map(({ delta }) => delta).join("")).toBe(long);
  }, 60_000);

  it("are pieces of text, reasoning and arguments that the context sends too (P32)", async () => {
    const long = "\u0001".repeat(MIB + 1);
    const agent = emitting([], async (context) => {
      await context.text("a");
      await context.text(long);
      await context.reasoning(long);
      await context.toolCall("book", { long }, () => "");
    });
    const run = await agent.run("Go");
    expect(run.text).toBe(`a${long}`);
    expect(Math.max(...run.raw.split("\n\n").map((frame) => frame.length))).toBeLessThan(8 * MIB);
  }, 60_000);

  it("that cannot be cut are refused: events, a tool's result, a run's result, too long a question (P32)", async () => {
    const long = "\u20ac".repeat(3 * MIB);
    const agent = emitting(
      [an("CUSTOM", { name: "n", value: long }), an("STATE_SNAPSHOT", { snapshot: long })],
      async (context) => {
        const failed = await context.toolCall("read", {}, () => long).catch((error: Error) => error.message);
        const unasked = await context.input(long).catch((error: Error) => error.message);
        return [failed, unasked];
      },
    );
    const run = await agent.run("Go");
    expect(shown(run)).toEqual(["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"]);
    expect(run.events[4]).toMatchObject({ content: "The tool failed." });
    expect(agent.refused).toEqual([
      "CUSTOM is longer than the 8388608 bytes a frame may have.",
      "STATE_SNAPSHOT is longer than the 8388608 bytes a frame may have.",
    ]);
    expect(run.result).toEqual([
      "TOOL_CALL_RESULT is longer than the 8388608 bytes a frame may have.",
      "The questions asked together are longer than 1048576 characters.",
    ]);
    const result = await emitting([], () => long).run("Go");
    expect(result.error).toEqual({ type: "RUN_ERROR", message: "The agent failed.", code: "AGENT_FAILED" });
  }, 60_000);

  it("do not repeat before an interrupt a state that has grown too long for one (P32)", async () => {
    const part = "x".repeat(3 * MIB);
    const agent = emitting([], async (context) => {
      for (const name of ["a", "b", "c"]) await context.patchState([{ op: "add", path: `/${name}`, value: part }]);
      await context.input("Sure?");
    });
    const asked = await agent.run("Go");
    expect(shown(asked)).toEqual(["STATE_DELTA", "STATE_DELTA", "STATE_DELTA"]);
    expect(asked.interrupts).toHaveLength(1);
  }, 60_000);

  it("carry metadata as it is: any object, never null, the keys' own nulls kept (P141, P142)", async () => {
    const metadata = { "acme:a": null, "acme:b": { deep: [null] } };
    const { run, refused } = await emit([
      text("START", "m", { metadata }),
      text("END", "m", { metadata: null }),
      an("CUSTOM", { name: "n", value: 1, metadata: "x" }),
    ]);
    expect(run.events.slice(1, -1)).toEqual([
      { type: "TEXT_MESSAGE_START", messageId: "m", metadata },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
    ]);
    expect(refused).toEqual(["CUSTOM: metadata: expected an object, found a string."]);
  });

  it("pass RAW and CUSTOM through, beside the standard events and never in their place (P123)", async () => {
    const { run, refused } = await emit([
      an("RAW", { event: { native: [1, null] }, source: "acme" }),
      an("CUSTOM", { name: "acme:progress", value: null }),
      an("THINKING_TEXT_MESSAGE_START"),
    ]);
    expect(run.events.slice(1, -1)).toEqual([
      { type: "RAW", event: { native: [1, null] }, source: "acme" },
      { type: "CUSTOM", name: "acme:progress", value: null },
    ]);
    expect(refused).toEqual(["THINKING_TEXT_MESSAGE_START is no event of AG-UI 1.0."]);
  });

  it("have what the protocol does not describe taken out, each kind told of once a turn (P47, P123)", async () => {
    const { run, refused, warned } = await emit([
      text("START", "m", { foo: 1 }),
      text("CONTENT", "m", { foo: 2 }),
      text("CONTENT", "m", { foo: 3 }),
      call("START", "c", { encryptedValueType: "x" }),
      call("RESULT", "c", { content: [{ type: "text", text: "Done.", foo: 1 }, { type: "hologram" }] }),
    ]);
    expect(refused).toEqual([]);
    expect(warned).toEqual(["EVENT_STRIPPED", "EVENT_STRIPPED", "EVENT_STRIPPED", "EVENT_STRIPPED", "EVENT_STRIPPED"]);
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toEqual([
      { type: "text", text: "Done." },
    ]);
    expect(run.raw).not.toContain("foo");
  });
});
