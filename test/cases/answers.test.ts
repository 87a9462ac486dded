import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentContext } from "../../src/index.ts";
import type { TestAgent } from "../../src/testing/index.ts";
import { ANSWERED, ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange } from "../support/open-exchange.ts";
import { answerTo, endOf, giveUp, soleInterrupt, typesOf } from "../support/runs.ts";
import { schemaOf } from "../support/schemas.ts";

describe("B25 any JSON value is an answer where the schema allows it", () => {
  it.each(["false", "0", "-0", '""', "[]", "{}", '"0"', "1e308", '{"a":[null,-0]}'])("%s", async (json) => {
    const asking = askingAgent((tool) => tool.input("What?", { jsonSchema: {} }));
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Ask"));
    const answered = await exchange(
      agent.handler.fetch,
      { resume: [answerTo(interrupt, "@payload")] },
      { rewrite: (body) => body.replace('"@payload"', json) },
    );
    expect(typesOf(answered)).toEqual(ANSWERED);
    // `toStrictEqual` tells -0 from 0.
    expect(asking.answers).toStrictEqual([JSON.parse(json)]);
  });

  it("an absent payload is not null: without a schema both are refused, with one it decides", async () => {
    for (const [ask, nullEnds] of [
      [(tool: Pick<AgentContext, "input">) => tool.input("What?"), "INTERRUPT_PAYLOAD_REFUSED"],
      [(tool: Pick<AgentContext, "input">) => tool.input("What?", { schema: z.null() }), "success"],
    ] as const) {
      const agent = agentUnderTest(askingAgent(ask).agent);
      const interrupt = soleInterrupt(await agent.run("Ask"));
      expect(endOf(await agent.answer(interrupt, undefined))).toBe("INTERRUPT_PAYLOAD_REFUSED");
      const withNull = await exchange(
        agent.handler.fetch,
        { resume: [answerTo(interrupt, "@payload")] },
        // A version would make the null a malformed member.
        { rewrite: (body) => body.replace('"@payload"', "null").replace('"protocolVersion":"1.0",', "") },
      );
      expect(endOf(withNull)).toBe(nullEnds);
    }
  });
});

describe("B27 nothing but an answer goes past a question", () => {
  const ends: Record<string, (agent: TestAgent, run: Awaited<ReturnType<TestAgent["run"]>>) => Promise<unknown>> = {
    "given up": async (agent, run) => agent.abandon(soleInterrupt(run)),
    "its time is up": async (agent) => agent.clock.advance(900_000),
    evicted: async (agent) => agent.run({ threadId: "another" }),
    stopped: async ({ handler }, run) => handler.stop(run.input.threadId),
    "shut down": async (agent) => agent.close(),
    "its own time is up": async (agent) => agent.clock.advance(1_000),
  };

  it.each(Object.keys(ends))("%s: a tool that charges after asking does not charge", async (how) => {
    let charged = 0;
    const ways: Record<string, (context: AgentContext) => Promise<void>> = {
      async naive(context) {
        if (await context.input("Charge?", how === "its own time is up" ? { timeoutMs: 1_000 } : {})) charged++;
      },
      async "catches all and goes on"(context) {
        const answer = await context.input("Charge?").catch(() => undefined);
        if (answer) charged++;
      },
      async approves(context) {
        const approval = await context
          .approve({ toolCallId: "c", toolName: "charge", args: {} })
          .catch(() => undefined);
        if (approval?.approved) charged++;
      },
      async "approves a call"(context) {
        await context.toolCall("charge", {}, () => charged++, { approval: true }).catch(() => {});
      },
    };
    for (const way of Object.values(ways)) {
      const agent = agentUnderTest({ agent: way, retention: { maxHeld: 1 } });
      const run = await agent.run("Charge me");
      expect(run.interrupts).toHaveLength(1);
      await ends[how]?.(agent, run);
      await agent.clock.advance(1_000_000);
      expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0 });
      expect(
        endOf(await agent.answer(soleInterrupt(run), true).catch((error) => ({ error, outcome: undefined }))),
      ).toMatch(/^(INTERRUPT_NOT_HELD|SERVER_CLOSING)/);
    }
    expect(charged).toBe(0);
  });
});

describe("B28 giving a question up", () => {
  const gaveUp = { code: "INTERRUPT_CANCELLED", name: "InterruptCancelledError" };

  it("needs the proof, is told apart from expiry and from an answer, and frees the thread", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    expect(endOf(await agent.abandon({ id: interrupt.id }))).toBe("INTERRUPT_NOT_PROVEN");
    expect(agent.handler.stats().held).toBe(1);
    const abandoned = await agent.abandon(interrupt);
    expect(typesOf(abandoned)).toEqual(ANSWERED);
    expect(abandoned.outcome).toEqual({ type: "cancelled" });
    expect(asking).toMatchObject({ after: 0, answers: [], rejections: [gaveUp] });
    expect(typesOf(await agent.run("Another"))).toEqual(ASKED);

    await agent.clock.advance(900_000);
    expect(asking.rejections).toMatchObject([gaveUp, { code: "INPUT_TIMEOUT", name: "InputTimeoutError" }]);
  });

  it("a payload beside it is no answer, and no schema looks at it", async () => {
    let looked = 0;
    const schema = schemaOf((value) => {
      looked++;
      return { value };
    });
    const asking = askingAgent((tool) => tool.input("Book LH441?", { schema }));
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const abandoned = await agent.resume([{ ...giveUp(interrupt), payload: { approved: true } }]);
    expect(abandoned.outcome).toEqual({ type: "cancelled" });
    expect(looked).toBe(0);
    expect(asking).toMatchObject({ answers: [], rejections: [gaveUp] });
  });
});

