import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { soleInterrupt, typesOf } from "../support/runs.ts";

const deltasOf = (run: { events: readonly { type: string; delta?: unknown }[] }) =>
  run.events.filter(({ delta }) => typeof delta === "string").map(({ delta }) => delta);
const MESSAGE = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];

async function* stream(...deltas: string[]) {
  yield* deltas;
}

describe("text", () => {
  it("appends to the open assistant message, opening one when needed, and resolves to its id", async () => {
    const ids: string[] = [];
    const agent = agentUnderTest(async (context) => {
      ids.push(await context.text("Hel"), await context.text("lo"), await context.text("New", { newMessage: true }));
      ids.push(await context.text("."));
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2]]);
    expect(ids[0]).not.toBe(ids[2]);
    expect(run.events[1]).toMatchObject({ messageId: ids[0], role: "assistant" });
    expect(run.events[5]?.messageId).toBe(ids[2]);
  });

  it("takes a stream, as one message", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text("Before");
      const id = await context.text(stream("a", "", "b"), { newMessage: true });
      const empty = await context.text(stream());
      return id === empty;
    });
    const run = await agent.run("go");
    expect(deltasOf(run)).toEqual(["Before", "a", "b"]);
    expect(typesOf(run).filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(2);
    expect(run.result).toBe(true);
  });

  it("fails with its stream, whose message is closed", async () => {
    const agent = agentUnderTest(async (context) => {
      async function* broken() {
        yield "half";
        throw new Error("the model broke off");
      }
      return context.text(broken()).catch((error) => error.message);
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", ...MESSAGE, "RUN_FINISHED"]);
    expect(run.result).toBe("the model broke off");
  });

  it("is ended once, also where the agent ended its message by an event, and then begins another", async () => {
    const agent = agentUnderTest(async (context) => {
      const messageId = await context.text("One.");
      await context.emit({ type: "TEXT_MESSAGE_END", messageId });
      await context.text("Two.");
      const thought = await context.reasoning("Hm.");
      await context.emit({ type: "REASONING_MESSAGE_END", messageId: thought });
      await context.emit({ type: "REASONING_END", messageId: thought });
    });
    const run = await agent.run("Go");
    expect(typesOf(run).slice(1, -1)).toEqual([
      ...MESSAGE,
      ...MESSAGE,
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
    ]);
  });

  it("sends no empty delta, and an empty message is still one", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text("");
    });
    expect(typesOf(await agent.run("go"))).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it.each<[string, (context: AgentContext) => unknown, string[]]>([
    [
      "a tool call",
      (c) => c.toolCall("t", {}, () => 1),
      ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT"],
    ],
    ["a step", (c) => c.step("s", () => {}), ["STEP_STARTED", "STEP_FINISHED"]],
    ["a subagent", (c) => c.subagent({ name: "s" }, () => {}), ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]],
    [
      "reasoning",
      (c) => c.reasoning("hm"),
      [
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
      ],
    ],
    [
      "an emitted step",
      async (c) => {
        await c.emit({ type: "STEP_STARTED", stepName: "s" });
        await c.emit({ type: "STEP_FINISHED", stepName: "s" });
      },
      ["STEP_STARTED", "STEP_FINISHED"],
    ],
    [
      "an encrypted value",
      async (c) =>
        c.emit({
          type: "REASONING_ENCRYPTED_VALUE",
          subtype: "message",
          entityId: await c.text(""),
          encryptedValue: "x",
        }),
      ["REASONING_ENCRYPTED_VALUE"],
    ],
  ])("has its message closed by %s of its context", async (_by, act, types) => {
    const agent = agentUnderTest(async (context) => {
      await context.text("a");
      await act(context);
      await context.text("b");
    });
    expect(typesOf(await agent.run("go"))).toEqual(["RUN_STARTED", ...MESSAGE, ...types, ...MESSAGE, "RUN_FINISHED"]);
  });

  it.each<[string, (context: AgentContext) => unknown, string]>([
    ["state", (c) => c.setState({}), "STATE_SNAPSHOT"],
    ["a patch", (c) => c.patchState([{ op: "add", path: "/a", value: 1 }]), "STATE_DELTA"],
    ["custom", (c) => c.custom("acme:x", 1), "CUSTOM"],
    ["raw", (c) => c.emit({ type: "RAW", event: 1 }), "RAW"],
    ["activity", (c) => c.activity({ activityType: "x" }), "ACTIVITY_SNAPSHOT"],
  ])("keeps its message open beside %s", async (_by, act, type) => {
    const agent = agentUnderTest(async (context) => {
      await context.text("a");
      await act(context);
      await context.text("b");
    });
    expect(typesOf(await agent.run("go"))).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      type,
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it.each<[string, (context: AgentContext) => Promise<unknown>]>([
    ["an event out of order", (c) => c.emit({ type: "TOOL_CALL_END", toolCallId: "x" })],
    ["a step that is open", (c) => c.step("open", () => {})],
    ["an announcement without a name", (c) => c.subagent({} as never, () => {})],
    ["a reasoning that is not there", (c) => c.emit({ type: "REASONING_MESSAGE_END", messageId: "x" })],
    ["an end of no message", (c) => c.emit({ type: "TEXT_MESSAGE_END", messageId: "x" })],
    ["what JSON cannot say", (c) => c.toolCall("t", { a: 1n }, () => {})],
  ])("goes on in the same message after %s, which is refused; so does reasoning", async (_what, act) => {
    const agent = agentUnderTest(async (context) => {
      const refused: string[] = [];
      const note = (error: Error) => refused.push(error.name);
      await context.emit({ type: "STEP_STARTED", stepName: "open" });
      const said = [await context.text("a")];
      await act(context).catch(note);
      said.push(await context.text("b"));
      const thought = [await context.reasoning("c")];
      await act(context).catch(note);
      thought.push(await context.reasoning("d"));
      return [refused.length, new Set(said).size, new Set(thought).size];
    });
    const run = await agent.run("go");
    expect(run.result).toEqual([2, 1, 1]);
    expect(typesOf(run).slice(2, -2)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
    ]);
  });

  it("of a subagent's context goes on after a refused event too, and ends before an accepted one", async () => {
    const agent = agentUnderTest((context) =>
      context.subagent({ name: "s" }, async (inner) => {
        await inner.text("a");
        await inner.emit({ type: "STEP_FINISHED", stepName: "x" }).catch(() => {});
        await inner.text("b");
        await inner.emit({ type: "STEP_STARTED", stepName: "x" });
        await inner.text("c");
      }),
    );
    const run = await agent.run("go");
    expect(typesOf(run).slice(2, -3)).toEqual([
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_STARTED",
      ...MESSAGE,
    ]);
  });

  it("is each context's own: a tool's message is not the turn's, and closed with the tool", async () => {
    const agent = agentUnderTest(async (context) => {
      const ids: string[] = [];
      await Promise.all(
        ["a", "b"].map((name) =>
          context.toolCall(name, {}, async (_args, tool) => {
            ids.push(await tool.text(`${name}1`));
            await Promise.resolve();
            ids.push(await tool.text(`${name}2`));
          }),
        ),
      );
      ids.push(await context.text("turn"));
      return new Set(ids).size;
    });
    const run = await agent.run("go");
    expect(run.result).toBe(3);
    const results = typesOf(run).flatMap((type, index) => (type === "TOOL_CALL_RESULT" ? [index] : []));
    for (const index of results) expect(run.events[index - 1]?.type).toBe("TEXT_MESSAGE_END");
  });
});

