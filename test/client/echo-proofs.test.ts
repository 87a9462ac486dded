import { HttpAgent } from "@ag-ui/client";
import { describe, expect, it } from "vitest";
import { echoProofs } from "../../src/client/index.ts";
import { createHandler } from "../../src/index.ts";

describe("echoProofs", () => {
  it("gives answers that come by id alone the proof their question came with", async () => {
    const answers: string[] = [];
    const handler = createHandler({
      agent: async (context) => {
        answers.push(await context.input("Book LH441?"));
      },
    });
    const talk = (agent: HttpAgent) => agent.runAgent({ runId: crypto.randomUUID() });
    const client = () =>
      new HttpAgent({ url: "http://agent.test/", fetch: (url, init) => handler.handle(new Request(url, init)) });
    const answerByIdAlone = (agent: HttpAgent) =>
      agent.runAgent({
        resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: "yes" })),
      });

    const bare = client();
    await talk(bare);
    await answerByIdAlone(bare);
    expect(answers).toEqual([]);
    expect(handler.stats().refused).toEqual({ INTERRUPT_NOT_PROVEN: 1 });

    const echoing = client();
    echoing.use(echoProofs());
    await talk(echoing);
    await answerByIdAlone(echoing);
    expect(answers).toEqual(["yes"]);
    await handler.close();
  });

  it("never puts a proof in the place of one that an entry brings", async () => {
    const handler = createHandler({ agent: async (context) => void (await context.input("Book LH441?")) });
    const agent = new HttpAgent({
      url: "http://agent.test/",
      fetch: (url, init) => handler.handle(new Request(url, init)),
    });
    agent.use(echoProofs());
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    const metadata = { holdline: { proof: "another" } };
    await agent.runAgent({
      resume: [{ interruptId: interrupt?.id ?? "", status: "resolved", payload: "yes", metadata }],
    });
    expect(handler.stats().refused).toEqual({ INTERRUPT_NOT_PROVEN: 1 });
    await handler.close();
  });

  it("remembers as many threads as it may, the latest ones", async () => {
    const answered: string[] = [];
    const handler = createHandler({
      agent: async (context) => {
        await context.input("Book LH441?");
        answered.push(context.run.threadId);
      },
    });
    const echo = echoProofs({ maxThreads: 2 });
    const asked = ["one", "two", "three"].map((threadId) => {
      const agent = new HttpAgent({
        url: "http://agent.test/",
        threadId,
        fetch: (url, init) => handler.handle(new Request(url, init)),
      });
      agent.use(echo);
      return agent;
    });
    for (const agent of asked) await agent.runAgent();
    for (const agent of asked)
      await agent.runAgent({
        resume: agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: "yes" })),
      });
    expect(answered).toEqual(["two", "three"]);
    expect(handler.stats().refused).toEqual({ INTERRUPT_NOT_PROVEN: 1 });
    await handler.close();
  });
});
