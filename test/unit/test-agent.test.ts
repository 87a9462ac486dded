import { describe, expect, it } from "vitest";
import { InputTimeoutError, InterruptCancelledError, PublicError } from "../../src/index.ts";
import { createTestClock, InvariantError, readFrames, type TestRun, testAgent } from "../../src/testing/index.ts";
import { checkWithClient } from "../support/client-check.ts";

function soleQuestion(run: TestRun): TestRun["interrupts"][number] {
  const [question, ...others] = run.interrupts;
  if (question === undefined || others.length > 0) throw new Error(`The run asked ${run.interrupts.length} questions.`);
  return question;
}

describe("an agent under test", () => {
  it("is run with a user's words, and read back", async () => {
    const agent = testAgent(async (context) => {
      await context.text(`You said ${context.userText}`);
      await context.text(".");
      await context.toolCall("look", { at: 1 }, () => "nothing");
      await context.text(" Bye.");
      await context.setState({ n: 1 });
      await context.patchState([{ op: "replace", path: "/n", value: 2 }]);
      return { done: true };
    });
    const run = await agent.run("hello");
    expect(run).toMatchObject({
      text: "You said hello. Bye.",
      interrupts: [],
      result: { done: true },
      outcome: { type: "success" },
      error: undefined,
      state: { n: 2 },
      input: {
        threadId: "thread-1",
        runId: "run-1",
        state: {},
        messages: [{ id: "message-1", role: "user", content: "hello" }],
      },
    });
    expect(run.events).toEqual(readFrames(run.raw).frames.map((frame) => frame.event));
    expect(run.events.map((event) => event.type)).toContain("TOOL_CALL_RESULT");
    expect([agent.warnings, agent.errors]).toEqual([[], []]);
    await checkWithClient(run.raw, run.input);
  });

  it("is run with an input, whose gaps are filled, under run ids that count up", async () => {
    const agent = testAgent(async (context) => context.run);
    const first = await agent.run({
      threadId: "T",
      messages: [{ id: "m", role: "user", content: "x" }],
      forwardedProps: { a: 1 },
    });
    expect(first.result).toMatchObject({
      threadId: "T",
      runId: "run-1",
      forwardedProps: { a: 1 },
      tools: [],
      context: [],
    });
    expect((await agent.run({})).result).toMatchObject({ threadId: "thread-1", runId: "run-2", messages: [] });
    expect((await agent.run({ runId: "mine" })).input.runId).toBe("mine");
  });

  it("is asked, and answered with its proof, as the one who was asked", async () => {
    const callers: unknown[] = [];
    const agent = testAgent(async (context) => {
      const answer = await context.input("Book LH441? (yes/no)");
      callers.push([context.runId, context.identity, context.locals, context.run.messages.length]);
      await context.text(answer === "yes" ? "Booked." : "Cancelled.");
    });
    const asked = await agent.run("fly me", { identity: "anna", locals: "L1" });
    expect(asked.outcome).toEqual({ type: "interrupt", interrupts: asked.interrupts });
    expect(asked.interrupts).toMatchObject([
      { message: "Book LH441? (yes/no)", metadata: { holdline: { proof: expect.any(String) } } },
    ]);
    const question = soleQuestion(asked);
    const answered = await agent.answer(question, "yes", {}, { locals: "L2" });
    expect(answered).toMatchObject({
      text: "Booked.",
      outcome: { type: "success" },
      input: { threadId: "thread-1", runId: "run-2" },
    });
    expect(callers).toEqual([["run-2", "anna", "L2", 1]]);
    await checkWithClient(answered.raw, answered.input);

    const again = await agent.answer(question, "yes");
    expect(again).toMatchObject({
      outcome: undefined,
      error: { code: "INTERRUPT_NOT_HELD" },
      text: "",
      interrupts: [],
    });
    expect(again.events).toHaveLength(1);
  });

  it("is answered on the thread that asked, with what the answer is overridden by", async () => {
    const agent = testAgent(async (context) => [
      await context.input("A?"),
      context.threadId,
      context.run.forwardedProps,
    ]);
    const asked = await agent.run({ threadId: "T" });
    const answered = await agent.answer(soleQuestion(asked), "a", { forwardedProps: 5 });
    expect(answered.result).toEqual(["a", "T", 5]);
    const elsewhere = await agent.run({ threadId: "U" });
    const refused = await agent.answer(soleQuestion(elsewhere), "a", { threadId: "T" });
    expect(refused.error?.code).toBe("INTERRUPT_NOT_HELD");
  });

  it("takes resume entries exactly as they are", async () => {
    const agent = testAgent(async (context) => Promise.all([context.input("A?"), context.input("B?")]));
    const { interrupts } = await agent.run("go");
    const entries = interrupts.map(({ id, metadata }, index) => ({
      interruptId: id,
      status: "resolved" as const,
      payload: `answer ${index}`,
      ...(metadata && { metadata }),
    }));
    const unproven = await agent.resume(entries.map(({ metadata: _, ...entry }) => entry));
    expect(unproven.error?.code).toBe("INTERRUPT_NOT_PROVEN");
    expect((await agent.resume(entries.slice(1))).error?.code).toBe("INTERRUPT_NOT_COVERED");
    expect((await agent.resume(entries)).result).toEqual(["answer 0", "answer 1"]);
  });

  it("is abandoned", async () => {
    let thrown: unknown;
    const agent = testAgent(async (context) => {
      await context.input("Sure?").catch((error) => {
        thrown = error;
        throw error;
      });
    });
    const asked = await agent.run("go");
    const abandoned = await agent.abandon(soleQuestion(asked));
    expect(abandoned.outcome).toEqual({ type: "cancelled" });
    expect(thrown).toBeInstanceOf(InterruptCancelledError);
  });

  it("meets its deadlines when the clock is moved", async () => {
    let thrown: unknown;
    const agent = testAgent({
      agent: async (context) => {
        await context.input("Sure?").catch((error) => {
          thrown = error;
        });
      },
      retention: { ttlMs: 1_000 },
    });
    const asked = await agent.run("go");
    expect(asked.interrupts[0]?.expiresAt).toBe("2100-01-01T00:00:01.000Z");
    await agent.clock.advance(999);
    expect(agent.handler.stats().held).toBe(1);
    await agent.clock.advance(1);
    expect(thrown).toBeInstanceOf(InputTimeoutError);
    expect((await agent.answer(soleQuestion(asked), "yes")).error?.code).toBe("INTERRUPT_NOT_HELD");
  });

  it("takes the clock it is given", async () => {
    const clock = createTestClock(0);
    const agent = testAgent({ agent: async (context) => context.input("Sure?"), clock });
    expect(agent.clock).toBe(clock);
    expect((await agent.run("go")).interrupts[0]?.expiresAt).toBe("1970-01-01T00:15:00.000Z");
  });

  it("may be asked the same again, by the one who was asked only", async () => {
    const agent = testAgent(async (context) => context.input("Sure?"));
    const asked = await agent.run("go", { identity: "anna" });
    const again = await agent.run("go", { identity: "anna" });
    expect(again.interrupts).toEqual(asked.interrupts);
    expect((await agent.run("go", { identity: "bert" })).interrupts[0]?.id).not.toBe(asked.interrupts[0]?.id);
    expect((await agent.answer(soleQuestion(again), "yes")).result).toBe("yes");
  });

  it("is identified by the headers it is sent, and so is who answers", async () => {
    const agent = testAgent({
      agent: async (context) => [await context.input("Sure?"), context.identity],
      identify: (request) => request.headers.get("x-user") ?? new Response("Who?", { status: 401 }),
    });
    const asked = await agent.run("go", { headers: { "x-user": "anna" } });
    expect((await agent.answer(soleQuestion(asked), "yes")).result).toEqual(["yes", "anna"]);
    await expect(agent.run("go")).rejects.toThrow("The request was answered with 401: Who?");
  });
});

