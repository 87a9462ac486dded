import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, describe, expect, it } from "vitest";
import { toNodeListener } from "../../adapters/node.ts";
import type { AgentContext, Handler } from "../../src/index.ts";
import { streamingAgent } from "../fixtures/streaming-agent.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, openExchange } from "../support/open-exchange.ts";
import { type Deferred, defer, isSettled, nextTurn, within } from "../support/promises.ts";
import { endOf } from "../support/runs.ts";

describe("B56 the reader cancels", () => {
  const moments: Record<string, (handler: Handler) => Promise<void>> = {
    "after two events": async ({ fetch }) => {
      const open = await openExchange(fetch);
      await open.read(2);
      await open.leave();
    },
    "before the first read": async ({ fetch }) => {
      await (await openExchange(fetch)).leave();
    },
    twice: async ({ fetch }) => {
      const open = await openExchange(fetch);
      await open.read(2);
      await Promise.all([open.leave(), open.leave()]);
    },
  };

  it.each(Object.keys(moments))(
    "%s: the agent hears of it, what it emits goes nowhere, and its turn ends",
    async (when) => {
      const { agent: streaming, seen } = streamingAgent();
      const agent = agentUnderTest(streaming);
      await moments[when]?.(agent.handler);
      expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
      await agent.clock.advance(0);
      expect(seen.afterwards).toEqual(["TURN_RELEASED"]);
      expect(agent.handler.stats()).toMatchObject({ running: 0, held: 0, failed: 0 });
      expect(agent.errors).toEqual([]);
    },
  );

  it("in the very turn of the terminating event nothing goes wrong, and the thread is free", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context) => {
      await context.text("Hello");
      await gate.promise;
    });
    const open = await openExchange(agent.handler.fetch);
    await open.read(3);
    gate.resolve();
    await Promise.resolve();
    await open.leave();
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ running: 0, failed: 0 });
    expect(endOf(await agent.run("Next"))).toBe("success");
  });

  it("with a heartbeat nothing is written afterwards, and its timer is gone", async () => {
    const agent = agentUnderTest({
      agent: (context: AgentContext) => new Promise((resolve) => context.signal.addEventListener("abort", resolve)),
      keepAliveMs: 25,
    });
    const open = await openExchange(agent.handler.fetch);
    await open.read(1);
    await agent.clock.advance(50);
    await open.leave();
    await agent.clock.advance(1_000);
    expect(agent.clock.pending).toBe(0);
    expect(agent.handler.stats()).toMatchObject({ running: 0 });
  });
});

describe("B58 an agent that waits for room", () => {
  it("goes on when the reader leaves, and its `finally` runs", async () => {
    let cleaned = false;
    let emitted = 0;
    const outcome: Deferred<unknown> = defer();
    const agent = agentUnderTest(async (context) => {
      try {
        for (;;) {
          await context.custom("n", "x".repeat(10_000));
          emitted++;
        }
      } catch (error) {
        outcome.resolve(error);
        throw error;
      } finally {
        cleaned = true;
      }
    });
    const open = await openExchange(agent.handler.fetch);
    await open.read(3);
    expect(await isSettled(outcome.promise)).toBe(false);
    const before = emitted;
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(emitted).toBe(before);
    await open.leave();
    expect(await within(1_000, outcome.promise)).toMatchObject({ code: "TURN_RELEASED" });
    await nextTurn();
    expect(cleaned).toBe(true);
  });
});

describe("B59 whatever tells that the client left, the run stops the same way", () => {
  const ways: Record<string, (open: Awaited<ReturnType<typeof openExchange>>, controller: AbortController) => unknown> =
    {
      "only the request's signal": (_open, controller) => controller.abort(),
      "only the body": (open) => open.leave(),
    };
  it.each(Object.keys(ways))("%s", async (way) => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(streaming);
    const controller = new AbortController();
    const open = await openExchange(agent.handler.fetch, {}, { signal: controller.signal });
    await open.read(2);
    await ways[way]?.(open, controller);
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
    await agent.clock.advance(0);
    expect(agent.handler.stats()).toMatchObject({ running: 0, finished: 1, failed: 0 });
  });

  it("neither: the heartbeat goes on, into a body that a runtime would find nobody reads", async () => {
    const agent = agentUnderTest({
      agent: (context: AgentContext) => new Promise((resolve) => context.signal.addEventListener("abort", resolve)),
      keepAliveMs: 1_000,
    });
    const open = await openExchange(agent.handler.fetch);
    await open.read(1);
    await agent.clock.advance(10_000);
    expect(agent.handler.stats()).toMatchObject({ running: 1 });
    await agent.handler.stop("thread-1");
    expect((await open.rest()).outcome).toEqual({ type: "cancelled" });
    expect(open.reader.comments.length).toBeGreaterThanOrEqual(9);
  });

  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  const mounts: Record<string, (handler: Handler) => Server> = {
    "our Node adapter": (handler) => createServer(toNodeListener(handler)),
    "Hono's on Node": ({ fetch }) => createServer(getRequestListener(fetch)),
  };
  it.each(Object.keys(mounts))("a socket that is killed, behind %s", async (name) => {
    const { agent: streaming, seen } = streamingAgent();
    const agent = agentUnderTest(streaming);
    const { handler } = agent;
    server = (mounts[name] as (typeof mounts)[string])(handler);
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const body = JSON.stringify(inputOf());
    socket.write(
      `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await within(2_000, new Promise((resolve) => socket.once("data", resolve)));
    socket.destroy();
    expect(await within(2_000, seen.ended)).toBe("TURN_RELEASED");
    await agent.clock.advance(0);
    expect(handler.stats()).toMatchObject({ running: 0 });
  });
});
