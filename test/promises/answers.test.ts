import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentContext, JsonSchema } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";
import { schemaOf } from "../support/schemas.ts";

/** An agent that returns what its one question resolved to, in a list, so that nothing is lost. */
const asking = (ask: (context: AgentContext) => Promise<unknown>) => {
  const seen: unknown[] = [];
  const agent = agentUnderTest(async (context) => {
    seen.push(await ask(context));
    return "done";
  });
  return { agent, seen };
};

describe("an answer without a schema", () => {
  it.each(["", " ", "yes", "\ud83d\ude00", "null", "__proto__"])("is the string %j", async (payload) => {
    const { agent, seen } = asking((context) => context.input("Text?"));
    expect((await agent.answer(soleInterrupt(await agent.run("go")), payload)).result).toBe("done");
    expect(seen).toEqual([payload]);
  });

  it.each([undefined, true, false, 0, 1, {}, [], ["yes"], { answer: "yes" }])(
    "is refused when it is %j, and a right one still works (P84)",
    async (payload) => {
      const { agent, seen } = asking((context) => context.input("Text?"));
      const interrupt = soleInterrupt(await agent.run("go"));
      expect(endOf(await agent.answer(interrupt, payload))).toBe("INTERRUPT_PAYLOAD_REFUSED");
      expect(seen).toEqual([]);
      await agent.answer(interrupt, "yes");
      expect(seen).toEqual(["yes"]);
    },
  );

  it("is refused when it is null, which only an input without a version can say", async () => {
    const { agent, seen } = asking((context) => context.input("Text?"));
    const interrupt = soleInterrupt(await agent.run("go"));
    const old = { protocolVersion: undefined as never };
    expect(endOf(await agent.answer(interrupt, null, old))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    await expect(agent.answer(interrupt, null)).rejects.toMatchObject({ code: "INVALID_INPUT", status: 400 });
    await agent.answer(interrupt, "yes");
    expect(seen).toEqual(["yes"]);
  });
});

describe("an answer with a Standard Schema", () => {
  it("is validated once, and what the schema makes of it is delivered", async () => {
    let validated = 0;
    const schema = schemaOf((value) => {
      validated++;
      return { value: { was: value } };
    });
    const { agent, seen } = asking((context) => context.input("Any?", { schema }));
    await agent.answer(soleInterrupt(await agent.run("go")), "raw");
    expect(seen).toEqual([{ was: "raw" }]);
    expect(validated).toBe(1);
  });

  it("is waited for where the schema's promise is not one of this realm", async () => {
    const schema = schemaOf((value) => {
      const { resolve } = runInNewContext("({ resolve: (value) => Promise.resolve(value) })");
      return resolve(value === "good" ? { value } : { issues: [{ message: "no good" }] });
    });
    const { agent, seen } = asking((context) => context.input("Any?", { schema }));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(interrupt, "bad"))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(seen).toEqual([]);
    await agent.answer(interrupt, "good");
    expect(seen).toEqual(["good"]);
  });

  it("has zod's type and transformations", async () => {
    const schema = z.object({ date: z.iso.date(), seats: z.number().int().default(1) });
    const agent = agentUnderTest(async (context) => {
      const { date, seats } = await context.input("When?", { schema });
      return `${date.slice(0, 4)} ${seats + 1}`;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.responseSchema).toMatchObject({ type: "object", required: ["date"] });
    expect(endOf(await agent.answer(interrupt, { date: "soon" }))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await agent.answer(interrupt, { date: "2100-02-03" })).result).toBe("2100 2");
  });

  it.each([false, 0, -0, "", [], {}, "0", 1e308, null])("may be the falsy or odd value %j", async (value) => {
    const { agent, seen } = asking((context) => context.input("Any?", { schema: schemaOf(() => ({ value })) }));
    await agent.answer(soleInterrupt(await agent.run("go")), "whatever");
    expect(seen).toEqual([value]);
  });

  it("may be no payload at all, where the schema takes that", async () => {
    const { agent, seen } = asking((context) =>
      context.input("Any?", { schema: schemaOf((value) => ({ value: value === undefined ? "absent" : value })) }),
    );
    await agent.answer(soleInterrupt(await agent.run("go")), undefined);
    expect(seen).toEqual(["absent"]);
  });

  it("is refused with the schema's own words", async () => {
    const { agent } = asking((context) =>
      context.input("Age?", { schema: z.object({ age: z.number().min(18, "adults only") }) }),
    );
    const refused = await agent.answer(soleInterrupt(await agent.run("go")), { age: 3 });
    expect(refused.error?.message).toContain("age: adults only");
  });

  it("is refused when the schema throws or rejects: it has accepted nothing; the cause goes to onError", async () => {
    const failure = new Error("the schema is broken");
    for (const validate of [
      () => {
        throw failure;
      },
      async () => {
        throw failure;
      },
    ]) {
      const { agent, seen } = asking((context) => context.input("Any?", { schema: schemaOf(validate) }));
      const interrupt = soleInterrupt(await agent.run("go"));
      const refused = await agent.answer(interrupt, "yes");
      expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
      expect(refused.raw).not.toContain("broken");
      expect(refused.error?.message).toContain("(it could not be checked)");
      expect(agent.errors).toEqual([{ error: failure, threadId: "thread-1", runId: "run-2" }]);
      expect(seen).toEqual([]);
      expect(agent.handler.stats().held).toBe(1);
    }
  });

  it("says what is wrong in its own words: three issues at most, each at its place, however that is written", async () => {
    const given: { message: string; path?: (PropertyKey | { key: PropertyKey })[] }[][] = [
      [
        { message: "too short", path: ["seat", { key: "row" }] },
        { message: "unknown", path: [] },
        { message: "no number", path: [{ key: 0 }] },
        { message: "never said" },
      ],
      [],
    ];
    const { agent, seen } = asking((context) =>
      context.input("Any?", { schema: schemaOf(() => ({ issues: given.shift() ?? [] })) }),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    const worded = async () => String((await agent.answer(interrupt, "x")).events.at(-1)?.message);
    expect(await worded()).toContain("(seat.row: too short; unknown; 0: no number)");
    expect(await worded()).toContain("(it does not match the schema)");
    expect(seen).toEqual([]);
  });

  it("is shown by the JSON Schema beside it, where there is one, but validated by itself", async () => {
    const jsonSchema = { type: "string", title: "Shown" };
    const { agent, seen } = asking((context) => context.input("N?", { schema: z.number(), jsonSchema }));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.responseSchema).toEqual(jsonSchema);
    expect(endOf(await agent.answer(interrupt, "five"))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    await agent.answer(interrupt, 5);
    expect(seen).toEqual([5]);
  });

  it("cannot be asked for when there is nothing to show to the client", async () => {
    const mute = { "~standard": { version: 1 as const, vendor: "mute", validate: () => ({ value: 1 }) } };
    let thrown: unknown;
    const agent = agentUnderTest(async (context) => {
      await context.input("Any?", { schema: mute }).catch((error) => {
        thrown = error;
      });
      return context.input("Any?", { schema: mute, jsonSchema: { title: "Given" } });
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(thrown).toBeInstanceOf(TypeError);
    expect((thrown as Error).message).toMatch(/mute schema .*jsonSchema/);
    expect(interrupt.responseSchema).toEqual({ title: "Given" });
    expect((await agent.answer(interrupt, "x")).result).toBe(1);
  });

  it.each([z.date(), z.bigint(), z.object({ when: z.date() })])(
    "that cannot say its JSON Schema rejects the ask with words of what to do (%#)",
    async (schema) => {
      let thrown: unknown;
      const agent = agentUnderTest(async (context) => {
        await context.input("When?", { schema }).catch((error) => {
          thrown = error;
        });
      });
      expect(endOf(await agent.run("go"))).toBe("success");
      expect(thrown).toBeInstanceOf(TypeError);
      expect((thrown as Error).message).toMatch(/cannot be said as a JSON Schema.*Pass `jsonSchema`/);
    },
  );

  it("cannot be asked for by what is no Standard Schema", async () => {
    const { agent } = asking((context) => context.input("Any?", { schema: { type: "string" } as never }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors[0]?.error).toBeInstanceOf(TypeError);
  });
});

describe("an answer with a JSON Schema alone", () => {
  it.each<[string, JsonSchema, unknown, unknown]>([
    ["integer", { type: "integer", minimum: 1 }, 0, 3],
    ["enum", { enum: ["window", "aisle"] }, "floor", "aisle"],
    ["object", { type: "object", required: ["a"], additionalProperties: false }, { b: 1 }, undefined],
    ["boolean", { type: "boolean" }, "false", false],
    ["empty string", { type: "string", maxLength: 0 }, "x", ""],
    ["array", { type: "array", items: { type: "number" } }, ["x"], []],
    ["reference", { $defs: { n: { const: 7 } }, $ref: "#/$defs/n" }, 8, 7],
    ["draft 7", { $schema: "http://json-schema.org/draft-07/schema#", items: [{ const: 1 }], type: "array" }, [2], [1]],
  ])("is validated by it: %s", async (_name, jsonSchema, wrong, right) => {
    const { agent, seen } = asking((context) => context.input("Value?", { jsonSchema }));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.responseSchema).toEqual(jsonSchema);
    expect(endOf(await agent.answer(interrupt, wrong))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(endOf(await agent.answer(interrupt, undefined))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    // Refused for what it is, not because the check broke on it.
    expect(agent.errors).toEqual([]);
    if (right === undefined) return;
    await agent.answer(interrupt, right);
    expect(seen).toEqual([right]);
  });

  it("may be null, said by an input without a version", async () => {
    const { agent, seen } = asking((context) => context.input("Null?", { jsonSchema: { type: "null" } }));
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.answer(interrupt, null, { protocolVersion: undefined as never });
    expect(seen).toEqual([null]);
  });

  it("is shown a copy, so that what the agent or the validator does to its schema stays here", async () => {
    const jsonSchema = { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } };
    const shown = JSON.parse(JSON.stringify(jsonSchema));
    const { agent, seen } = asking((context) => context.input("Value?", { jsonSchema }));
    const interrupt = soleInterrupt(await agent.run("go"));
    Object.assign(jsonSchema, { type: "string" });
    expect(interrupt.responseSchema).toEqual(shown);
    await agent.answer(interrupt, { a: "x" });
    expect(seen).toEqual([{ a: "x" }]);
  });

  it.each<[string, unknown]>([
    ["true", true],
    ["a list", []],
    ["a reference to nothing", { $ref: "#/$defs/none" }],
    ["a pattern that is none", { type: "string", pattern: "(" }],
    ["of a type that there is none of", { type: "strin" }],
    ["of such a type in a part of it", { type: "object", properties: { a: { type: ["string", "nil"] } } }],
    ["a Standard Schema", z.object({ approved: z.boolean() })],
  ])("cannot be asked for when the schema is %s", async (_name, jsonSchema) => {
    const { agent } = asking((context) => context.input("Value?", { jsonSchema: jsonSchema as never }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors.map(({ error }) => error)).toEqual([expect.any(TypeError)]);
  });

  it.each<[string, object, unknown]>([
    ["members called as keywords are", { properties: { type: { type: "string" }, pattern: { type: "string" } } }, {}],
    ["values that look like schemas", { const: { type: "strin" }, examples: [{ type: "strin" }] }, { type: "strin" }],
    ["keywords of somebody's own", { "x-form": { type: "wizard" }, type: "object" }, {}],
    ["dependencies", { $schema: "http://json-schema.org/draft-07/schema#", dependencies: { type: ["a"] } }, { a: 1 }],
  ])("may have %s", async (_what, jsonSchema, right) => {
    const { agent, seen } = asking((context) => context.input("Value?", { jsonSchema: jsonSchema as never }));
    await agent.answer(soleInterrupt(await agent.run("go")), right);
    expect(seen).toEqual([right]);
  });

  it("cannot be asked for when the schema is longer than there is room for", async () => {
    const jsonSchema = { type: "string", description: "x".repeat(1024 * 1024) };
    const { agent } = asking((context) => context.input("Value?", { jsonSchema }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors.map(({ error }) => error)).toEqual([expect.any(RangeError)]);
  });
});

describe("only an accepted answer", () => {
  it("resolves an ask: a refused one leaves it pending, an absent or partial one too", async () => {
    const { agent, seen } = asking((context) =>
      context.input("Both?", {
        jsonSchema: { type: "object", required: ["a", "b"], properties: { a: { type: "string" } } },
      }),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    for (const payload of [undefined, "x", {}, { a: "x" }, { a: 1, b: 2 }]) {
      await agent.resume([answerTo(interrupt, payload)]);
    }
    await agent.run("a plain run");
    expect(seen).toEqual([]);
    await agent.answer(interrupt, { a: "x", b: "y" });
    expect(seen).toEqual([{ a: "x", b: "y" }]);
  });
});

describe("a validator's words that are made of the answer", () => {
  it("are left out when they are long, however large the answer is", async () => {
    const schema = z.strictObject({ seat: z.string() });
    const agent = agentUnderTest(async (context) => context.input("Seat?", { schema }));
    const interrupt = soleInterrupt(await agent.run("go"));
    const refused = async (extra: object) =>
      (await agent.answer(interrupt, { seat: "12A", ...extra })).error?.message ?? "";
    expect(await refused({ row: 12 })).toContain('"row"');
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, "k"]));
    expect(await refused(many)).toContain("(it does not match the schema)");
    expect((await agent.answer(interrupt, { seat: "12A" })).result).toEqual({ seat: "12A" });
  });
});
