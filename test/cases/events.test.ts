import { describe, expect, it } from "vitest";
import { type Agent, type AgentContext, type HandlerOptions, PublicError } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";
import { endOf, isLone, soleInterrupt, typesOf } from "../support/runs.ts";

describe("B73 one rule for what goes wrong", () => {
  it("a run that is not started is a stream of one RUN_ERROR, with a code and words", async () => {
    const { agent: busy, gate } = (() => {
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      return { agent: () => gate, gate: () => open() };
    })();
    const asking = agentUnderTest(askingAgent().agent);
    const interrupt = soleInterrupt(await asking.run("Book it"));
    const running = agentUnderTest({ agent: busy, limits: { queuedRuns: 0 } });
    const first = running.run("Work");
    await running.clock.advance(0);
    const refused = [
      await asking.run("Something else"),
      await asking.answer({ id: interrupt.id }, "yes"),
      await asking.answer({ ...interrupt, id: "int_other" }, "yes"),
      await asking.answer(interrupt, 1),
      await asking.answer(interrupt, "yes", { threadId: "another" }),
      await asking.run({ protocolVersion: "2.0" }),
      await running.run("More"),
    ];
    gate();
    await first;
    expect(refused.map(endOf)).toEqual([
      "INTERRUPT_NOT_COVERED",
      "INTERRUPT_NOT_PROVEN",
      "INTERRUPT_NOT_OUTSTANDING (unknown)",
      "INTERRUPT_PAYLOAD_REFUSED",
      "INTERRUPT_NOT_HELD (unknown)",
      "UNSUPPORTED_PROTOCOL_VERSION",
      "THREAD_BUSY",
    ]);
    for (const run of refused) {
      expect(isLone(run)).toBe(true);
      expect(run.error?.message).toMatch(/^[A-Z].{20,}\.$/s);
    }
  });

  const fails: Record<string, Agent> = {
    "throws at once": () => {
      throw new Error("secret");
    },
    "rejects at once": () => Promise.reject(new Error("secret")),
    "is a generator that throws": async function* () {
      yield { type: "CUSTOM", name: "n", value: 1 } as const;
      throw new Error("secret");
    },
  };
  it.each(Object.keys(fails))("an agent that %s ends its run with RUN_ERROR, under this request's ids", async (how) => {
    const agent = agentUnderTest(fails[how] as Agent);
    const run = await agent.run({ threadId: "t-73", runId: "r-73" });
    expect(run.events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "t-73", runId: "r-73" });
    expect(run.events.at(-1)).toEqual({ type: "RUN_ERROR", message: "The agent failed.", code: "AGENT_FAILED" });
    expect(agent.errors).toMatchObject([{ threadId: "t-73", runId: "r-73" }]);
  });

  const identify: Record<string, [NonNullable<HandlerOptions["identify"]>, number, unknown]> = {
    throws: [
      () => {
        throw new Error("secret");
      },
      500,
      { error: { code: "IDENTIFY_FAILED", message: "The caller could not be identified." } },
    ],
    "gives what is no identity": [() => 7 as never, 500, { error: { code: "IDENTIFY_FAILED" } }],
    refuses: [
      () => Response.json({ who: "are you" }, { status: 401, headers: { "www-authenticate": "Bearer" } }),
      401,
      { who: "are you" },
    ],
  };
  it.each(Object.keys(identify))("an `identify` that %s is a plain answer before any stream", async (how) => {
    const [identifyBy, status, body] = identify[how] as (typeof identify)[string];
    const asking = askingAgent();
    const { handler } = agentUnderTest({ agent: asking.agent, identify: identifyBy });
    const response = await handler.fetch(requestOf(inputOf()));
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject(body as object);
    expect(asking.entered).toBe(0);
  });
});

describe("B74 what is open when the run asks", () => {
  it("is closed before the interrupt, and goes on in the next run", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.step("booking", async () => {
        await context.emit({ type: "TEXT_MESSAGE_START", messageId: "m" });
        await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Shall I" });
        const answer = await context.input("Book LH441?");
        await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `? ${answer}` });
        await context.emit({ type: "TEXT_MESSAGE_END", messageId: "m" });
      });
    });
    const asked = await agent.run("Book it");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    const { messages } = await checkWithClient(asked.raw, asked.input);
    const answered = await agent.answer(soleInterrupt(asked), "yes", { messages });
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    const known = (await checkWithClient(answered.raw, answered.input)).messages;
    expect(known.filter(({ id }) => id === "m")).toMatchObject([{ content: "Shall I? yes" }]);
  });

  it("reasoning likewise", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.reasoning("Should I ");
      const answer = await context.input("Book LH441?");
      await context.reasoning(`ask? ${answer}`);
    });
    const asked = await agent.run("Book it");
    const types = [
      "RUN_STARTED",
      "REASONING_START",
      "REASONING_MESSAGE_START",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_END",
      "RUN_FINISHED",
    ];
    expect(typesOf(asked)).toEqual(types);
    const answered = await agent.answer(soleInterrupt(asked), "yes");
    expect(typesOf(answered)).toEqual(types);
    expect(answered.events[3]).toMatchObject({ messageId: asked.events[3]?.messageId, delta: "ask? yes" });
  });
});