describe("B30 what a client is shown of what was asked for", () => {
  const object = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] };
  const asks: Record<string, [ask: (context: AgentContext) => Promise<unknown>, shown: unknown, payload: unknown]> = {
    "no schema": [(context) => context.input("?"), { type: "string", title: "Answer" }, "x"],
    "a JSON Schema": [(context) => context.input("?", { jsonSchema: object }), object, { seats: 2 }],
    "an empty JSON Schema": [(context) => context.input("?", { jsonSchema: {} }), {}, { anything: 1 }],
    zod: [
      (context) => context.input("?", { schema: z.object({ seats: z.int().default(1) }) }),
      expect.objectContaining({ type: "object", properties: { seats: expect.objectContaining({ default: 1 }) } }),
      {},
    ],
    "a Standard Schema that describes itself": [
      (context) => context.input("?", { schema: schemaOf((value) => ({ value }), object) }),
      object,
      { seats: 2 },
    ],
    "a Standard Schema with a JSON Schema beside it": [
      (context) =>
        context.input("?", {
          schema: { "~standard": { version: 1, vendor: "v", validate: (value) => ({ value }) } },
          jsonSchema: object,
        }),
      object,
      { seats: 2 },
    ],
  };

  it.each(Object.keys(asks))("%s: plain JSON Schema, and an answer that fits it is taken", async (kind) => {
    const [ask, shown, payload] = asks[kind] as (typeof asks)[string];
    const agent = agentUnderTest(ask);
    const run = await agent.run("Ask");
    const { responseSchema } = soleInterrupt(run);
    expect(responseSchema).toEqual(shown);
    expect(run.raw).not.toMatch(/~standard|vendor|__absolute_ref__|_zod/);
    expect(endOf(await agent.answer(soleInterrupt(run), payload))).toBe("success");
  });

  it("one that the validator has marked while it read is shown as it was given", async () => {
    const jsonSchema = {
      ...object,
      $defs: { seat: { type: "integer" } },
      properties: { seats: { $ref: "#/$defs/seat" } },
    };
    const agent = agentUnderTest(async (context) => {
      await context.input("First?", { jsonSchema });
      await context.input("Second?", { jsonSchema });
    });
    const first = soleInterrupt(await agent.run("Ask"));
    const second = soleInterrupt(await agent.answer(first, { seats: 2 }));
    expect([first.responseSchema, second.responseSchema]).toEqual([jsonSchema, jsonSchema]);
  });

  const unusable: Record<string, (context: AgentContext) => Promise<unknown>> = {
    "a Standard Schema that nothing describes": (context) =>
      context.input("?", { schema: { "~standard": { version: 1, vendor: "v", validate: (value) => ({ value }) } } }),
    "no schema at all": (context) => context.input("?", { schema: { parse: () => 1 } as never }),
    "one whose description throws": (context) =>
      context.input("?", {
        schema: {
          "~standard": {
            version: 1,
            vendor: "v",
            validate: (value) => ({ value }),
            jsonSchema: {
              input() {
                throw new Error("not representable");
              },
            },
          },
        },
      }),
    "zod that JSON cannot say": (context) => context.input("?", { schema: z.bigint() }),
    "a JSON Schema that is true": (context) => context.input("?", { jsonSchema: true as never }),
    "a JSON Schema whose reference leads nowhere": (context) =>
      context.input("?", { jsonSchema: { $ref: "#/$defs/none" } }),
  };

  it.each(Object.keys(unusable))("%s fails the agent as it asks, and nothing is asked", async (kind) => {
    const agent = agentUnderTest(unusable[kind] as (context: AgentContext) => Promise<unknown>);
    const run = await agent.run("Ask");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(endOf(run)).toBe("AGENT_FAILED");
    expect(agent.errors).toHaveLength(1);
    expect(agent.handler.stats().held).toBe(0);
  });

  it("one that throws as it checks has accepted nothing: the question stays open", async () => {
    let broken = true;
    const schema = schemaOf((value) => {
      if (broken) throw new Error("The validator is broken.");
      return { value };
    });
    const asking = askingAgent((tool) => tool.input("?", { schema }));
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Ask"));
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(agent.errors.map(({ error }) => String(error))).toEqual(["Error: The validator is broken."]);
    broken = false;
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});
