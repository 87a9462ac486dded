/** Subagents: announced, closed, suspended and continued, and what is attributed to them. */
import type { Message } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { an, call, emit, emitting, shown, text } from "../support/emitting.ts";
import { answerTo, soleInterrupt, typesOf } from "../support/runs.ts";

const subagent = (what: "STARTED" | "FINISHED" | "ERROR", subagentRunId = "s", members: object = {}) =>
  an(`SUBAGENT_${what}`, {
    subagentRunId,
    ...(what === "STARTED" && { name: "Booker" }),
    ...(what === "ERROR" && { message: "It failed." }),
    ...members,
  });
const of = (subagentRunId: string) => ({ subagentRunId });

describe("a subagent", () => {
  const cases: [string, Parameters<typeof emit>[0], string[], string][] = [
    [
      "is not announced twice (P125)",
      [subagent("STARTED"), subagent("STARTED")],
      ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"],
      'SUBAGENT_STARTED: the subagent "s" is open already.',
    ],
    [
      "is not announced again once it has ended (P125)",
      [subagent("STARTED"), subagent("FINISHED"), subagent("STARTED")],
      ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"],
      'SUBAGENT_STARTED: "s" was used; it names one invocation, from its announcement on.',
    ],
    [
      "is not announced after what is attributed to it (P124)",
      [an("CUSTOM", { name: "n", value: 1, ...of("s") }), subagent("STARTED")],
      ["CUSTOM"],
      'SUBAGENT_STARTED: "s" was used; it names one invocation, from its announcement on.',
    ],
    [
      "does not end before it was announced (P126)",
      [subagent("FINISHED")],
      [],
      'SUBAGENT_FINISHED: the subagent "s" is not open.',
    ],
    [
      "does not end twice (P126)",
      [subagent("STARTED"), subagent("ERROR"), subagent("FINISHED")],
      ["SUBAGENT_STARTED", "SUBAGENT_ERROR"],
      'SUBAGENT_FINISHED: the subagent "s" is not open.',
    ],
    [
      "has a parent that was announced (P128)",
      [subagent("STARTED", "s", { parentSubagentRunId: "p" })],
      [],
      'SUBAGENT_STARTED: its parent "p" was not announced in this run.',
    ],
    [
      "has a parent that is a subagent, whatever else is called so (P128)",
      [text("START", "p"), subagent("STARTED", "s", { parentSubagentRunId: "p" })],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'SUBAGENT_STARTED: its parent "p" was not announced in this run.',
    ],
    [
      "is not ended by the end of something else that is called so (P126)",
      [
        subagent("STARTED"),
        text("START", "own", of("s")),
        text("START", "s"),
        text("END", "s"),
        text("CONTENT", "own", of("s")),
        subagent("FINISHED"),
      ],
      [
        "SUBAGENT_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_END",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "SUBAGENT_FINISHED",
      ],
      "",
    ],
    [
      "begins nothing once it has ended (P127)",
      [subagent("STARTED"), subagent("FINISHED"), text("START", "m", of("s")), call("START", "c", of("s"))],
      ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"],
      'TEXT_MESSAGE_START: the subagent "s" has finished.|TOOL_CALL_START: the subagent "s" has finished.',
    ],
    [
      "does not continue what another began (P128)",
      [
        text("START"),
        text("CONTENT", "m", of("s")),
        text("START", "n", of("s")),
        text("CONTENT", "n", of("t")),
        text("END", "n"),
      ],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "TEXT_MESSAGE_END"],
      'TEXT_MESSAGE_CONTENT: the message "m" belongs to another owner than its subagentRunId says.|' +
        'TEXT_MESSAGE_CONTENT: the message "n" belongs to another owner than its subagentRunId says.',
    ],
    [
      "makes no call in another's message (P115)",
      [text("START"), call("START", "c", { parentMessageId: "m", ...of("s") })],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"],
      'TOOL_CALL_START: the call and its parent message "m" have different owners.',
    ],
    [
      "makes no call in another's message that a snapshot has dropped, by chunks neither (P115)",
      [
        text("START"),
        an("MESSAGES_SNAPSHOT", { messages: [] }),
        call("START", "c", { parentMessageId: "m", ...of("s") }),
        an("TOOL_CALL_CHUNK", { toolCallId: "c", toolCallName: "book", parentMessageId: "m", ...of("s") }),
      ],
      ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "MESSAGES_SNAPSHOT"],
      Array(2).fill('TOOL_CALL_START: the call and its parent message "m" have different owners.').join("|"),
    ],
  ];
  it.each(cases)("%s", async (_name, events, types, messages) => {
    const { run, refused } = await emit(events);
    expect(shown(run)).toEqual(types);
    expect(refused.join("|")).toBe(messages);
  });

  it("need not be announced to be attributed to (P124)", async () => {
    const { run, refused } = await emit([
      text("START", "m", of("s")),
      text("CONTENT", "m"),
      text("END", "m", of("s")),
      an("CUSTOM", { name: "n", value: 1, ...of("s") }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events.slice(1, -1).map(({ subagentRunId }) => subagentRunId)).toEqual(["s", undefined, "s", "s"]);
  });

  it("closes what it has open when it ends, its own subagents too, and may still be attributed to (P126, P127)", async () => {
    const { run, refused } = await emit([
      subagent("STARTED"),
      text("START", "m", of("s")),
      subagent("STARTED", "inner", { parentSubagentRunId: "s" }),
      call("START", "c", of("inner")),
      subagent("ERROR"),
      call("RESULT", "c", of("s")),
      subagent("STARTED", "late", { parentSubagentRunId: "s" }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events.slice(5, 10)).toEqual([
      { type: "TOOL_CALL_END", toolCallId: "c", subagentRunId: "inner" },
      { type: "SUBAGENT_FINISHED", subagentRunId: "inner" },
      { type: "TEXT_MESSAGE_END", messageId: "m", subagentRunId: "s" },
      { type: "SUBAGENT_ERROR", subagentRunId: "s", message: "It failed." },
      expect.objectContaining({ type: "TOOL_CALL_RESULT", subagentRunId: "s" }),
    ]);
  });

  it("owns the calls in its messages, whether they say so or not (P115)", async () => {
    const { run, refused } = await emit([
      subagent("STARTED"),
      text("START", "m", of("s")),
      call("START", "c", { parentMessageId: "m" }),
      call("ARGS", "c", of("s")),
      subagent("FINISHED"),
    ]);
    expect(refused).toEqual([]);
    expect(shown(run)).toEqual([
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TEXT_MESSAGE_END",
      "SUBAGENT_FINISHED",
    ]);
  });

  it("ends what it owns once: the end of each that comes later is taken without a word, and only one (P126)", async () => {
    const step = (what: string, subagentRunId: string) =>
      an(`STEP_${what}`, { stepName: "plan", ...of(subagentRunId) });
    const ends = [
      text("END", "m", of("inner")),
      step("FINISHED", "inner"),
      subagent("ERROR", "inner"),
      call("END", "c"),
      step("FINISHED", "s"),
    ];
    const { run, refused } = await emit([
      subagent("STARTED"),
      step("STARTED", "s"),
      call("START", "c", of("s")),
      subagent("STARTED", "inner", { parentSubagentRunId: "s" }),
      step("STARTED", "inner"),
      text("START", "m", of("inner")),
      subagent("FINISHED"),
      ...ends,
      ...ends,
      subagent("FINISHED"),
    ]);
    expect(shown(run).slice(6)).toEqual([
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
      "TOOL_CALL_END",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
    ]);
    expect(run.events.at(-2)).toEqual({ type: "SUBAGENT_FINISHED", subagentRunId: "s" });
    expect(refused).toEqual([
      'TEXT_MESSAGE_END: the message "m" is not open.',
      'STEP_FINISHED: the step "plan" is not open.',
      'SUBAGENT_ERROR: the subagent "inner" is not open.',
      'TOOL_CALL_END: the tool call "c" is not open.',
      'STEP_FINISHED: the step "plan" is not open.',
      'SUBAGENT_FINISHED: the subagent "s" is not open.',
    ]);
  });

  it("owns the calls in its messages of the history, and whoever reads this run is told (P115)", async () => {
    const messages: Message[] = [
      { id: "u", role: "user", content: "Book it." },
      { id: "m", role: "assistant", content: "On it.", ...of("s") },
    ];
    const { run, refused } = await emit(
      [
        call("START", "c", { parentMessageId: "m" }),
        call("ARGS"),
        call("END"),
        call("RESULT"),
        an("TOOL_CALL_CHUNK", { toolCallId: "d", toolCallName: "pay", parentMessageId: "m", delta: "{}" }),
        subagent("STARTED"),
      ],
      { messages },
    );
    expect(refused).toEqual(['SUBAGENT_STARTED: "s" was used; it names one invocation, from its announcement on.']);
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_START")).toEqual([
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "book", parentMessageId: "m", subagentRunId: "s" },
      { type: "TOOL_CALL_START", toolCallId: "d", toolCallName: "pay", parentMessageId: "m", subagentRunId: "s" },
    ]);
    const client = await checkWithClient(run.raw, run.input as never);
    expect(client.messages[1]).toMatchObject({ id: "m", ...of("s"), toolCalls: [{ id: "c" }, { id: "d" }] });
  });

  it("owns the calls in its messages of an earlier run of the turn (P115)", async () => {
    const agent = emitting([text("START", "m", of("s")), text("END")], async (context) => {
      await context.input("Sure?");
      await context.emit(call("START", "c", { parentMessageId: "m" }) as never);
      await context.emit(call("RESULT", "c", of("s")) as never);
    });
    const answered = await agent.answer(soleInterrupt(await agent.run("Go")), "yes");
    expect(answered.outcome).toEqual({ type: "success" });
    expect(answered.events.slice(1, -1).map(({ type, subagentRunId }) => [type, subagentRunId])).toEqual([
      ["TOOL_CALL_START", "s"],
      ["TOOL_CALL_END", "s"],
      ["TOOL_CALL_RESULT", "s"],
    ]);
  });

  it("that never fails the run fails alone (P126)", async () => {
    const agent = emitting([], async (context) => {
      const failed = await context
        .subagent({ name: "Booker" }, () => {
          throw new Error("secret");
        })
        .catch(() => "handled");
      return failed;
    });
    const run = await agent.run("Go");
    expect(shown(run)).toEqual(["SUBAGENT_STARTED", "SUBAGENT_ERROR"]);
    expect(run.events[2]).toMatchObject({ message: "The subagent failed." });
    expect([run.outcome, run.result]).toEqual([{ type: "success" }, "handled"]);
  });

  it("whose context goes on with what its parent began leaves the owner out (P128)", async () => {
    const agent = emitting([text("START")], (context) =>
      context.subagent({ name: "Booker" }, async (inner) => {
        await inner.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "From within." });
        await inner.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
        await inner.text("My own.");
      }),
    );
    const run = await agent.run("Go");
    expect(run.events.map(({ type, subagentRunId }) => [type, subagentRunId !== undefined])).toEqual([
      ["RUN_STARTED", false],
      ["TEXT_MESSAGE_START", false],
      ["SUBAGENT_STARTED", true],
      ["TEXT_MESSAGE_CONTENT", false],
      ["TEXT_MESSAGE_END", false],
      ["TEXT_MESSAGE_START", true],
      ["TEXT_MESSAGE_CONTENT", true],
      ["TEXT_MESSAGE_END", true],
      ["SUBAGENT_FINISHED", true],
      ["RUN_FINISHED", false],
    ]);
  });
});

