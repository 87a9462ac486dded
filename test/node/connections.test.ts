import { beforeAll, describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { ASKED, askingAgent, gatedAgent } from "../fixtures/agents.ts";
import { streamingAgent } from "../fixtures/streaming-agent.ts";
import { build, report } from "../support/child.ts";
import { nodeAgent } from "../support/node-agent.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer, isSettled, until, within } from "../support/promises.ts";
import { LAST_CHUNK, rawConnection, rawRun } from "../support/raw-connection.ts";
import { answerTo, endOf, soleInterrupt, typesOf } from "../support/runs.ts";

beforeAll(build, 240_000);

describe("a socket that is killed", () => {
  it("before the head: nothing is started", async () => {
    const identified = defer<string>();
    const asked = defer();
    const asking = askingAgent();
    const agent = await nodeAgent({
      agent: asking.agent,
      identify: () => {
        asked.resolve();
        return identified.promise;
      },
    });
    const { socket } = await rawConnection(agent.port);
    socket.write(rawRun());
    await asked.promise;
    socket.destroy();
    await until(() => socket.closed, "the close");
    // The server hears of it in a turn of the event loop of its own.
    await agent.clock.advance(0);
    identified.resolve("ann");
    await agent.clock.advance(0);
    expect(asking.entered).toBe(0);
    expect(agent.handler.stats()).toMatchObject({ started: 0, running: 0, held: 0 });
    expect(agent.errors).toEqual([]);
  });

  it("in the middle of a stream: the agent hears it, and its thread is free", async () => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = await nodeAgent(streaming);
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun());
    await connection.until("tick");
    connection.socket.resetAndDestroy();
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
    await until(() => agent.handler.stats().running === 0, "the end of the turn");
    const next = await openExchange(fetch, {}, { url: agent.url });
    expect((await next.read(1)).map(({ type }) => type)).toEqual(["RUN_STARTED"]);
    await next.leave();
    await until(() => agent.handler.stats().running === 0, "the end of the next turn");
  });

  it("while a tool runs and says nothing: it hears its signal", async () => {
    const aborted = defer<unknown>();
    const agent = await nodeAgent((context: AgentContext) =>
      context.toolCall("slow", {}, async (_args, tool) => {
        await new Promise((resolve) => tool.signal.addEventListener("abort", resolve));
        aborted.resolve((tool.signal.reason as { code: string }).code);
      }),
    );
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun());
    await connection.until("TOOL_CALL_END");
    connection.socket.destroy();
    expect(await within(2_000, aborted.promise)).toBe("TURN_RELEASED");
  });

  it("after the question: it is held, and answered over another", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent(asking.agent);
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun());
    const text = await connection.until(LAST_CHUNK);
    connection.socket.destroy();
    await until(() => connection.socket.closed, "the close");
    await agent.clock.advance(0);
    const { outcome } = JSON.parse(/data: (.*"interrupts":.*)\n/.exec(text)?.[1] as string);
    expect(endOf(await agent.client().resume([answerTo(outcome.interrupts[0], "yes")]))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });

  it('with onDisconnect: "finish" the turn runs on, and its owner is asked over another', async () => {
    const gate = defer();
    const left = defer();
    const asking = askingAgent(async (tool, context) => {
      context.request?.signal.addEventListener("abort", () => left.resolve());
      await gate.promise;
      return tool.input("Book LH441?");
    });
    const agent = await nodeAgent({ agent: asking.agent, onDisconnect: "finish", identify: () => "ann" });
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun());
    await connection.until("TOOL_CALL_END");
    connection.socket.destroy();
    await within(2_000, left.promise);
    gate.resolve();
    await until(() => agent.handler.stats().held === 1, "the question");
    const client = agent.client();
    const again = await client.say("Are you there?");
    expect(typesOf(again)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(endOf(await client.answer(soleInterrupt(again), "yes"))).toBe("success");
    expect(asking).toMatchObject({ entered: 1, answers: ["yes"] });
  });
});