describe("reasoning", () => {
  it("appends to the open reasoning, and text after it opens a message of its own", async () => {
    const agent = agentUnderTest(async (context) => {
      const a = await context.reasoning("Let me ");
      const b = await context.reasoning(stream("think", "."));
      await context.text("So:");
      const c = await context.reasoning("again");
      return [a === b, b === c];
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      ...MESSAGE,
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "RUN_FINISHED",
    ]);
    expect(run.result).toEqual([true, false]);
    expect(run.text).toBe("So:");
  });

  it("goes on, and ends, by events of its id as well; any other reasoning ends it", async () => {
    const agent = agentUnderTest(async (context) => {
      const messageId = await context.reasoning("a");
      await context.emit({ type: "REASONING_MESSAGE_CONTENT", messageId, delta: "b" });
      const same = await context.reasoning("c");
      await context.emit({ type: "REASONING_END", messageId });
      const next = await context.reasoning("d");
      await context.emit({ type: "REASONING_MESSAGE_END", messageId: next });
      const last = await context.reasoning("e");
      await context.emit({ type: "REASONING_START", messageId: "own" });
      return [same === messageId, new Set([messageId, next, last]).size];
    });
    const run = await agent.run("go");
    expect(run.result).toEqual([true, 3]);
    const BEGUN = ["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"];
    const ENDED = ["REASONING_MESSAGE_END", "REASONING_END"];
    expect(typesOf(run).slice(1, -1)).toEqual([
      ...BEGUN,
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_CONTENT",
      ...ENDED,
      ...BEGUN,
      ...ENDED,
      ...BEGUN,
      ...ENDED,
      "REASONING_START",
      "REASONING_END",
    ]);
  });
});

