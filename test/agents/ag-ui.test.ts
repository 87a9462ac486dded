import { AbstractAgent, type AgentConfig, type BaseEvent, HttpAgent } from "@ag-ui/client";
import { EventType, type RunAgentInput } from "@ag-ui/core";
import { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { agUiAgent } from "../../src/agents/ag-ui.ts";
import { createHandler } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { until } from "../support/promises.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

type Script = (input: RunAgentInput, send: (event: object) => void, signal: AbortSignal) => void | Promise<void>;

/** An agent as others write them: a class whose `run` gives an observable. */
class ScriptedAgent extends AbstractAgent {
  readonly script: Script;
  readonly inputs: RunAgentInput[];
  readonly aborted: string[];
  #stop = new AbortController();

  constructor(script: Script, inputs: RunAgentInput[] = [], aborted: string[] = [], config: AgentConfig = {}) {
    super(config);
    this.script = script;
    this.inputs = inputs;
    this.aborted = aborted;
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    this.inputs.push(input);
    return new Observable((subscriber) => {
      const send = (event: object) => subscriber.next(event as BaseEvent);
      Promise.resolve(this.script(input, send, this.#stop.signal)).then(
        () => subscriber.complete(),
        (error) => subscriber.error(error),
      );
    });
  }

  override abortRun(): void {
    this.aborted.push(this.threadId);
    this.#stop.abort();
  }

  override clone(): ScriptedAgent {
    return new ScriptedAgent(this.script, this.inputs, this.aborted);
  }
}

const begin = ({ threadId, runId }: RunAgentInput) => ({ type: EventType.RUN_STARTED, threadId, runId });
const finish = ({ threadId, runId }: RunAgentInput, more: object = {}) => ({
  type: EventType.RUN_FINISHED,
  threadId,
  runId,
  ...more,
});
const leave = (subagentRunId: string) => ({ type: EventType.SUBAGENT_FINISHED, subagentRunId });
const say = (text: string) => ({ type: EventType.TEXT_MESSAGE_CHUNK, messageId: "m", role: "assistant", delta: text });

/** An agent that says what its script does, between a start and an end. */
const scripted = (script: Script, ending: object = {}) =>
  new ScriptedAgent(async (input, send, signal) => {
    send(begin(input));
    await script(input, send, signal);
    send(finish(input, ending));
  });

describe("an agent of @ag-ui/client", () => {
  it("is served with its events, its result and its usage, under the run's own ids", async () => {
    const usage = [{ provider: "acme", model: "m", inputTokens: 3, outputTokens: 4, totalTokens: 7 }];
    const inner = scripted(
      (_input, send) => {
        send(say("Hel"));
        send(say("lo"));
        send({ type: EventType.STATE_SNAPSHOT, snapshot: { mood: "good" } });
        send({ type: EventType.TOOL_CALL_CHUNK, toolCallId: "c", toolCallName: "look", delta: "{}" });
        send({ type: EventType.TOOL_CALL_RESULT, messageId: "r", toolCallId: "c", content: "seen" });
      },
      { result: { ok: true }, usage },
    );
    const run = await agentUnderTest(agUiAgent(inner)).run("hi");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STATE_SNAPSHOT",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(run.text).toBe("Hello");
    expect(run.result).toEqual({ ok: true });
    expect(run.state).toEqual({ mood: "good" });
    expect(run.events.at(-1)?.usage).toEqual(usage);
  });

  it("gets the run as it was sent", async () => {
    const inner = scripted(() => {});
    await agentUnderTest(agUiAgent(inner)).run({
      threadId: "t",
      runId: "r",
      messages: [{ id: "1", role: "user", content: "hi" }],
      state: { a: null },
      tools: [{ name: "show", description: "Shows." }],
      context: [{ description: "city", value: "Rome" }],
      forwardedProps: { deep: { b: 1 } },
    });
    expect(inner.inputs).toMatchObject([
      {
        threadId: "t",
        runId: "r",
        messages: [{ id: "1", role: "user", content: "hi" }],
        state: { a: null },
        tools: [{ name: "show" }],
        context: [{ value: "Rome" }],
        forwardedProps: { deep: { b: 1 } },
      },
    ]);
    expect(inner.inputs[0]).not.toHaveProperty("resume");
  });

  it("has an instance of its own for each run, also when many run at once", async () => {
    const inner = new ScriptedAgent(async (input, send) => {
      send(begin(input));
      await new Promise((resolve) => setImmediate(resolve));
      send(say(input.threadId));
      send(finish(input));
    });
    const agent = agentUnderTest(agUiAgent(inner));
    const threads = Array.from({ length: 10 }, (_, i) => `thread-${i}`);
    const runs = await Promise.all(threads.map((threadId) => agent.run({ threadId, messages: [] })));
    expect(runs.map(({ text }) => text)).toEqual(threads);
    expect(inner.messages).toEqual([]);
    expect(inner.isRunning).toBe(false);
  });

  it("may be made for the turn, and one that is running is not given to another", async () => {
    const agent = agentUnderTest(
      agUiAgent(async ({ threadId }) => scripted((_input, send) => send(say(`for ${threadId}`)))),
    );
    expect((await agent.run({ threadId: "t", messages: [] })).text).toBe("for t");

    const shared = scripted(() => new Promise((resolve) => setImmediate(resolve)));
    const greedy = agentUnderTest(agUiAgent(() => shared));
    const ends = await Promise.all(["a", "b"].map((threadId) => greedy.run({ threadId, messages: [] }).then(endOf)));
    expect(ends.sort()).toEqual(["AGENT_FAILED", "success"]);
    expect(greedy.errors[0]?.error).toBeInstanceOf(TypeError);
  });

  it("keeps its middleware and its subscribers", async () => {
    const seen: string[] = [];
    const make = () => {
      const inner = scripted((_input, send) => send(say("hi")));
      inner.use((input, next) => {
        seen.push("middleware");
        return next.run(input);
      });
      inner.subscribe({ onRunFinishedEvent: () => void seen.push("subscriber") });
      return inner;
    };
    await agentUnderTest(agUiAgent(make)).run("hi");
    expect(seen).toEqual(["middleware", "subscriber"]);
  });

  it("leaves a call of the client's unanswered, and pending exactly", async () => {
    const inner = scripted((_input, send) => {
      send({ type: EventType.TOOL_CALL_CHUNK, toolCallId: "f", toolCallName: "show", delta: "{}" });
    });
    expect((await agentUnderTest(agUiAgent(inner)).run("hi")).outcome).toEqual({
      type: "success",
      pendingToolCallIds: ["f"],
    });
  });

  it("that was cancelled ends its run as cancelled", async () => {
    const inner = scripted((_input, send) => send(say("Well")), { outcome: { type: "cancelled" } });
    expect((await agentUnderTest(agUiAgent(inner)).run("hi")).outcome).toEqual({ type: "cancelled" });
  });

  it("may be several runs in one stream: the last one ends ours", async () => {
    const inner = new ScriptedAgent((input, send) => {
      send(begin({ ...input, runId: "earlier" }));
      send(say("one"));
      send(finish({ ...input, runId: "earlier" }, { result: "old" }));
      send(begin(input));
      send({ ...say("two"), messageId: "m2" });
      send(finish(input, { result: "new" }));
    });
    const run = await agentUnderTest(agUiAgent(inner)).run("hi");
    expect(run.text).toBe("onetwo");
    expect(run.result).toBe("new");
  });

  it("that goes on in a further run with a subagent of an interrupted one shows it once, and only the last run's usage (P125, P133, P150)", async () => {
    const usage = (inputTokens: number) => ({ usage: [{ provider: "acme", model: "m", inputTokens }] });
    const started = { type: EventType.SUBAGENT_STARTED, subagentRunId: "s", name: "Booker" };
    const interrupts = [{ id: "i", reason: "r", subagentRunId: "s" }];
    const suspended = { ...leave("s"), outcome: { type: "suspended", interruptIds: ["i"] } };
    const inner = new ScriptedAgent((input, send) => {
      const earlier = { ...input, runId: "earlier" };
      for (const event of [begin(earlier), started, { ...say("one"), subagentRunId: "s" }]) send(event);
      send(suspended);
      send({ type: EventType.STATE_SNAPSHOT, snapshot: { asked: true } });
      send(finish(earlier, { outcome: { type: "interrupt", interrupts }, ...usage(3) }));
      for (const event of [begin(input), started, { ...say("two"), messageId: "m2", subagentRunId: "s" }]) send(event);
      send(leave("s"));
      send(finish(input, usage(4)));
    });
    const run = await agentUnderTest(agUiAgent(inner)).run("hi");
    expect(run.outcome).toEqual({ type: "success" });
    expect(run.text).toBe("onetwo");
    expect(run.events.filter(({ type }) => type.startsWith("SUBAGENT"))).toEqual([started, leave("s")]);
    expect(run.events.at(-1)?.usage).toMatchObject([{ inputTokens: 4 }]);
  });

  it("has subagents that it leaves suspended end as it said, naming no interrupt of an earlier run (P127, P150)", async () => {
    const interrupts = [{ id: "i", reason: "r", subagentRunId: "s" }];
    const outcome = { type: "interrupt", interrupts };
    const suspended = { ...leave("s"), outcome: { type: "suspended", interruptIds: ["i"] }, metadata: { "acme:n": 1 } };
    const asks = (input: RunAgentInput, send: (event: object) => void) => {
      send(begin(input));
      send({ type: EventType.SUBAGENT_STARTED, subagentRunId: "s", name: "Booker" });
      send(suspended);
      send(finish(input, { outcome, usage: [{ provider: "acme", model: "m", inputTokens: 3 }] }));
    };
    const asked = await agentUnderTest(agUiAgent(new ScriptedAgent(asks))).run("hi");
    expect([asked.events[2], asked.outcome]).toEqual([suspended, outcome]);

    const further = new ScriptedAgent((input, send) => {
      asks({ ...input, runId: "earlier" }, send);
      send(begin(input));
      send(say("Something else."));
      send(finish(input));
    });
    const run = await agentUnderTest(agUiAgent(further)).run("hi");
    expect(run.events.at(-2)).toEqual({ ...suspended, outcome: { type: "suspended" } });
    expect(run.outcome).toEqual({ type: "success" });
    expect(run.events.at(-1)).not.toHaveProperty("usage");
  });

  it("that fails late has used what its run had said (P57)", async () => {
    const usage = [{ provider: "acme", model: "m", inputTokens: 3 }];
    const inner = new ScriptedAgent((input, send) => {
      send(begin(input));
      send(finish(input, { usage }));
      send({ type: EventType.RUN_ERROR, message: "Not saved." });
    });
    const run = await agentUnderTest(agUiAgent(inner)).run("hi");
    expect(run.error).toMatchObject({ message: "Not saved." });
    expect(run.events.at(-1)?.usage).toMatchObject(usage);
  });
});

describe("an agent of @ag-ui/client that fails", () => {
  it("has its own RUN_ERROR passed on, which was said to a client", async () => {
    const inner = new ScriptedAgent((input, send) => {
      send(begin(input));
      send(say("Well"));
      send({ type: EventType.RUN_ERROR, message: "The quota is used up.", code: "QUOTA" });
    });
    const agent = agentUnderTest(agUiAgent(inner));
    expect((await agent.run("hi")).error).toMatchObject({ message: "The quota is used up.", code: "QUOTA" });
  });

  it.each<[string, Script]>([
    ["what it throws", () => Promise.reject(new Error("postgres://u:p@h"))],
    [
      "a stream that is not sound",
      (input, send) => {
        send(begin(input));
        send({ type: EventType.TEXT_MESSAGE_END, messageId: "never begun" });
      },
    ],
    ["a stream without an end", (input, send) => send(begin(input))],
    ["a stream of nothing", () => {}],
  ])("has %s kept here", async (_what, script) => {
    const agent = agentUnderTest(agUiAgent(new ScriptedAgent(script)));
    const run = await agent.run("hi");
    expect(run.error).toMatchObject({ code: "AGENT_FAILED", message: "The agent failed." });
    expect(run.raw).not.toContain("postgres");
    expect(agent.errors).toHaveLength(1);
  });
});

describe("an agent of @ag-ui/client whose turn is stopped", () => {
  it.each([
    [
      "that listens",
      (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    ],
    ["that does not", () => new Promise<void>(() => {})],
  ])("%s is told by abortRun, and the run is cancelled", async (_what, wait) => {
    const inner = scripted(async (_input, send, signal) => {
      send(say("Well"));
      await wait(signal);
    });
    const agent = agentUnderTest(agUiAgent(inner));
    const running = agent.run("hi");
    await until(() => inner.inputs.length > 0, "the inner run");
    await agent.handler.stop("thread-1");
    expect((await running).outcome).toEqual({ type: "cancelled" });
    expect(inner.aborted).toEqual(["thread-1"]);
    expect(agent.errors).toEqual([]);
  });
});

describe("questions that an inner agent keeps itself", () => {
  const questions = [
    { id: "q1", reason: "acme:confirm", message: "Sure?", toolCallId: "c", metadata: { node: 7 } },
    { id: "q2", reason: "input_required", responseSchema: { type: "string" } },
  ];
  const asker = () =>
    new ScriptedAgent((input, send) => {
      send(begin(input));
      if (input.resume === undefined) {
        send({ type: EventType.TOOL_CALL_CHUNK, toolCallId: "c", toolCallName: "book", delta: "{}" });
        send(finish(input, { outcome: { type: "interrupt", interrupts: questions } }));
      } else {
        send(say(JSON.stringify(input.resume)));
        send(finish(input));
      }
    });

  it("go out as they are, nothing is held here, and their answers are handed on", async () => {
    const agent = agentUnderTest(agUiAgent(asker()));
    const asked = await agent.run("go");
    expect(twoInterrupts(asked)).toEqual(questions);
    expect(agent.handler.stats().held).toBe(0);
    const resume = [
      { interruptId: "q1", status: "resolved" as const, payload: { approved: false }, metadata: { node: 7 } },
      { interruptId: "q2", status: "cancelled" as const },
    ];
    const answered = await agent.run({ resume });
    expect(JSON.parse(answered.text)).toEqual(resume);
  });

  it("survive a restart here: another instance takes the answer", async () => {
    await agentUnderTest(agUiAgent(asker())).run("go");
    const resume = [{ interruptId: "q1", status: "resolved" as const, payload: true }];
    expect(JSON.parse((await agentUnderTest(agUiAgent(asker())).run({ resume })).text)).toEqual(resume);
  });

  it("may be held by another server of this library: proof, answer and abandoning pass through", async () => {
    const seen: unknown[] = [];
    const behind = createHandler({
      validate: true,
      async agent(context) {
        const booked = await context.toolCall("book", {}, (_args, tool) => tool.input("Book?"));
        seen.push(booked);
        await context.text(booked);
      },
    });
    const remote = new HttpAgent({
      url: "http://behind.test/",
      fetch: (url, init) => behind.handle(new Request(url, init)),
    });
    const agent = agentUnderTest(agUiAgent(remote));
    const question = soleInterrupt(await agent.run("go"));
    expect(question.message).toBe("Book?");
    expect(behind.stats().held).toBe(1);
    // Without its proof the server behind refuses, and says so to our client too.
    expect(
      endOf(await agent.run({ resume: [{ interruptId: question.id, status: "resolved", payload: "yes" }] })),
    ).toMatch(/^INTERRUPT_NOT_PROVEN/);
    const run = await agent.run({ resume: [answerTo(question, "yes")] });
    expect(run.text).toBe("yes");
    expect(typesOf(run).slice(0, 2)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT"]);
    const again = soleInterrupt(await agent.run("go"));
    expect((await agent.run({ resume: [giveUp(again)] })).outcome).toEqual({ type: "cancelled" });
    expect(seen).toEqual(["yes"]);
    await behind.close();
  });
});
