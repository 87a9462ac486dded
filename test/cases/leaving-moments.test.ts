import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { ASKED, askingAgent } from "../fixtures/agents.ts";
import { streamingAgent } from "../fixtures/streaming-agent.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange, inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { type Deferred, defer, isSettled, within } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";

describe("B60 the end of the exchange that asked is nothing to a held turn", () => {
  it("its signal may abort afterwards, and again while the answered run streams; that run's own stops it", async () => {
    const gate = defer();
    const stopped = defer();
    const agent = agentUnderTest(async (context) => {
      await context.input("Book LH441?");
      context.signal.addEventListener("abort", () => stopped.resolve());
      await context.text("Booking");
      await gate.promise;
    });
    const first = new AbortController();
    const asked = await openExchange(agent.handler.fetch, {}, { signal: first.signal });
    const interrupt = soleInterrupt(await asked.rest());
    first.abort();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ held: 1 });
    const second = new AbortController();
    const resume = [answerTo(interrupt, "yes")];
    const answered = await openExchange(agent.handler.fetch, { resume }, { signal: second.signal });
    expect((await answered.read(3)).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
    ]);
    first.abort();
    expect(await isSettled(stopped.promise)).toBe(false);
    second.abort();
    await within(2_000, stopped.promise);
    gate.resolve();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it.each(["abort", "cancel"])("between the terminating frame and the body's close (%s)", async (how) => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const controller = new AbortController();
    const open = await openExchange(agent.handler.fetch, {}, { signal: controller.signal });
    const events = await open.read(ASKED.length);
    if (how === "abort") controller.abort();
    else await open.leave();
    const { outcome } = events.at(-1) as unknown as { outcome: { interrupts: [Interrupt] } };
    const [interrupt] = outcome.interrupts;
    expect(endOf(await agent.answer(interrupt, "yes", { threadId: "thread-1" }))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});

describe("B62 the moments a client can leave", () => {
  it("before the first event: the turn is released as it starts", async () => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(streaming);
    const controller = new AbortController();
    const response = agent.handler.fetch(requestOf(inputOf(), { signal: controller.signal }));
    controller.abort();
    await (await response).body?.cancel();
    await agent.clock.advance(0);
    // A request whose client has left already is dropped before admission: the agent is not even entered.
    expect(seen.emits).toBe(0);
    expect(agent.handler.stats()).toMatchObject({ started: 0, running: 0, queued: 0 });
  });

  it("while a tool runs: it hears its signal, and nothing more goes out", async () => {
    const aborted: Deferred<unknown> = defer();
    const agent = agentUnderTest((context: AgentContext) =>
      context.toolCall("slow", {}, async (_args, tool) => {
        await new Promise((resolve) => tool.signal.addEventListener("abort", resolve));
        aborted.resolve(tool.signal.reason);
        return "too late";
      }),
    );
    const open = await openExchange(agent.handler.fetch);
    await open.read(4);
    await open.leave();
    expect(await within(2_000, aborted.promise)).toMatchObject({ code: "TURN_RELEASED" });
    expect(agent.handler.stats()).toMatchObject({ running: 0, failed: 0 });
  });

  it("after the question was registered and before its outcome went out: it is released, the thread free", async () => {
    const asked = defer();
    const asking = askingAgent((tool) => {
      const answer = tool.input("Book LH441?");
      asked.resolve();
      return answer;
    });
    const agent = agentUnderTest(asking.agent);
    const controller = new AbortController();
    const open = openExchange(agent.handler.fetch, {}, { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await (await open).leave();
    await agent.clock.advance(0);
    expect(asking.rejections).toMatchObject([{ code: "TURN_RELEASED" }]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect(typesOf(await agent.run("Again"))).toEqual(ASKED);
  });

  it("on the question itself, unread: its identified owner gets it again, anybody else waits for its deadline", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest({ agent: asking.agent, retention: { ttlMs: 60_000 } });
    const asAnn = (request: Request) => agent.handler.handle(request, { identity: "ann" });
    const lost = await asAnn(requestOf(inputOf()));
    await agent.clock.advance(0);
    await lost.body?.cancel();
    const again = await exchange(asAnn);
    expect(typesOf(again)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(asking.entered).toBe(1);
    expect(endOf(await exchange(asAnn, { resume: [answerTo(soleInterrupt(again), "yes")] }))).toBe("success");

    const unread = await agent.handler.fetch(requestOf(inputOf({ threadId: "nobody's" })));
    await agent.clock.advance(0);
    await unread.body?.cancel();
    expect(endOf(await agent.run({ threadId: "nobody's" }))).toBe("INTERRUPT_NOT_COVERED");
    await agent.clock.advance(60_000);
    expect(typesOf(await agent.run({ threadId: "nobody's" }))).toEqual(ASKED);
  });

  it("during the answered run: it stops, and is counted neither as failed nor as heard", async () => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(async (context) => {
      await context.input("Go?");
      return streaming(context);
    });
    const interrupt = soleInterrupt(await agent.run("Go"));
    const open = await openExchange(agent.handler.fetch, { resume: [answerTo(interrupt, "yes")] });
    await open.read(3);
    await open.leave();
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
    expect(agent.errors).toEqual([]);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (answered)");
  });
});

describe("B63 odd reasons and odd errors", () => {
  it.each([undefined, "gone", new Error("gone"), null, 7])("a body cancelled with %s", async (reason) => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(streaming);
    const open = await openExchange(agent.handler.fetch);
    await open.read(2);
    await open.leave(reason);
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
  });

  it.each([undefined, "gone", new Error("gone"), null])("a request aborted with %s", async (reason) => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(streaming);
    const controller = new AbortController();
    const open = await openExchange(agent.handler.fetch, {}, { signal: controller.signal });
    await open.read(2);
    controller.abort(reason);
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
  });

  const thrown: [string, unknown][] = [
    ["undefined", undefined],
    ["null", null],
    ["a string", "a string"],
    ["a frozen object", Object.freeze({ message: "secret" })],
    [
      "an error whose message throws",
      Object.defineProperty(new Error(), "message", {
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ];
  it.each(thrown)("an agent that rejects with %s, before and after a question", async (_what, error) => {
    const agent = agentUnderTest(async (context) => {
      if (context.userText !== "now") await context.input("Go?");
      throw error;
    });
    const failed = await agent.run("now");
    expect(typesOf(failed)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(failed.error).toMatchObject({ code: "AGENT_FAILED", message: "The agent failed." });
    const interrupt = soleInterrupt(await agent.run("later"));
    expect((await agent.answer(interrupt, "yes")).error).toMatchObject({ code: "AGENT_FAILED" });
    expect(agent.errors.map((reported) => reported.error === error)).toEqual([true, true]);
  });
});
