import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { isSettled } from "../support/promises.ts";
import { endOf, proofOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("a question in the middle of a tool", () => {
  it("suspends the very function that asked and goes on with the answer", async () => {
    const seen: unknown[] = [];
    let entered = 0;
    const agent = agentUnderTest(async (context) => {
      entered++;
      const live = Symbol("cannot be rebuilt");
      let before = 0;
      const booked = await context.toolCall("book_flight", { flight: "LH441" }, async ({ flight }, tool) => {
        before++;
        const answer = await tool.input(`Book ${flight}? (yes/no)`);
        seen.push(live.description, before, answer);
        return answer === "yes" ? "Booked." : "Cancelled.";
      });
      await context.text(booked);
    });

    const asked = await agent.run("Book LH441, please");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    const interrupt = soleInterrupt(asked);
    expect(interrupt.message).toBe("Book LH441? (yes/no)");
    expect(interrupt.toolCallId).toBe(asked.events[1]?.toolCallId);
    expect(seen).toEqual([]);

    const answered = await agent.answer(interrupt, "yes", { runId: "another run" });
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(answered.events[1]?.toolCallId).toBe(interrupt.toolCallId);
    expect(answered.text).toBe("Booked.");
    expect(seen).toEqual(["cannot be rebuilt", 1, "yes"]);
    expect(entered).toBe(1);
  });

  it("needs nothing but the context's methods, which also work taken off it", async () => {
    const agent = agentUnderTest(async ({ input, text, toolCall, step, subagent }) => {
      const name = await toolCall("ask", {}, (_args, { input: ask }) => ask("Name?"));
      await step("greet", () => text(`Hello ${name}`));
      const sure = await subagent({ name: "doubter" }, ({ input: ask }) => ask("Sure?"));
      return [name, sure, await input("Really?")];
    });
    let run = await agent.run("go");
    for (const answer of ["Ada", "yes", "really"]) run = await agent.answer(soleInterrupt(run), answer);
    expect(run.result).toEqual(["Ada", "yes", "really"]);
  });

  it("may be followed by another, each with an id, a proof and a run of its own", async () => {
    const seen: string[] = [];
    const agent = agentUnderTest(async (context) => {
      for (const round of [1, 2, 3]) seen.push(`${round} ${context.runId} ${await context.input("Again?")}`);
      return seen;
    });
    const first = soleInterrupt(await agent.run("go", {}));
    const second = soleInterrupt(await agent.answer(first, "a"));
    const third = soleInterrupt(await agent.answer(second, "b"));
    expect(new Set([first, second, third].map(({ id }) => id)).size).toBe(3);
    expect(new Set([first, second, third].map(proofOf)).size).toBe(3);
    for (const old of [first, second]) {
      expect(endOf(await agent.answer(old, "old"))).toBe("INTERRUPT_NOT_OUTSTANDING (answered)");
    }
    expect((await agent.answer(third, "c")).result).toEqual(["1 run-1 a", "2 run-2 b", "3 run-3 c"]);
    expect(endOf(await agent.run("and a new turn"))).toBe("interrupt");
  });
});

describe("the interrupt", () => {
  it("says what is asked, by when, and how it is answered, and nothing else", async () => {
    const agent = agentUnderTest(async (context) => context.input("Sure?"));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt).toEqual({
      id: expect.stringMatching(/^int_[\w-]{8}_[\w-]{22}$/),
      reason: "human_input",
      message: "Sure?",
      responseSchema: { type: "string", title: "Answer" },
      expiresAt: "2100-01-01T00:15:00.000Z",
      metadata: { holdline: { proof: expect.stringMatching(/^[\w-]{43}$/) } },
    });
  });

  it("carries the metadata that the application gave it, which cannot take the library's place", async () => {
    const given = { "acme:form": { fields: ["seat"] }, nothing: null };
    const agent = agentUnderTest(async (context) => {
      const asked = context.input("Seat?", { metadata: given });
      given["acme:form"].fields.push("later");
      return asked;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.metadata).toEqual({
      "acme:form": { fields: ["seat"] },
      nothing: null,
      holdline: { proof: proofOf(interrupt) },
    });
    expect((await agent.answer(interrupt, "12A")).result).toBe("12A");
  });

  it.each<[string, (context: AgentContext) => Promise<unknown>, ErrorConstructor]>([
    ["a holdline key", (context) => context.input("?", { metadata: { holdline: { proof: "mine" } } }), TypeError],
    [
      "a holdline key in ask",
      (context) => context.ask({ reason: "r", message: "?", metadata: { holdline: 1 } }),
      TypeError,
    ],
    ["an option that there is none of", (context) => context.input("?", { timeout: 5 } as never), TypeError],
    [
      "an approval's option that there is none of",
      (context) => context.approve({ toolCallId: "c", toolName: "t", args: {}, edits: true } as never),
      TypeError,
    ],
    ["metadata that is no object", (context) => context.input("?", { metadata: [] as never }), TypeError],
    ["metadata that JSON cannot say", (context) => context.input("?", { metadata: { a: 1n as never } }), TypeError],
    [
      "metadata that is longer than a frame",
      (context) => context.input("?", { metadata: { a: "x".repeat(1024 * 1024) } }),
      RangeError,
    ],
    ["a message that is no string", (context) => context.input(5 as never), TypeError],
    ["a reason that is no string", (context) => context.ask({ message: "?" } as never), TypeError],
    [
      "a toolCallId that is no string",
      (context) => context.ask({ reason: "r", message: "?", toolCallId: 5 as never }),
      TypeError,
    ],
    ["an approval of nothing", (context) => context.approve({} as never), TypeError],
    ["a time of 0", (context) => context.input("?", { timeoutMs: 0 }), RangeError],
    ["a time below 0", (context) => context.input("?", { timeoutMs: -1 }), RangeError],
    ["a time that never ends", (context) => context.input("?", { timeoutMs: Infinity }), RangeError],
    ["a time that is no number", (context) => context.input("?", { timeoutMs: Number.NaN }), RangeError],
    ["a time past the last date", (context) => context.input("?", { timeoutMs: 8.64e15 }), RangeError],
  ])("is refused to the agent with %s", async (_what, ask, kind) => {
    let thrown: unknown;
    const agent = agentUnderTest(async (context) => {
      await ask(context).catch((error) => {
        thrown = error;
      });
      return "went on";
    });
    expect((await agent.run("go")).result).toBe("went on");
    expect(thrown).toBeInstanceOf(kind);
  });

  it("has the reasons that were chosen, or AG-UI's own", async () => {
    const ask = async (context: AgentContext) => {
      void context.input("Sure?").catch(() => {});
      void context.ask({ reason: "acme:seat", message: "Seat?", toolCallId: "call-9" }).catch(() => {});
      await context.approve({ toolCallId: "call-9", toolName: "book", args: {} });
    };
    const shown = async (reasons?: "core" | { input?: string; approval?: string }) => {
      const agent = agentUnderTest({ agent: ask, ...(reasons === undefined ? {} : { reasons }) });
      return (await agent.run("go")).interrupts.map(({ reason, toolCallId }) => [reason, toolCallId]);
    };
    expect(await shown()).toEqual([
      ["human_input", undefined],
      ["acme:seat", "call-9"],
      ["tool_approval", "call-9"],
    ]);
    expect((await shown("core")).map(([reason]) => reason)).toEqual(["input_required", "acme:seat", "tool_call"]);
    expect((await shown({ input: "acme:ask" })).map(([reason]) => reason)).toEqual([
      "acme:ask",
      "acme:seat",
      "tool_approval",
    ]);
    expect((await shown({ approval: "acme:ok" })).map(([reason]) => reason)).toEqual([
      "human_input",
      "acme:seat",
      "acme:ok",
    ]);
  });
});

describe("what the context says of the exchange", () => {
  it("is rebound at each resume; while the turn is held there is no request", async () => {
    const seen: unknown[] = [];
    let held: AgentContext | undefined;
    const agent = agentUnderTest(async (context) => {
      held = context;
      const look = () =>
        seen.push([
          context.threadId,
          context.runId,
          context.run.forwardedProps,
          context.request?.headers.get("x-trip"),
          context.identity,
          context.locals,
          context.userText,
        ]);
      look();
      await context.input("Sure?");
      look();
    });
    const asked = await agent.run(
      { messages: [{ id: "m", role: "user", content: "First" }], forwardedProps: 1, threadId: "T" },
      { headers: { "x-trip": "one" }, identity: "anna", locals: "L1" },
    );
    expect(held?.request).toBeUndefined();
    expect(held?.runId).toBe("run-1");
    await agent.answer(
      soleInterrupt(asked),
      "yes",
      { forwardedProps: 2, messages: [{ id: "n", role: "user", content: "Second" }] },
      { headers: { "x-trip": "two" }, locals: "L2" },
    );
    expect(seen).toEqual([
      ["T", "run-1", 1, "one", "anna", "L1", "First"],
      // What the user said is what began the turn: an answer's messages are not the agent's new input.
      ["T", "run-2", 2, "two", "anna", "L2", "First"],
    ]);
    expect(held?.request).toBeUndefined();
  });

  it("goes by the input, whatever the agent does to the lists it is shown", async () => {
    const agent = agentUnderTest(async (context) => {
      context.run.messages.push({ id: "mine", role: "assistant", content: "" });
      context.run.tools.length = 0;
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "mine", role: "assistant" });
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "mine" });
      const codes = [];
      for (const event of [
        { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
        { type: "TOOL_CALL_RESULT", messageId: "n", toolCallId: "c", content: "" },
      ])
        codes.push(await context.emit(event as never).catch((error) => error.code));
      return codes;
    });
    const call = { id: "c", type: "function" as const, function: { name: "theirs", arguments: "{}" } };
    const run = await agent.run({
      messages: [{ id: "m", role: "assistant", content: "Hi", toolCalls: [call] }],
      tools: [{ name: "theirs", description: "", parameters: {} }],
    });
    expect(run.result).toEqual(["EVENT_REFUSED", "EVENT_REFUSED"]);
  });

  it("knows nobody and nothing that was not given", async () => {
    const agent = agentUnderTest(async (context) => [context.identity, context.locals ?? "none", context.userText]);
    expect((await agent.run({})).result).toEqual([null, "none", ""]);
  });

  it("has the text of the last user message, whatever follows it", async () => {
    const agent = agentUnderTest(async (context) => context.userText);
    const run = await agent.run({
      messages: [
        { id: "1", role: "user", content: "first" },
        {
          id: "2",
          role: "user",
          content: [
            { type: "text", text: "see " },
            { type: "image", source: { type: "url", value: "https://a.test/x.png" } },
            { type: "text", text: "this" },
          ],
        },
        { id: "3", role: "assistant", content: "yes?" },
      ],
    });
    expect(run.result).toContain("see ");
    expect(run.result).toContain("this");
    expect(run.result).not.toContain("first");
  });
});

