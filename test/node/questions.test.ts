import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Agent, AgentContext, HumanInputRequest } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent, parallelAgent } from "../fixtures/agents.ts";
import { closeAfterTest } from "../support/listen.ts";
import { nodeAgent } from "../support/node-agent.ts";
import { exchange, openExchange } from "../support/open-exchange.ts";
import { answerTo, endOf, giveUp, soleInterrupt, typesOf } from "../support/runs.ts";

describe("over a socket, a question in the middle of a tool", () => {
  it("keeps what cannot be rebuilt: a private symbol, an open socket, a counter", async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    const sockets: Socket[] = [];
    closeAfterTest(async () => {
      for (const socket of sockets) socket.destroy();
      echo.close();
    });
    const seen = { entered: 0, before: 0, said: [] as string[] };
    const secret = Symbol("private");
    const agent = await nodeAgent(async (context) => {
      seen.entered++;
      return context.toolCall("book", { flight: "LH441" }, async (_args, tool) => {
        const live = { [secret]: "still here" };
        const socket = connect((echo.address() as AddressInfo).port, "127.0.0.1");
        sockets.push(socket);
        await once(socket, "connect");
        let counter = 0;
        counter++;
        seen.before++;
        const answer = await tool.input("Book LH441? (yes/no)");
        socket.write(`echo of ${answer}`);
        const [echoed] = await once(socket, "data");
        seen.said.push(live[secret] as string, String(counter), String(echoed));
        return answer;
      });
    });
    const client = agent.client();
    const asked = await client.say("Book LH441, please");
    expect(typesOf(asked)).toEqual(ASKED);
    const interrupt = soleInterrupt(asked);
    expect(interrupt).toMatchObject({ message: "Book LH441? (yes/no)", toolCallId: asked.events[1]?.toolCallId });
    expect(agent.handler.stats()).toMatchObject({ held: 1, running: 0 });

    const answered = await client.answer(interrupt, "yes");
    expect(answered.input.runId).not.toBe(asked.input.runId);
    expect(typesOf(answered)).toEqual(ANSWERED);
    expect(answered.events[1]).toMatchObject({ toolCallId: interrupt.toolCallId, content: "yes" });
    expect(answered.result).toBe("yes");
    expect(seen).toEqual({ entered: 1, before: 1, said: ["still here", "1", "echo of yes"] });
    expect(client.agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  it("two in turn", async () => {
    const heard: string[] = [];
    const agent = await nodeAgent(async (context) => {
      heard.push(await context.input("From where?"));
      await context.text(`From ${heard[0]}. `);
      heard.push(await context.input("Where to?"));
      await context.text(`To ${heard[1]}.`);
    });
    const client = agent.client();
    const first = await client.say("Book");
    const second = await client.answer(soleInterrupt(first), "Zürich");
    expect(second.text).toBe("From Zürich. ");
    const third = await client.answer(soleInterrupt(second), "Oslo ✈");
    expect([third.text, endOf(third)]).toEqual(["To Oslo ✈.", "success"]);
    expect(heard).toEqual(["Zürich", "Oslo ✈"]);
    expect(new Set([first, second, third].map(({ input }) => input.runId)).size).toBe(3);
  });

  it("three at once, answered in another order: each reaches its own tool", async () => {
    const { agent: parallel, answers, entered } = parallelAgent(["outbound", "inbound", "hotel"]);
    const agent = await nodeAgent(parallel);
    const client = agent.client();
    const asked = await client.say("All of it");
    expect(asked.interrupts).toHaveLength(3);
    const [outbound, inbound, hotel] = asked.interrupts as [Interrupt, Interrupt, Interrupt];
    const answered = await client
      .resume([answerTo(hotel, "h"), giveUp(outbound), answerTo(inbound, "i")])
      .catch(String);
    // An abandoned question rejects its own tool only, and here that ends the agent.
    expect(answered).toMatchObject({ outcome: { type: "cancelled" } });
    expect(answers).toEqual({ inbound: "i", hotel: "h" });

    const again = await client.say("Once more");
    const [a, b, c] = again.interrupts as [Interrupt, Interrupt, Interrupt];
    const run = await client.resume([answerTo(c, "3"), answerTo(a, "1"), answerTo(b, "2")]);
    expect(endOf(run)).toBe("success");
    expect(answers).toEqual({ outbound: "1", inbound: "2", hotel: "3" });
    expect(entered).toHaveLength(6);
  });

  it("the answer sent the instant its question is read is never refused, five hundred times", async () => {
    const asking = askingAgent();
    const agent = await nodeAgent({ agent: asking.agent, validate: false });
    const { url } = agent;
    for (let time = 0; time < 500; time++) {
      const open = await openExchange(fetch, {}, { url });
      const events = await open.read(ASKED.length);
      const { outcome } = events.at(-1) as unknown as { outcome: { interrupts: [Interrupt] } };
      const resume = [answerTo(outcome.interrupts[0], `${time}`)];
      const answered = await openExchange(fetch, { resume }, { url });
      expect((await answered.read(3)).map(({ type }) => type)).toEqual(ANSWERED);
      await Promise.all([open, answered].map(({ reader }) => reader.rest()));
    }
    expect(asking.answers).toEqual(Array.from({ length: 500 }, (_, time) => `${time}`));
  }, 240_000);
});

describe("over a socket, approvals", () => {
  const answers: [answer: unknown, approved: boolean][] = [
    [true, true],
    [false, false],
    ["yes", true],
    [" ALWAYS ", true],
    ["1", true],
    ["no", false],
    ["sure thing", false],
    [{ approved: true }, true],
    [{ approved: false }, false],
  ];
  it.each(answers)("%j", async (answer, approved) => {
    let charged = 0;
    const agent = await nodeAgent((context: AgentContext) =>
      context.toolCall("charge", { euros: 5 }, () => `charged ${++charged}`, { approval: true }),
    );
    const client = agent.client();
    const asked = await client.say("Pay");
    expect(soleInterrupt(asked)).toMatchObject({ reason: "tool_approval", toolCallId: asked.events[1]?.toolCallId });
    const run = await client.answer(soleInterrupt(asked), answer);
    expect(typesOf(run)).toEqual(ANSWERED);
    expect(run.events[1]?.content).toBe(approved ? "charged 1" : "User denied the tool call request");
    expect(charged).toBe(approved ? 1 : 0);
  });

  it("always covers later calls of the tool in the same turn", async () => {
    let charged = 0;
    const charge = (context: AgentContext) =>
      context.toolCall("charge", { euros: 5 }, () => ++charged, { approval: true });
    const agent = await nodeAgent(async (context) => {
      for (let time = 0; time < 3; time++) await charge(context);
    });
    const client = agent.client();
    const run = await client.answer(soleInterrupt(await client.say("Pay")), "always");
    expect([endOf(run), charged]).toEqual(["success", 3]);
    expect(endOf(await client.say("Pay again"))).toBe("interrupt");
  });

  it("edited arguments take the place of the asked ones, checked by the tool's own schema", async () => {
    const args = z.object({ euros: z.number().max(10) });
    const agent = await nodeAgent((context: AgentContext) =>
      context.toolCall("charge", { euros: 50 }, ({ euros }) => `charged ${euros}`, {
        approval: { allowEdits: true },
        argsSchema: args,
      }),
    );
    const client = agent.client();
    const interrupt = soleInterrupt(await client.say("Pay"));
    const refused = await client.answer(interrupt, { approved: true, editedArgs: { euros: 11 } });
    expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    const run = await client.answer(interrupt, { approved: true, editedArgs: { euros: 7 } });
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe("charged 7");
  });
});

describe("over a socket, without a human at the wire", () => {
  it("a hook answers in process: one exchange, and no interrupt", async () => {
    const asked: HumanInputRequest[] = [];
    const asking: Agent = async (context) => {
      const answer = await context.input("Book LH441?");
      return context.toolCall("charge", { euros: 5 }, () => `charged after ${answer}`, { approval: true });
    };
    const agent = await nodeAgent({
      agent: asking,
      humanInput(request) {
        asked.push(request);
        return request.kind === "input" ? "yes" : Promise.resolve({ approved: true });
      },
    });
    const run = await agent.client().say("Book");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(run.result).toBe("charged after yes");
    expect(asked).toMatchObject([
      { kind: "input", message: "Book LH441?", responseSchema: { type: "string" } },
      { kind: "approval", toolName: "charge", args: { euros: 5 } },
    ]);
    expect(await (await fetch(agent.url)).json()).toMatchObject({ humanInTheLoop: { interrupts: false } });
  });

  it("a turn that ends with a question is answered by the next message", async () => {
    const agent = await nodeAgent(async (context) =>
      context.userText === "LH441" ? "booked" : context.inputRequired("Which flight?"),
    );
    const client = agent.client();
    const asked = await client.say("Book");
    expect([asked.text, asked.result, endOf(asked)]).toEqual([
      "Which flight?",
      { status: "input-required", message: "Which flight?" },
      "success",
    ]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
    expect((await client.say("LH441")).result).toBe("booked");
  });

  it("GET tells what is served", async () => {
    const agent = await nodeAgent({
      agent: askingAgent().agent,
      capabilities: { identity: { name: "Booker" } } as never,
    });
    const response = await fetch(agent.url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await response.json()).toMatchObject({
      identity: { name: "Booker" },
      transport: { streaming: true },
      humanInTheLoop: { supported: true, interrupts: true, approvals: true },
    });
    const head = await fetch(agent.url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const preflight = await fetch(agent.url, { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
    expect((await fetch(agent.url, { method: "DELETE" })).status).toBe(405);
    expect(endOf(await exchange(fetch, {}, { url: agent.url }))).toBe("interrupt");
  });
});