describe("one connection, many requests", () => {
  it("is kept alive through runs, refusals and errors", async () => {
    const agent = await nodeAgent(askingAgent().agent);
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun());
    await connection.until(LAST_CHUNK, 1);
    connection.socket.write(rawRun());
    expect(await connection.until(LAST_CHUNK, 2)).toContain("INTERRUPT_NOT_COVERED");
    connection.socket.write(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n{",
    );
    expect(await connection.until(LAST_CHUNK, 3)).toContain("INVALID_JSON");
    connection.socket.write(rawRun({ threadId: "another" }));
    await connection.until(LAST_CHUNK, 4);
    expect(connection.text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 400",
      "HTTP/1.1 200",
    ]);
    expect(connection.socket.closed).toBe(false);
    expect(agent.handler.stats()).toMatchObject({ started: 2, held: 2 });
  });

  it("requests sent ahead are answered whole and in their order", async () => {
    const { agent: gated, gates } = gatedAgent(["word"]);
    const agent = await nodeAgent(async (context) => {
      if (context.threadId === "first") await gated(context);
      else await context.text(`second of ${context.threadId}`);
    });
    const connection = await rawConnection(agent.port);
    connection.socket.write(rawRun({ threadId: "first" }) + rawRun({ threadId: "next" }));
    await until(() => agent.handler.stats().finished === 1, "the second run's end");
    expect(connection.text).not.toContain("second of next");
    gates[0]?.resolve();
    const text = await connection.until(LAST_CHUNK, 2);
    expect(text.indexOf("word")).toBeLessThan(text.indexOf("second of next"));
    expect(text.match(/"type":"RUN_\w+"/g)).toEqual(
      ["RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"].map((type) => `"type":"${type}"`),
    );
  });

  it("when it is killed, those behind the first hear of it too", async () => {
    const ended: string[] = [];
    const agent = await nodeAgent(async (context) => {
      try {
        for (;;) await context.text("x".repeat(1_000));
      } finally {
        ended.push(`${context.threadId} ${(context.signal.reason as { code: string }).code}`);
      }
    });
    const { socket } = await rawConnection(agent.port);
    socket.pause();
    socket.write(["a", "b", "c"].map((threadId) => rawRun({ threadId })).join(""));
    await until(() => agent.handler.stats().running === 3, "three turns");
    socket.destroy();
    await until(() => agent.handler.stats().running === 0, "the end of three turns");
    expect(ended.sort()).toEqual(["a TURN_RELEASED", "b TURN_RELEASED", "c TURN_RELEASED"]);
  });
});

describe("a reader that stalls", () => {
  it.each(["http1", "http2"])(
    "over %s pauses the agent in flat memory, and misses nothing afterwards",
    async (protocol) => {
      const { paused, grown, emitted, received, outOfOrder } = await report("slow-socket.mjs", protocol);
      // What the system's own buffers take is not ours to bound.
      expect(paused).toBeLessThan(20_000);
      expect(grown).toBeLessThan(8_000_000);
      expect({ emitted, received, outOfOrder }).toEqual({ emitted: 100_000, received: 100_000, outOfOrder: 0 });
    },
    60_000,
  );

  it("and leaves: the agent that waits for room hears of it", async () => {
    const ended = defer<unknown>();
    const agent = await nodeAgent(async (context) => {
      try {
        for (;;) await context.custom("n", "x".repeat(10_000));
      } catch (error) {
        ended.resolve((error as { code: string }).code);
      }
    });
    const { socket } = await rawConnection(agent.port);
    socket.pause();
    socket.write(rawRun());
    await until(() => agent.handler.stats().running === 1, "the turn");
    expect(await isSettled(ended.promise)).toBe(false);
    socket.destroy();
    expect(await within(2_000, ended.promise)).toBe("TURN_RELEASED");
  });

  it("is no concern of others", async () => {
    const agent = await nodeAgent(async (context) => {
      if (context.threadId !== "stalled") return context.text("Hello");
      for (;;) await context.custom("n", "x".repeat(10_000));
    });
    const { socket } = await rawConnection(agent.port);
    socket.pause();
    socket.write(rawRun({ threadId: "stalled" }));
    await until(() => agent.handler.stats().running === 1, "the stalled turn");
    for (let time = 0; time < 5; time++)
      expect((await agent.client({ threadId: `t${time}` }).say("Hi")).text).toBe("Hello");
    socket.destroy();
    await until(() => agent.handler.stats().running === 0, "the end of the stalled turn");
  });
});

it("an asking agent's first run over a bare connection is the same as over any", async () => {
  const agent = await nodeAgent(askingAgent().agent);
  const connection = await rawConnection(agent.port);
  connection.socket.write(rawRun({}, "connection: close\r\n"));
  const text = await connection.closed();
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
  expect(text.match(/"type":"[A-Z_]+"/g)).toEqual(ASKED.map((type) => `"type":"${type}"`));
});