describe("what goes wrong", () => {
  it("in the agent is the run's error, and is collected as well as handed on", async () => {
    const handedOn: unknown[] = [];
    const failure = new Error("secret");
    const agent = testAgent({
      agent: async () => {
        throw failure;
      },
      onError: (error, where) => handedOn.push([error, where]),
    });
    const run = await agent.run("go");
    expect(run).toMatchObject({ outcome: undefined, result: undefined, error: { code: "AGENT_FAILED" } });
    expect(run.raw).not.toContain("secret");
    expect(agent.errors).toEqual([{ error: failure, threadId: "thread-1", runId: "run-1" }]);
    expect(handedOn).toEqual([[failure, { threadId: "thread-1", runId: "run-1" }]]);
    const told = testAgent(async () => {
      throw new PublicError("No seats left.", { code: "NO_SEATS" });
    });
    expect((await told.run("go")).error).toMatchObject({ message: "No seats left.", code: "NO_SEATS" });
  });

  it("with the input is a RequestError, and what is odd a warning", async () => {
    const handedOn: unknown[] = [];
    const agent = testAgent({ agent: async () => {}, onWarning: (warning) => handedOn.push(warning) });
    await expect(agent.run({ messages: {} as never })).rejects.toMatchObject({
      name: "RequestError",
      code: "INVALID_INPUT",
      status: 400,
      issues: [{ path: ["messages"] }],
    });
    await agent.run({ surprise: 1 } as never);
    expect(agent.warnings).toHaveLength(1);
    expect(handedOn).toEqual(agent.warnings);
  });

  it("with a leaving client is the reason it left for, and the agent is told", async () => {
    const leaving = new AbortController();
    const reasons: unknown[] = [];
    const agent = testAgent(async (context) => {
      context.signal.addEventListener("abort", () => reasons.push(context.signal.reason.code));
      await context.text("Going on");
      leaving.abort(new Error("seen enough"));
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    });
    await expect(agent.run("go", { signal: leaving.signal })).rejects.toThrow("seen enough");
    expect(reasons).toEqual(["TURN_RELEASED"]);
  });

  it("on the wire is an InvariantError", async () => {
    const agent = testAgent(async (context) => context.input("Sure?"));
    const real = agent.handler.handle;
    const tampered = testAgent(async (context) => {
      void context;
    });
    // A handler that breaks its promises: the answers of another thread.
    tampered.handler.handle = async (request, options) => {
      const input = await request.json();
      return real(
        new Request(request.url, {
          method: "POST",
          headers: request.headers,
          body: JSON.stringify({ ...input, threadId: "X" }),
        }),
        options,
      );
    };
    const broken = tampered.run("go");
    await expect(broken).rejects.toBeInstanceOf(InvariantError);
    await expect(broken).rejects.toMatchObject({ invariant: "INV-3", index: 0 });
  });
});