describe("reasoning", () => {
  it("whose span and message share an id is one owner's (P104, P128)", async () => {
    const { run, refused } = await emit([
      subagent("STARTED"),
      an("REASONING_START", { messageId: "r" }),
      an("REASONING_MESSAGE_START", { messageId: "r", role: "reasoning", ...of("s") }),
      an("REASONING_END", { messageId: "r" }),
      an("REASONING_MESSAGE_START", { messageId: "q", role: "reasoning", ...of("s") }),
      an("REASONING_MESSAGE_END", { messageId: "q" }),
      an("REASONING_START", { messageId: "q" }),
    ]);
    expect(refused).toEqual([
      'REASONING_MESSAGE_START: "r" was opened by another owner.',
      'REASONING_START: "q" was opened by another owner.',
    ]);
    expect(shown(run)).toEqual([
      "SUBAGENT_STARTED",
      "REASONING_START",
      "REASONING_END",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_END",
      "SUBAGENT_FINISHED",
    ]);
  });
});

describe("a subagent that asks", () => {
  const nested = async (context: AgentContext) =>
    context.subagent({ name: "Outer" }, (outer) =>
      outer.step("plan", () =>
        outer.subagent({ name: "Inner" }, async (inner) => {
          const answer = await inner.input("Book it?");
          await inner.text(answer);
        }),
      ),
    );

  it("is closed as suspended, naming its interrupts, its ancestors without any, and announced again on resume (P82, P127)", async () => {
    const agent = emitting([], nested);
    const asked = await agent.run("Go");
    expect(shown(asked)).toEqual([
      "SUBAGENT_STARTED",
      "STEP_STARTED",
      "SUBAGENT_STARTED",
      "SUBAGENT_FINISHED",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
    ]);
    const interrupt = soleInterrupt(asked);
    const [outer, inner] = [asked.events[1], asked.events[3]];
    expect(interrupt.subagentRunId).toBe(inner?.subagentRunId);
    expect(asked.events[4]?.outcome).toEqual({ type: "suspended", interruptIds: [interrupt.id] });
    expect(asked.events[6]?.outcome).toEqual({ type: "suspended" });

    const answered = await agent.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "SUBAGENT_STARTED",
      "STEP_STARTED",
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "SUBAGENT_FINISHED",
      "STEP_FINISHED",
      "SUBAGENT_FINISHED",
      "RUN_FINISHED",
    ]);
    expect([answered.events[1], answered.events[3]]).toEqual([outer, inner]);
    expect(answered.events[7]).toEqual({ type: "SUBAGENT_FINISHED", subagentRunId: inner?.subagentRunId });
  });

  it("of an agent that keeps its questions itself is closed the same way (P82, P127)", async () => {
    const keeping = Object.assign(
      async (context: AgentContext) => {
        await context.emit({ type: "SUBAGENT_STARTED", subagentRunId: "s", name: "Booker" });
        context.interrupted([{ id: "i", reason: "approval", message: "Book it?", subagentRunId: "s" }]);
      },
      { keepsInterrupts: true },
    );
    const run = await agentUnderTest(keeping).run("Go");
    expect(shown(run)).toEqual(["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]);
    expect(run.events[2]?.outcome).toEqual({ type: "suspended", interruptIds: ["i"] });
  });

  it("is announced again without its parent where that has ended before (P128)", async () => {
    const agent = agentUnderTest(async (context) => {
      let ended: AgentContext | undefined;
      await context.subagent({ name: "A" }, (a) => {
        ended = a;
      });
      return ended?.subagent({ name: "B" }, async (b) => {
        const answer = await b.input("Book it?");
        await b.text(answer);
        return answer;
      });
    });
    const asked = await agent.run("Go");
    const [, a, , b] = asked.events;
    expect(b).toMatchObject({ name: "B", parentSubagentRunId: a?.subagentRunId });
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect(answered.result).toBe("yes");
    expect(shown(answered)).toEqual([
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "SUBAGENT_FINISHED",
    ]);
    expect(answered.events[1]).toEqual({ type: "SUBAGENT_STARTED", subagentRunId: b?.subagentRunId, name: "B" });
  });

  it("is announced without a parent that ended in an earlier run, and under one that goes on (P128)", async () => {
    const agent = agentUnderTest((context) =>
      context.subagent({ name: "Outer" }, async (outer) => {
        let ended: AgentContext | undefined;
        await outer.subagent({ name: "A" }, (a) => {
          ended = a;
        });
        await outer.input("Book it?");
        await outer.subagent({ name: "B" }, () => {});
        await ended?.subagent({ name: "C" }, () => {});
        return "booked";
      }),
    );
    const answered = await agent.answer(soleInterrupt(await agent.run("Go")), "yes");
    expect(answered.result).toBe("booked");
    const started = answered.events.filter(({ type }) => type === "SUBAGENT_STARTED");
    const [outer] = started;
    expect(started.map(({ name, parentSubagentRunId }) => [name, parentSubagentRunId])).toEqual([
      ["Outer", undefined],
      ["B", outer?.subagentRunId],
      ["C", undefined],
    ]);
  });

  it("by work that outlives its parent gets its answer, and both end once (P126, P127)", async () => {
    const agent = agentUnderTest(async (context) => {
      const left: Promise<string>[] = [];
      await context.subagent({ name: "Outer" }, async (outer) => {
        left.push(outer.subagent({ name: "Inner" }, (inner) => inner.step("ask", () => inner.input("Book it?"))));
      });
      return Promise.all(left);
    });
    const asked = await agent.run("Go");
    const [outer, inner] = asked.events.filter(({ type }) => type === "SUBAGENT_STARTED");
    expect(asked.events.filter(({ type }) => type === "SUBAGENT_FINISHED")).toEqual([
      { type: "SUBAGENT_FINISHED", subagentRunId: inner?.subagentRunId },
      { type: "SUBAGENT_FINISHED", subagentRunId: outer?.subagentRunId },
    ]);
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect([answered.result, shown(answered)]).toEqual([["yes"], []]);
  });

  it("by work that outlives it asks as the run's own agent; so does what outlives a tool (P72, P82, P127)", async () => {
    const agent = agentUnderTest(async (context) => {
      const left: Promise<string>[] = [];
      await context.subagent({ name: "Booker" }, async (inner) => void left.push(inner.input("Seat?")));
      await context.toolCall("book", {}, async (_args, tool) => void left.push(tool.input("Meal?")));
      return Promise.all(left);
    });
    const asked = await agent.run("Go");
    expect(asked.interrupts.map(({ message }) => message)).toEqual(["Seat?", "Meal?"]);
    for (const interrupt of asked.interrupts) {
      expect(interrupt).not.toHaveProperty("subagentRunId");
      expect(interrupt).not.toHaveProperty("toolCallId");
    }
    const answered = await agent.resume(asked.interrupts.map((each) => answerTo(each, `${each.message} yes`)));
    expect(answered.result).toEqual(["Seat? yes", "Meal? yes"]);
  });

  it("may ask only what is an interrupt to the letter, each under its own id (P71, P72)", async () => {
    const tried: unknown[] = [];
    const keeping = Object.assign(
      async (context: AgentContext) => {
        const asks: unknown[][] = [
          [],
          [{ id: "i" }],
          [{ id: "i", reason: "r", responseSchema: true }],
          [
            { id: "i", reason: "r" },
            { id: "i", reason: "r" },
          ],
        ];
        for (const interrupts of asks) {
          try {
            context.interrupted(interrupts as never);
          } catch (error) {
            tried.push((error as Error).message);
          }
        }
        context.interrupted([
          { id: "i", reason: "r", message: null, level: 3, metadata: { "acme:level": null } },
        ] as never);
      },
      { keepsInterrupts: true },
    );
    const agent = agentUnderTest(keeping);
    const run = await agent.run("Go");
    expect(run.interrupts).toEqual([{ id: "i", reason: "r", metadata: { "acme:level": null } }]);
    expect(tried).toEqual([
      "An interrupt outcome needs at least one interrupt.",
      "interrupts: [0].reason: expected a string, found nothing.",
      "interrupts: [0].responseSchema: expected an object, found a boolean.",
      "Two of the interrupts have one id.",
    ]);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["EVENT_STRIPPED"]);
  });
});