describe("a question that nobody waits for", () => {
  it.each<[string, (context: AgentContext) => unknown, string[]]>([
    ["by a turn that succeeds", (context) => void context.input("Sure?"), ["QUESTION_LEFT_OPEN"]],
    [
      "by a turn that fails",
      (context) => {
        void context.input("Sure?");
        throw new Error("broken");
      },
      [],
    ],
  ])("is warned of where it is likely a forgotten await: %s", async (_what, act, codes) => {
    const agent = agentUnderTest(async (context) => act(context));
    const run = await agent.run("go");
    expect(run.interrupts).toEqual([]);
    expect(agent.warnings.map(({ code }) => code)).toEqual(codes);
  });
});

describe("the promises of the context", () => {
  it("count as handled, so that an agent may drop them", async () => {
    const agent = agentUnderTest(async (context) => {
      void context.input("Never answered?");
      void context.approve({ toolCallId: "c", toolName: "t", args: {} });
      void context.ask({ reason: "r", message: "?", timeoutMs: -1 });
      void context.toolCall("fails", {}, async () => {
        throw new Error("dropped");
      });
      void context.step("fails", async () => {
        throw new Error("dropped");
      });
      void context.subagent({ name: "fails" }, async () => {
        throw new Error("dropped");
      });
      void context.emit({ type: "TEXT_MESSAGE_END", messageId: "unknown" });
      void context.patchState([{ op: "remove", path: "/nothing" }]);
      void context.activity({ activityType: "x", patch: [] });
      void context.setState(1n);
      void context.text(undefined as never);
      void context.reasoning(undefined as never);
    });
    const run = await agent.run("go");
    expect(endOf(run)).toBe("success");
  });

  it("stay open until an answer, whatever else happens on other threads", async () => {
    let asked: Promise<string> | undefined;
    const agent = agentUnderTest(async (context) => {
      if (context.threadId !== "T") return;
      asked = context.input("Sure?");
      await asked;
    });
    const interrupt = soleInterrupt(await agent.run({ threadId: "T" }));
    await agent.run({ threadId: "U" });
    await agent.run({ threadId: "t" });
    await agent.run({ threadId: "T " });
    expect(await isSettled(asked as Promise<string>)).toBe(false);
    await agent.answer(interrupt, "yes");
    expect(await asked).toBe("yes");
  });
});
