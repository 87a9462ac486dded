import { Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { paying } from "../support/paying.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";

/** As deep as its arguments are. */
const node: z.ZodType = z.object({ name: z.string(), inner: z.lazy(() => node.array()).optional() });

describe("edited arguments", () => {
  it("are refused where edits are not allowed, in a denial too", async () => {
    const { agent, ran } = paying();
    const interrupt = soleInterrupt(await agent.run("go"));
    for (const approved of [true, false]) {
      const refused = await agent.answer(interrupt, { approved, editedArgs: { eur: 1 } });
      expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    }
    expect(ran).toEqual([]);
  });

  it("take the place of the arguments whole, for whoever looks at them", async () => {
    const { agent, ran } = paying({ allowEdits: true }, { eur: 5, to: "shop" });
    const interrupt = soleInterrupt(await agent.run("go"));
    await agent.answer(interrupt, { approved: true, editedArgs: { eur: 1 } });
    expect(ran).toEqual([{ eur: 1 }, { eur: 1 }]);
  });

  it.each([null, [], "x", 5])("must be an object, not %j", async (editedArgs) => {
    const { agent, ran } = paying({ allowEdits: true });
    const interrupt = soleInterrupt(await agent.run("go"));
    const input = { protocolVersion: "1.0" };
    expect(endOf(await agent.answer(interrupt, { approved: true, editedArgs }, input))).toBe(
      "INTERRUPT_PAYLOAD_REFUSED",
    );
    expect(ran).toEqual([]);
  });

  it.each<["a Standard Schema" | "a JSON Schema"]>([["a Standard Schema"], ["a JSON Schema"]])(
    "are validated by the tool's own schema before anything runs: %s",
    async (kind) => {
      const ran: unknown[] = [];
      const argsSchema =
        kind === "a JSON Schema"
          ? { type: "object", properties: { eur: { type: "number", maximum: 10 } }, required: ["eur"] }
          : z.object({ eur: z.number().max(10) });
      const agent = agentUnderTest(async (context) =>
        context.toolCall("pay", { eur: 5 }, ({ eur }) => void ran.push(eur), {
          approval: { allowEdits: true },
          argsSchema: argsSchema as never,
        }),
      );
      const interrupt = soleInterrupt(await agent.run("go"));
      expect(interrupt.responseSchema).toMatchObject({
        anyOf: [
          {},
          {},
          { properties: { editedArgs: { properties: { eur: { maximum: 10 } } } }, required: ["approved"] },
        ],
      });
      for (const editedArgs of [{ eur: 11 }, {}, { eur: "1" }]) {
        const refused = await agent.answer(interrupt, { approved: true, editedArgs });
        expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
      }
      expect(ran).toEqual([]);
      await agent.answer(interrupt, { approved: true, editedArgs: { eur: 7 } });
      expect(ran).toEqual([7]);
    },
  );

  it.each<[string, object, object]>([
    [
      "a definition of its own",
      { type: "object", properties: { to: { $ref: "#/$defs/Address" } }, $defs: { Address: { type: "string" } } },
      { to: "b" },
    ],
    ["itself", node, { name: "a", inner: [{ name: "b" }] }],
  ])("fit what is shown of a schema that refers to %s", async (_what, argsSchema, editedArgs) => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("ship", { name: "a", to: "a" }, (args) => args, {
        approval: { allowEdits: true },
        argsSchema: argsSchema as never,
      }),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    const shown = new Validator(interrupt.responseSchema as object, "2020-12");
    const [right, wrong] = [editedArgs, { name: 5, to: 5 }].map((args) => ({ approved: true, editedArgs: args }));
    expect([shown.validate(right).valid, shown.validate(wrong).valid]).toEqual([true, false]);
    expect(endOf(await agent.answer(interrupt, wrong))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await agent.answer(interrupt, right)).result).toEqual(editedArgs);
  });

  it("of a schema that cannot be said as a JSON Schema are checked by it all the same", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("book", { on: new Date(0) }, ({ on }) => on, {
        approval: { allowEdits: true },
        argsSchema: z.object({ on: z.date() }),
      }),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(interrupt, { approved: true, editedArgs: { on: "today" } }))).toBe(
      "INTERRUPT_PAYLOAD_REFUSED",
    );
    expect((await agent.answer(interrupt, true)).result).toBe("1970-01-01T00:00:00.000Z");
  });

  it("arrive as the schema transforms them, and are not needed for a yes", async () => {
    const argsSchema = z.object({ eur: z.number().transform((eur) => eur * 100) });
    const decide = async (payload: unknown) => {
      const agent = agentUnderTest(async (context) =>
        context.approve({ toolCallId: "c", toolName: "pay", args: { eur: 5 }, argsSchema, allowEdits: true }),
      );
      return (await agent.answer(soleInterrupt(await agent.run("go")), payload)).result;
    };
    expect(await decide({ approved: true, editedArgs: { eur: 2 } })).toEqual({ approved: true, args: { eur: 200 } });
    expect(await decide(true)).toEqual({ approved: true, args: { eur: 5 } });
    expect(await decide({ approved: false, editedArgs: { eur: "not even looked at" } })).toEqual({ approved: false });
  });
});