describe("B75 the call that asks", () => {
  it("is whole before the interrupt, which names it, and its result comes in the next run under its own id", async () => {
    const agent = agentUnderTest(askingAgent().agent);
    const asked = await agent.run("Book it");
    expect(typesOf(asked)).toEqual(ASKED);
    const [, start, args, end] = asked.events;
    expect(start).toMatchObject({ toolCallName: "book" });
    expect(JSON.parse(args?.delta)).toEqual({ flight: "LH441" });
    const interrupt = soleInterrupt(asked);
    for (const event of [start, args, end]) expect(event?.toolCallId).toBe(interrupt.toolCallId);
    const answered = await agent.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual(ANSWERED);
    expect(answered.events[1]).toMatchObject({ toolCallId: interrupt.toolCallId, content: 'Answered: "yes"' });
  });
});

describe("B77 the state across a question", () => {
  const counting: Agent = async (context) => {
    await context.setState({ count: 1, items: ["a"] });
    await context.input("Go on?");
    await context.patchState([{ op: "replace", path: "/count", value: 2 }]);
    return context.state;
  };

  it("is told whole after all content and before the interrupt", async () => {
    const asked = await agentUnderTest(async (context) => {
      await counting(context);
    }).run("Go");
    expect(typesOf(asked)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"]);
    expect(asked.events.at(-2)?.snapshot).toEqual({ count: 1, items: ["a"] });
    expect(asked.state).toEqual({ count: 1, items: ["a"] });
  });

  it.each([
    ["none", undefined],
    ["an empty one", {}],
    ["another one", { count: 7, stray: true }],
    ["the very one", { count: 1, items: ["a"] }],
  ])("goes on as the agent has it, whatever the answer brings: %s", async (_what, state) => {
    const agent = agentUnderTest(counting);
    const interrupt = soleInterrupt(await agent.run("Go"));
    const answered = await agent.answer(interrupt, "yes", { state });
    const expected = { count: 2, items: ["a"] };
    expect(answered.result).toEqual(expected);
    expect(answered.state).toEqual(expected);
    expect((await checkWithClient(answered.raw, answered.input)).state).toEqual(expected);
  });
});

describe("B78 empty text", () => {
  it.each([true, false])("sends no empty delta, and keeps the brackets balanced (validate: %s)", async (validate) => {
    const agent = agentUnderTest({
      validate,
      async agent(context: AgentContext) {
        for (const delta of ["", "a", ""]) await context.text(delta);
        await context.text("", { newMessage: true });
        await context.text("", { newMessage: true });
        await context.reasoning("");
        for (const type of ["TEXT_MESSAGE_START", "TEXT_MESSAGE_END"] as const)
          await context.emit({ type, messageId: "e" });
      },
    });
    const run = await agent.run("Go");
    expect(run.text).toBe("a");
    const counts = (type: string) => typesOf(run).filter((one) => one === type).length;
    expect(counts("TEXT_MESSAGE_START")).toBe(counts("TEXT_MESSAGE_END"));
    expect(counts("TEXT_MESSAGE_CONTENT")).toBe(1);
    expect(run.raw).not.toContain('"delta":""');
  });
});

describe("B83 what an error tells the client", () => {
  const secret = "postgres://u:p@h /srv/x.ts:3";
  const throwing = [
    Object.assign(new Error(secret, { cause: new Error(`cause of ${secret}`) }), { code: "ECONNREFUSED" }),
    Object.assign(new Error("fetch failed"), { headers: { authorization: `Bearer ${secret}` }, url: secret }),
    secret,
  ];

  it.each(throwing)("nothing of it: %s; the hook gets the original", async (error) => {
    const heard: unknown[] = [];
    const agent = agentUnderTest({
      async agent(context: AgentContext) {
        await context.toolCall("look", {}, () => Promise.reject(error)).catch(() => {});
        await context.subagent({ name: "Helper" }, () => Promise.reject(error)).catch(() => {});
        throw error;
      },
      onError: (reported) => heard.push(reported),
    });
    const run = await agent.run("Go");
    expect(run.error).toEqual({ type: "RUN_ERROR", code: "AGENT_FAILED", message: "The agent failed." });
    for (const part of ["postgres", "/srv", "ECONNREFUSED", "Bearer", "fetch failed", "cause of"])
      expect(run.raw).not.toContain(part);
    expect(heard).toEqual([error]);
  });

  it("what is meant for the client, word for word, and its cause not", async () => {
    const agent = agentUnderTest(async (context) => {
      const error = new PublicError("Sold out.", { code: "SOLD_OUT", cause: new Error(secret) });
      await context.toolCall("look", {}, () => Promise.reject(error)).catch(() => {});
      throw error;
    });
    const run = await agent.run("Go");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({ content: "Sold out." });
    expect(run.error).toEqual({ type: "RUN_ERROR", code: "SOLD_OUT", message: "Sold out." });
    expect(run.raw).not.toContain("postgres");
  });
});
