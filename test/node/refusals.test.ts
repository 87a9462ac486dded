import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent, gatedAgent } from "../fixtures/agents.ts";
import type { HttpClient } from "../support/http-client.ts";
import { type NodeAgent, nodeAgent } from "../support/node-agent.ts";
import { exchange } from "../support/open-exchange.ts";
import { until } from "../support/promises.ts";
import { answerTo, endOf, isLone, proofOf, soleInterrupt, typesOf } from "../support/runs.ts";

type Interrupt = ReturnType<typeof soleInterrupt>;

/** Each refusal a resume can get, by what is sent. */
const refusals: Record<string, (page: HttpClient, interrupt: Interrupt, agent: NodeAgent) => Promise<unknown>> = {
  UNSUPPORTED_PROTOCOL_VERSION: (_page, interrupt, { url }) =>
    exchange(fetch, { protocolVersion: "2.0", resume: [answerTo(interrupt, "yes")] }, { url }),
  "INTERRUPT_NOT_HELD (unknown)": (_page, interrupt, agent) =>
    agent.client({ threadId: "another" }).resume([answerTo(interrupt, "yes")]),
  "INTERRUPT_NOT_OUTSTANDING (unknown)": (page, interrupt) =>
    page.resume([{ ...answerTo(interrupt, "yes"), interruptId: "int_made_up" }]),
  INTERRUPT_NOT_OUTSTANDING: (page, interrupt) => page.resume([answerTo(interrupt, "yes"), answerTo(interrupt, "no")]),
  INTERRUPT_NOT_COVERED: (page) => page.say("Something else"),
  INTERRUPT_NOT_PROVEN: (page, { id }) => page.resume([{ interruptId: id, status: "resolved", payload: "yes" }]),
  "INTERRUPT_NOT_PROVEN, the last character": (page, interrupt) => {
    const proof = proofOf(interrupt);
    const metadata = { holdline: { proof: proof.slice(0, -1) + (proof.endsWith("A") ? "Q" : "A") } };
    return page.resume([{ ...answerTo(interrupt, "yes"), metadata }]);
  },
  "INTERRUPT_NOT_PROVEN, to give up": (page, { id }) => page.resume([{ interruptId: id, status: "cancelled" }]),
  INTERRUPT_PAYLOAD_REFUSED: (page, interrupt) => page.resume([answerTo(interrupt, { not: "a string" })]),
};

describe("over a socket, each refusal", () => {
  it.each(Object.keys(refusals))("%s: alone in its stream, and the right answer still works", async (code) => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, retention: { ttlMs: 60_000 } });
    const client = agent.client();
    const interrupt = soleInterrupt(await client.say("Book it"));
    await agent.clock.advance(59_999);
    // A page that was loaded anew: the client itself would not send what does not cover its open questions.
    const refused = (await refusals[code]?.(client.reloaded(), interrupt, agent)) as Awaited<
      ReturnType<HttpClient["say"]>
    >;
    expect(isLone(refused)).toBe(true);
    expect(endOf(refused)).toBe(code.split(",")[0]);
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0, answered: 0 });
    const answered = await client.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual(ANSWERED);
    expect(asking).toMatchObject({ entered: 1, answers: ["yes"] });
  });

  it.each(Object.keys(refusals))("%s: moves no deadline", async (code) => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, retention: { ttlMs: 60_000 } });
    const client = agent.client();
    const interrupt = soleInterrupt(await client.say("Book it"));
    await agent.clock.advance(59_999);
    await refusals[code]?.(client.reloaded(), interrupt, agent);
    await agent.clock.advance(1);
    expect(asking.rejections).toMatchObject([{ code: "INPUT_TIMEOUT" }]);
    expect(endOf(await client.reloaded().resume([answerTo(interrupt, "yes")]))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(asking.answers).toEqual([]);
  });

  it("THREAD_BUSY: past the queue, and those in it are served in order", async () => {
    const { agent: gated, gates } = gatedAgent(["word"]);
    const agent = await nodeAgent({ agent: gated, limits: { queuedRuns: 1 } });
    const runs = ["a", "b", "c"].map((text) => agent.client().say(text));
    expect(endOf(await Promise.race(runs))).toBe("THREAD_BUSY");
    expect(agent.handler.stats()).toMatchObject({ running: 1, queued: 1 });
    gates[0]?.resolve();
    expect((await Promise.all(runs)).map(endOf).sort()).toEqual(["THREAD_BUSY", "success", "success"]);
  });

  it("a run that waits has its head at once", async () => {
    const { agent: gated, gates } = gatedAgent(["word"]);
    const agent = await nodeAgent(gated);
    const first = exchange(fetch, {}, { url: agent.url });
    await until(() => agent.handler.stats().running === 1, "the first run");
    const waiting = await fetch(agent.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ threadId: "thread-1", runId: "waiting", messages: [], protocolVersion: "1.0" }),
    });
    expect([waiting.status, waiting.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(agent.handler.stats()).toMatchObject({ running: 1, queued: 1 });
    gates[0]?.resolve();
    await first;
    expect(await waiting.text()).toContain('"runId":"waiting","outcome":{"type":"success"}');
  });
});

