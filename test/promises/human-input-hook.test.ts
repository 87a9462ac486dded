import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentContext, HandlerOptions, HumanInputRequest } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { openExchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { endOf, typesOf } from "../support/runs.ts";

type Hook = NonNullable<HandlerOptions["humanInput"]>;
const codeOf = (error: { code?: string; message: string }) => error.code ?? error.message;

/** An agent under test whose one question goes to the hook; what it came to is the result. */
const hooked = (humanInput: Hook, ask: (context: AgentContext) => Promise<unknown>) =>
  agentUnderTest({ humanInput, agent: async (context) => [await ask(context).catch(codeOf)] });

describe("the humanInput hook", () => {
  it("answers in process: no interrupt, and the run finishes in one exchange", async () => {
    const requests: unknown[] = [];
    const agent = agentUnderTest({
      humanInput: async (request, context) => {
        requests.push(request, context.threadId);
        return request.kind === "input" ? "typed" : "yes";
      },
      agent: async (context) => {
        const typed = await context.input("Name?");
        const paid = await context.toolCall("pay", { eur: 5 }, ({ eur }) => `Paid ${eur}`, {
          approval: true,
          toolCallId: "call-1",
        });
        return [typed, paid];
      },
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect([run.result, run.outcome]).toEqual([["typed", "Paid 5"], { type: "success" }]);
    expect(requests).toEqual([
      { kind: "input", message: "Name?", responseSchema: { type: "string", title: "Answer" } },
      "thread-1",
      {
        kind: "approval",
        message: 'Approve pay({"eur":5})?',
        toolCallId: "call-1",
        toolName: "pay",
        args: { eur: 5 },
      },
      "thread-1",
    ]);
    expect(agent.handler.stats()).toMatchObject({ held: 0, finished: 1 });
  });

  it("may be synchronous, and works where nothing can be held", async () => {
    const agent = agentUnderTest({ hold: false, humanInput: () => "sync", agent: async (c) => c.input("A?") });
    expect((await agent.run("go")).result).toBe("sync");
  });

  it("is given the context that asks", async () => {
    const agent = hooked(
      (_request, context) => (context as AgentContext & { toolName?: string }).toolName ?? "the turn",
      async (context) => [
        await context.input("A?"),
        await context.toolCall("t", {}, (_args, tool) => tool.input("B?")),
      ],
    );
    expect((await agent.run("go")).result).toEqual([["the turn", "t"]]);
  });

  it.each<[string, (context: AgentContext) => Promise<unknown>, unknown]>([
    ["a string", (context) => context.input("A?"), 5],
    ["a JSON Schema", (context) => context.input("A?", { jsonSchema: { type: "integer" } }), "five"],
    ["a Standard Schema", (context) => context.input("A?", { schema: z.number() }), "five"],
    ["an approval", (context) => context.approve({ toolCallId: "c", toolName: "t", args: {} }), { approved: "maybe" }],
    [
      "an approval without edits",
      (context) => context.approve({ toolCallId: "c", toolName: "t", args: {} }),
      { approved: true, editedArgs: {} },
    ],
  ])("has its answer validated as one from the wire is: %s", async (_kind, ask, wrong) => {
    expect((await hooked(() => wrong, ask).run("go")).result).toEqual(["INTERRUPT_PAYLOAD_REFUSED"]);
  });

  it("has its answer transformed, and no consent made of what is none", async () => {
    const upper = z.string().transform((text) => text.toUpperCase());
    const jsonSchema = { type: "string" };
    const agent = hooked(
      () => "abc",
      (context) => context.input("A?", { schema: upper, jsonSchema }),
    );
    expect((await agent.run("go")).result).toEqual(["ABC"]);
    for (const no of [false, "no", "abc", { approved: false }]) {
      let ran = 0;
      const denied = hooked(
        () => no,
        (context) => context.toolCall("t", {}, () => ran++, { approval: true }),
      );
      expect((await denied.run("go")).result).toEqual(["User denied the tool call request"]);
      expect(ran).toBe(0);
    }
  });

  it("rejects the ask with what it throws", async () => {
    const ask = (context: AgentContext) => context.input("A?");
    const throwing = hooked(() => {
      throw new Error("thrown");
    }, ask);
    expect((await throwing.run("go")).result).toEqual(["thrown"]);
    expect((await hooked(() => Promise.reject(new Error("rejected")), ask).run("go")).result).toEqual(["rejected"]);
  });

  it("is bounded by timeoutMs, and a late answer changes nothing", async () => {
    const answer = defer<string>();
    const agent = hooked(
      () => answer.promise,
      (context) => context.input("A?", { timeoutMs: 1_000 }),
    );
    const running = agent.run("go");
    await agent.clock.advance(1_000);
    answer.resolve("late");
    expect((await running).result).toEqual(["INPUT_TIMEOUT"]);
  });

  it("is not bounded without it", async () => {
    const answer = defer<string>();
    const agent = hooked(
      () => answer.promise,
      (context) => context.input("A?"),
    );
    const running = agent.run("go");
    await agent.clock.advance(3_600_000);
    answer.resolve("after an hour");
    expect((await running).result).toEqual(["after an hour"]);
  });

  it.each(["stop", "close", "leave", "end"] as const)("is not waited for when the turn is over: %s", async (how) => {
    const answer = defer<string>();
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      humanInput: () => answer.promise,
      agent: async (context) => {
        const asked = context.input("A?").then(
          (value) => seen.push(value),
          (error) => seen.push(error.code),
        );
        if (how !== "end") await asked;
      },
    });
    const open = await openExchange(agent.handler.handle);
    await agent.clock.advance(0);
    if (how === "stop") await agent.handler.stop("thread-1");
    if (how === "close") await agent.handler.close();
    if (how === "leave") await open.leave();
    await agent.clock.advance(0);
    answer.resolve("late");
    await agent.clock.advance(0);
    expect(seen).toEqual(["TURN_RELEASED"]);
    expect(agent.handler.stats().running).toBe(0);
    if (how !== "leave") expect(endOf(await open.rest())).toBe(how === "end" ? "success" : "cancelled");
  });

  it("answers several questions at once, each by itself", async () => {
    const agent = hooked(
      (request: HumanInputRequest) => `to ${request.message}`,
      (context) => Promise.all(["A?", "B?", "C?"].map((message) => context.input(message))),
    );
    expect((await agent.run("go")).result).toEqual([["to A?", "to B?", "to C?"]]);
  });
});