describe("closing", () => {
  it("stops what is held, and advances the clock for an agent that ignores its signal", async () => {
    const agent = testAgent(async (context) => {
      if (context.userText === "ask") await context.input("Sure?");
      else await new Promise(() => {});
    });
    await agent.run("ask");
    const stuck = agent.run({ threadId: "other" });
    await agent.clock.advance(0);
    const before = agent.clock.now();
    await agent.close();
    expect(agent.clock.now() - before).toBe(10_000);
    expect((await stuck).outcome).toEqual({ type: "cancelled" });
    expect(agent.warnings).toMatchObject([{ code: expect.any(String), threadId: "other" }]);
    await expect(agent.run("again")).rejects.toMatchObject({ code: "SERVER_CLOSING", status: 503 });
  });

  it("does not move the clock when nothing hangs", async () => {
    const agent = testAgent(async (context) => context.input("Sure?"));
    await agent.run("go");
    const before = agent.clock.now();
    await agent.close();
    expect(agent.clock.now()).toBe(before);
  });
});

describe("the text of a run", () => {
  it("is the assistant's, in either form, and nobody else's", async () => {
    const agent = testAgent(async (context) => {
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "s", role: "system" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "s", delta: "system " });
      await context.emit({ type: "TEXT_MESSAGE_START", messageId: "a" });
      await context.emit({ type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: "one " });
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "a" });
      await context.emit({ type: "TEXT_MESSAGE_END", messageId: "s" });
      await context.emit({ type: "TEXT_MESSAGE_CHUNK", messageId: "c", delta: "two " });
      await context.emit({ type: "TEXT_MESSAGE_CHUNK", delta: "three" });
    });
    expect((await agent.run("go")).text).toBe("one two three");
  });
});