describe("a surrogate pair that is split over two deltas", () => {
  it("is told as U+FFFD once, where its message ends before the second half came and goes on again", async () => {
    const agent = agentUnderTest(async (context) => {
      const message = { messageId: "m", role: "assistant" } as const;
      for (let times = 0; times < 2; times += 1) {
        await context.emit({ type: "TEXT_MESSAGE_START", ...message });
        await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "a\ud83d" });
        await context.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
      }
    });
    const run = await agent.run("Go");
    const deltas = run.events.flatMap(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? [delta] : []));
    expect(deltas).toEqual(["a", "\ufffd", "a", "\ufffd"]);
  });

  const [high, low] = ["\ud83d", "\ude00"];

  it.each<[string, (context: AgentContext, delta: string) => Promise<unknown>]>([
    ["text", (context, delta) => context.text(delta)],
    ["reasoning", (context, delta) => context.reasoning(delta)],
  ])("is joined: the half waits for the next delta: %s", async (_by, say) => {
    const agent = agentUnderTest(async (context) => {
      for (const delta of [`a${high}`, `${low}b`, high, low, `${low}c${high}`, "d", high]) await say(context, delta);
    });
    const run = await agent.run("go");
    expect(deltasOf(run)).toEqual(["a", "\ud83d\ude00b", "\ud83d\ude00", "\ufffdc", "\ufffdd", "\ufffd"]);
  });

  it("is joined in the arguments of a call, and in emitted content", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "t" });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: `"${high}` });
      await context.emit({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: `${low}"` });
      await context.emit({ type: "TOOL_CALL_END", toolCallId: "c" });
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: high });
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
    });
    expect(deltasOf(await agent.run("go"))).toEqual(['"', '\ud83d\ude00"', "\ufffd"]);
  });

  it("is joined across a question", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text(`a${high}`);
      await context.input("A?");
      await context.text(`${low}b`);
    });
    const asked = await agent.run("go");
    expect(deltasOf(asked)).toEqual(["a"]);
    expect(deltasOf(await agent.answer(soleInterrupt(asked), "x"))).toEqual(["\ud83d\ude00b"]);
  });

  it("is not joined across two messages", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text(`a${high}`);
      await context.text(`${low}b`, { newMessage: true });
    });
    expect(deltasOf(await agent.run("go"))).toEqual(["a", "\ufffd", "\ufffdb"]);
  });

  it("comes whole to the client, wherever a text is cut", async () => {
    const text = "x\ud83d\ude00\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67e\u0301 \u00e9";
    const agent = agentUnderTest(async (context) => {
      for (let cut = 0; cut <= text.length; cut++) {
        await context.text(text.slice(0, cut), { newMessage: true });
        await context.text(text.slice(cut));
      }
    });
    expect((await agent.run("go")).text).toBe(text.repeat(text.length + 1));
  });
});