describe("over a socket, the end of a question", () => {
  it("comes without any traffic", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, retention: { ttlMs: 60_000 } });
    const client = agent.client();
    soleInterrupt(await client.say("Book it"));
    await agent.clock.advance(60_000);
    expect(asking.rejections).toMatchObject([{ code: "INPUT_TIMEOUT" }]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, expired: 1 });
    expect(typesOf(await client.reloaded().say("Again"))).toEqual(ASKED);
  });

  it("comes by eviction to the one held longest", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, retention: { maxHeld: 2 } });
    const clients = ["a", "b", "c"].map((threadId) => agent.client({ threadId }));
    const asked = [];
    for (const client of clients) asked.push(soleInterrupt(await client.say("Book it")));
    expect(asking.rejections).toMatchObject([{ code: "TURN_RELEASED" }]);
    expect(agent.warnings).toMatchObject([{ code: "TURN_EVICTED", threadId: "a" }]);
    const ends = [];
    for (const [i, client] of clients.entries()) ends.push(endOf(await client.answer(asked[i] as Interrupt, "yes")));
    expect(ends).toEqual(["INTERRUPT_NOT_HELD (evicted)", "success", "success"]);
  });

  it("comes when it is given up, and the thread is free", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent(asking.agent);
    const client = agent.client();
    const abandoned = await client.abandon(soleInterrupt(await client.say("Book it")));
    expect(abandoned.outcome).toEqual({ type: "cancelled" });
    expect(asking.rejections).toMatchObject([{ code: "INTERRUPT_CANCELLED" }]);
    expect(typesOf(await client.say("Again"))).toEqual(ASKED);
  });
});

describe("over a socket, who is calling", () => {
  const byHeader = (request: Request) => request.headers.get("authorization")?.replace("Bearer ", "") ?? null;

  it("the owner who reloads gets the same question with the same proof, a stranger a turn of his own", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, identify: byHeader });
    const ann = agent.client({ headers: { authorization: "Bearer ann" } });
    const interrupt = soleInterrupt(await ann.say("Book it"));
    const again = ann.reloaded();
    const asked = await again.say("Are you there?");
    expect(typesOf(asked)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(soleInterrupt(asked)).toEqual(interrupt);

    const bob = agent.client({ headers: { authorization: "Bearer bob" } });
    expect(endOf(await bob.resume([answerTo(interrupt, "yes")]))).toBe("INTERRUPT_NOT_HELD (unknown)");
    expect(typesOf(await bob.say("Book it"))).toEqual(ASKED);
    expect(agent.handler.inspect().map(({ identity }) => identity)).toEqual(["ann", "bob"]);
    expect(endOf(await again.answer(interrupt, "yes"))).toBe("success");
    expect(asking).toMatchObject({ entered: 2, answers: ["yes"] });
  });

  it("a refusal by `identify` comes before the body is read", async () => {
    const agent = await nodeAgent({
      agent: askingAgent().agent,
      identify: () =>
        new Response("no", {
          status: 401,
          headers: [
            ["set-cookie", "a=1"],
            ["set-cookie", "b=2"],
          ],
        }),
    });
    const response = await fetch(agent.url, { method: "POST", body: "x".repeat(1_000_000) });
    expect([response.status, await response.text()]).toEqual([401, "no"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect((await fetch(agent.url)).status).toBe(401);
    expect((await fetch(agent.url, { method: "OPTIONS" })).status).toBe(204);
  });

  it("the request is the exchange's own, while there is one", async () => {
    const requests: (Request | undefined)[] = [];
    const agent = await nodeAgent(async (context: AgentContext) => {
      requests.push(context.request);
      await context.input("Go?").finally(() => requests.push(context.request));
    });
    const client = agent.client({ headers: { "x-page": "1" } });
    const interrupt = soleInterrupt(await client.say("Go"));
    await client.reloaded({ "x-page": "2" }).resume([answerTo(interrupt, "yes")]);
    expect(requests.map((request) => request?.headers.get("x-page"))).toEqual(["1", "2"]);
    expect(requests.map((request) => request?.url)).toEqual([agent.url, agent.url]);
    // Neither client left: both answers were read to their end.
    expect(requests.map((request) => request?.signal.aborted)).toEqual([false, false]);
  });
});
