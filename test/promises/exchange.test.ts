import { describe, expect, it } from "vitest";
import type { ExchangeRequest, Outlet } from "../../src/index.ts";
import { readFrames } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, proofOf, soleInterrupt } from "../support/runs.ts";

/** An outlet that keeps what it is given, and lets the test play the reader. */
function recordingOutlet() {
  let leave: () => void = () => {};
  let wake: () => void = () => {};
  const at = {
    text: "",
    ended: 0,
    full: false,
    leave: () => leave(),
    drain() {
      at.full = false;
      wake();
    },
  };
  const outlet: Outlet = {
    write: (frame) => {
      at.text += frame;
    },
    get full() {
      return at.full;
    },
    room: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    end: () => {
      at.ended++;
    },
    left: (callback) => {
      leave = callback;
    },
  };
  const types = () => readFrames(at.text).frames.map(({ event }) => event.type);
  return { at, outlet, types };
}

function requestOf(input: object, more: Partial<ExchangeRequest> = {}): ExchangeRequest & { made: number } {
  const request = {
    made: 0,
    method: "POST",
    headers: new Headers({ "content-type": "application/json" }),
    text: async () => JSON.stringify({ threadId: "thread-1", runId: "r", messages: [], ...input }),
    toRequest() {
      request.made++;
      return new Request("http://made.test/", { method: "POST" });
    },
    ...more,
  };
  return request;
}

describe("exchange", () => {
  it("writes whole frames to an outlet, and resolves as soon as the head is known", async () => {
    let go: () => void = () => {};
    const agent = agentUnderTest(async (context) => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      await context.text("Hi");
    });
    const { at, outlet, types } = recordingOutlet();
    const answer = await agent.handler.exchange(requestOf({}), outlet);
    expect(answer).toEqual({
      status: 200,
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      },
      body: undefined,
    });
    expect([types(), at.ended]).toEqual([["RUN_STARTED"], 0]);
    go();
    await agent.clock.advance(0);
    expect(types()).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(at.ended).toBe(1);
  });

  it("gives what is no stream as a whole body, and touches no outlet", async () => {
    const agent = agentUnderTest(async () => {});
    const { at, outlet } = recordingOutlet();
    const refused = await agent.handler.exchange(requestOf({ runId: 5 }), outlet);
    expect([refused.status, JSON.parse(String(refused.body)).error.code]).toEqual([400, "INVALID_INPUT"]);
    const capabilities = await agent.handler.exchange(requestOf({}, { method: "GET" }), outlet);
    expect(JSON.parse(String(capabilities.body))).toHaveProperty("humanInTheLoop");
    expect((await agent.handler.exchange(requestOf({}, { method: "HEAD" }), outlet)).body).toBe("");
    expect([at.text, at.ended]).toEqual(["", 0]);
  });

  it("makes a Request only when identify or context.request asks for one, and only one", async () => {
    const agent = agentUnderTest(async (context) => {
      if (context.run.forwardedProps !== "look") return;
      const { request } = context;
      return [request?.url, context.request === request];
    });
    const blind = requestOf({});
    await agent.handler.exchange(blind, recordingOutlet().outlet);
    expect(blind.made).toBe(0);
    const looking = requestOf({ forwardedProps: "look" });
    const { outlet, at } = recordingOutlet();
    await agent.handler.exchange(looking, outlet);
    await agent.clock.advance(0);
    expect(looking.made).toBe(1);
    expect(at.text).toContain('"result":["http://made.test/",true]');

    const identifying = agentUnderTest({ agent: async () => {}, identify: () => null });
    const asked = requestOf({});
    await identifying.handler.exchange(asked, recordingOutlet().outlet);
    expect(asked.made).toBe(1);
  });

  it("makes one of the method and the headers where the adapter has none", async () => {
    const agent = agentUnderTest({
      agent: async (context) => [context.identity, context.request?.method],
      identify: (request) => request.headers.get("x-user"),
    });
    const { outlet, at } = recordingOutlet();
    const headers = new Headers({ "content-type": "application/json", "x-user": "anna" });
    await agent.handler.exchange(requestOf({}, { headers, toRequest: undefined }), outlet);
    await agent.clock.advance(0);
    expect(at.text).toContain('"result":["anna","POST"]');
  });

  it("needs no more of the headers than a look-up by name", async () => {
    const agent = agentUnderTest(async () => {});
    const headers = { get: (name: string) => (name.toLowerCase() === "content-type" ? "application/json" : null) };
    expect((await agent.handler.exchange(requestOf({}, { headers }), recordingOutlet().outlet)).status).toBe(200);
  });

  it("waits for the outlet's room, and goes on when there is some", async () => {
    let written = 0;
    const agent = agentUnderTest(async (context) => {
      for (; written < 3; written++) await context.text("x");
    });
    const { at, outlet } = recordingOutlet();
    at.full = true;
    await agent.handler.exchange(requestOf({}), outlet);
    await agent.clock.advance(0);
    expect(written).toBe(0);
    at.drain();
    await agent.clock.advance(0);
    expect([written, at.ended]).toEqual([3, 1]);
  });

  it("hears its outlet tell that the reader left, and that once", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      context.signal.addEventListener("abort", () => seen.push(context.signal.reason.code));
      await new Promise(() => {});
    });
    const { at, outlet } = recordingOutlet();
    await agent.handler.exchange(requestOf({}), outlet);
    await agent.clock.advance(0);
    at.leave();
    at.leave();
    expect(seen).toEqual(["TURN_RELEASED"]);
    await agent.clock.advance(100_000);
    expect(agent.handler.stats().running).toBe(1);
  });

  it("delivers nothing to a reader that turns out to be gone as soon as it is written to", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      await context.input("A?").then(
        (answer) => seen.push(answer),
        (error) => seen.push(error.code),
      );
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const { outlet, at } = recordingOutlet();
    outlet.write = () => at.leave();
    await agent.handler.exchange(requestOf({ resume: [answerTo(interrupt, "a")] }), outlet);
    await agent.clock.advance(0);
    expect(seen).toEqual(["TURN_RELEASED"]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, answered: 0 });
    expect(at.text).not.toContain(proofOf(interrupt));
  });

  it("knows the client that had left before it came", async () => {
    let entered = 0;
    const agent = agentUnderTest(async () => void entered++);
    const { outlet, at } = recordingOutlet();
    await agent.handler.exchange(requestOf({}, { signal: AbortSignal.abort() }), outlet);
    const gone = recordingOutlet();
    gone.outlet.left = (callback) => callback();
    await agent.handler.exchange(requestOf({}), gone.outlet);
    await agent.clock.advance(0);
    expect([entered, at.text, at.ended, gone.at.text]).toEqual([0, "", 1, ""]);
  });
});