describe("a message that an interrupt closed", () => {
  const goingOn = (before: Parameters<typeof emitting>[0], after: Parameters<typeof emitting>[0]) => {
    const refused: string[] = [];
    const agent = emitting(before, async (context) => {
      await context.input("Sure?");
      for (const event of after)
        await context.emit(event as never).catch((error: Error) => refused.push(error.message));
    });
    return { refused, run: async () => agent.answer(soleInterrupt(await agent.run("Go")), "yes") };
  };

  it("names its owner where it goes on, who is then not announced (P124)", async () => {
    const { refused, run } = goingOn([text("START", "m", of("s"))], [text("CONTENT"), subagent("STARTED")]);
    const answered = await run();
    expect(shown(answered)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
    expect(answered.events[1]).toMatchObject({ messageId: "m", subagentRunId: "s" });
    expect(refused).toEqual(['SUBAGENT_STARTED: "s" was used; it names one invocation, from its announcement on.']);
  });

  it("does not go on once its subagent has finished, and ends without a word (P127)", async () => {
    const { refused, run } = goingOn(
      [subagent("STARTED"), text("START", "m", of("s"))],
      [subagent("FINISHED"), text("CONTENT"), text("END"), text("END")],
    );
    expect(shown(await run())).toEqual(["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]);
    expect(refused).toEqual([
      'TEXT_MESSAGE_CONTENT: the subagent "s" has finished.',
      'TEXT_MESSAGE_END: the message "m" is not open.',
    ]);
  });
});
