import { describe, expect, it } from "vitest";
import type { AgentContext, Approval, ApproveOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { paying } from "../support/paying.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";

describe("an approval", () => {
  it("is asked before the tool is entered, about the call that is shown", async () => {
    const { agent, ran } = paying();
    const asked = await agent.run("go");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    const interrupt = soleInterrupt(asked);
    expect(interrupt).toMatchObject({
      reason: "tool_approval",
      message: 'Approve pay({"eur":5})?',
      toolCallId: asked.events[1]?.toolCallId,
    });
    expect(interrupt.responseSchema).toEqual({
      title: "Approval",
      anyOf: [
        { type: "boolean" },
        { type: "string", examples: ["yes", "always", "no"] },
        { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
      ],
    });
    expect(ran).toEqual([]);
    const answered = await agent.answer(interrupt, true);
    expect(ran).toEqual([{ eur: 5 }, { eur: 5 }]);
    expect(typesOf(answered)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
    expect(answered.events[1]).toMatchObject({ toolCallId: interrupt.toolCallId, content: "Paid." });
  });

  it.each([
    true,
    "y",
    "yes",
    "YES",
    " Yes\n",
    "1",
    "always",
    "ALWAYS",
    { approved: true },
    { approved: true, more: 1 },
  ])("is given by %j", async (payload) => {
    const { agent, ran } = paying();
    const answered = await agent.answer(soleInterrupt(await agent.run("go")), payload);
    expect(ran).toHaveLength(2);
    expect(answered.result).toBe("Paid.");
  });

  it.each([false, "", "n", "no", "nope", "0", "true", "ok", "yes please", "ja", { approved: false }])(
    "is denied by %j: the configured words are the result, nothing runs and nothing fails (P75, P180)",
    async (payload) => {
      const { agent, ran } = paying();
      const answered = await agent.answer(soleInterrupt(await agent.run("go")), payload);
      expect(ran).toEqual([]);
      expect(answered.result).toBe("User denied the tool call request");
      expect(answered.events[1]).toMatchObject({
        type: "TOOL_CALL_RESULT",
        content: "User denied the tool call request",
      });
      expect(endOf(answered)).toBe("success");
    },
  );

  it.each([undefined, 1, 0, [], [true], {}, { approved: "yes" }, { approved: 1 }, { approve: true }])(
    "is neither given nor denied by %j (P75, P84, P180)",
    async (payload) => {
      const { agent, ran } = paying();
      const interrupt = soleInterrupt(await agent.run("go"));
      expect(endOf(await agent.answer(interrupt, payload))).toBe("INTERRUPT_PAYLOAD_REFUSED");
      expect(ran).toEqual([]);
      await agent.answer(interrupt, true);
      expect(ran).toHaveLength(2);
    },
  );

  it("is what a bare boolean answers, and no other question without a schema", async () => {
    const agent = agentUnderTest(async (context) => context.input("Sure?"));
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(interrupt, true))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await agent.answer(interrupt, "true")).result).toBe("true");
  });

  it("that is given up executes nothing (P75)", async () => {
    const { agent, ran } = paying();
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.abandon(interrupt, {}, {}))).toBe("cancelled");
    expect(ran).toEqual([]);
  });

  it("that is given up beside another that is given executes only the other", async () => {
    const ran: string[] = [];
    const agent = agentUnderTest(async (context) => {
      const pay = (name: string) => context.toolCall(name, {}, () => ran.push(name), { approval: true });
      return (await Promise.allSettled([pay("one"), pay("two")])).map(({ status }) => status);
    });
    const [one, two] = twoInterrupts(await agent.run("go"));
    const run = await agent.resume([{ ...giveUp(one), payload: true }, answerTo(two, true)]);
    expect(ran).toEqual(["two"]);
    expect(run.result).toEqual(["rejected", "fulfilled"]);
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toHaveLength(2);
  });
});

describe("how an approval is asked", () => {
  const messageOf = async (options: ApproveOptions) => soleInterrupt(await paying(options).agent.run("go")).message;

  it("is worded by the call", async () => {
    expect(await messageOf({ message: "Really pay?" })).toBe("Really pay?");
    expect(await messageOf({ message: ({ toolName, args }) => `${toolName} ${JSON.stringify(args)}` })).toBe(
      'pay {"eur":5}',
    );
  });

  it("fails the call when its wording throws, and nothing runs", async () => {
    const { agent, ran } = paying({
      message: () => {
        throw new Error("no words");
      },
    });
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(ran).toEqual([]);
  });

  it("takes what the call does not say from the handler's options, each by itself", async () => {
    const agent = agentUnderTest({
      approvals: { deniedMessage: "Denied by house rule", allowEdits: true },
      agent: async (context) => [
        await context.toolCall("a", {}, () => "ran", { approval: true }),
        await context.toolCall("b", {}, () => "ran", { approval: { deniedMessage: "Not b" } }),
        await context.toolCall("c", {}, () => "ran", { approval: { allowEdits: false } }),
      ],
    });
    const a = soleInterrupt(await agent.run("go"));
    expect(JSON.stringify(a.responseSchema)).toContain("editedArgs");
    const b = soleInterrupt(await agent.answer(a, false));
    expect(JSON.stringify(b.responseSchema)).toContain("editedArgs");
    const c = soleInterrupt(await agent.answer(b, false));
    expect(JSON.stringify(c.responseSchema)).not.toContain("editedArgs");
    expect((await agent.answer(c, false)).result).toEqual(["Denied by house rule", "Not b", "Denied by house rule"]);
  });

  it("may have a time of its own, after which nothing has run", async () => {
    const { agent, ran } = paying({ timeoutMs: 1_000 });
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt.expiresAt).toBe("2100-01-01T00:00:01.000Z");
    await agent.clock.advance(1_000);
    expect(endOf(await agent.answer(interrupt, true))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(ran).toEqual([]);
  });
});

describe("always", () => {
  const twice = (options: ApproveOptions = {}) =>
    agentUnderTest(async (context: AgentContext) => {
      const approve = (toolName: string, more: ApproveOptions = {}): Promise<Approval<object>> =>
        context.approve({ toolCallId: `call-${toolName}`, toolName, args: {}, ...options, ...more });
      const first = await approve("pay");
      const second = await approve("pay");
      const careful = await approve("pay", { allowAlways: false });
      const other = await approve("refund");
      return [first, second, careful, other].map(({ approved }) => approved);
    });

  it("also approves later calls of the same tool in the same turn, unless a call forbids it", async () => {
    const agent = twice();
    const careful = await agent.answer(soleInterrupt(await agent.run("go")), "always");
    const other = soleInterrupt(await agent.answer(soleInterrupt(careful), "yes"));
    expect(other.toolCallId).toBe("call-refund");
    expect((await agent.answer(other, false)).result).toEqual([true, true, true, false]);
    expect(soleInterrupt(await agent.run("a new turn")).toolCallId).toBe("call-pay");
  });

  it.each(["yes", true, { approved: true }])("is not meant by %j", async (payload) => {
    const agent = twice();
    const again = soleInterrupt(await agent.answer(soleInterrupt(await agent.run("go")), payload));
    expect(again.toolCallId).toBe("call-pay");
  });

  it("said of a call that does not allow it approves no later one that would", async () => {
    const agent = agentUnderTest(async (context) => {
      const call = { toolCallId: "c", toolName: "pay", args: {} };
      const careful = await context.approve({ ...call, allowAlways: false });
      return [careful.approved, (await context.approve(call)).approved];
    });
    const again = soleInterrupt(await agent.answer(soleInterrupt(await agent.run("go")), "always"));
    expect((await agent.answer(again, false)).result).toEqual([true, false]);
  });

  it("approves only the one call where it is not allowed, and is not among the words that are shown", async () => {
    const agent = twice({ allowAlways: false });
    const first = soleInterrupt(await agent.run("go"));
    expect(first.responseSchema).toMatchObject({ anyOf: [{}, { type: "string", examples: ["yes", "no"] }, {}] });
    const again = soleInterrupt(await agent.answer(first, "always"));
    expect(again.toolCallId).toBe("call-pay");
  });
});

describe("inside a tool", () => {
  it("approve knows the call's id, name and arguments", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall(
        "pay",
        { eur: 5 },
        async (_args, tool) => {
          const decision = await tool.approve({ message: ({ toolCallId, toolName }) => `${toolCallId} ${toolName}?` });
          return decision.approved ? decision.args : "no";
        },
        { toolCallId: "call-7" },
      ),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt).toMatchObject({ toolCallId: "call-7", message: "call-7 pay?" });
    expect((await agent.answer(interrupt, "yes")).result).toEqual({ eur: 5 });
  });

  it("approve may be about another call", async () => {
    const agent = agentUnderTest(async (context) =>
      context.toolCall("plan", {}, (_args, tool) =>
        tool.approve({ toolCallId: "call-8", toolName: "pay", args: { eur: 1 } }),
      ),
    );
    const interrupt = soleInterrupt(await agent.run("go"));
    expect(interrupt).toMatchObject({ toolCallId: "call-8", message: 'Approve pay({"eur":1})?' });
    expect((await agent.answer(interrupt, true)).result).toEqual({ approved: true, args: { eur: 1 } });
  });
});

describe("arguments that the agent changes while they are being approved", () => {
  it("are not what the human consented to: nothing runs", async () => {
    const ran: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const args = { path: "" };
      const calls = ["notes", "payroll"].map((path) => {
        args.path = path;
        return context.toolCall("remove", args, (given) => void ran.push(given.path), { approval: true });
      });
      return (await Promise.allSettled(calls)).map(({ status }) => status);
    });
    const [first, second] = twoInterrupts(await agent.run("go"));
    expect([first.message, second.message]).toEqual([
      'Approve remove({"path":"notes"})?',
      'Approve remove({"path":"payroll"})?',
    ]);
    const run = await agent.resume([answerTo(first, "always"), answerTo(second, false)]);
    expect(ran).toEqual([]);
    expect(run.result).toEqual(["rejected", "fulfilled"]);
    const results = run.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content);
    expect(results.sort()).toEqual(["The tool failed.", "User denied the tool call request"]);
  });

  it("are not what the human consented to either where they change while the question is worded", async () => {
    const ran: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const wording = (call: { args: unknown }) => {
        (call.args as { eur: number }).eur = 500;
        return "Pay?";
      };
      return context
        .toolCall("pay", { eur: 5 }, (args) => ran.push(args), { approval: { message: wording } })
        .catch((error) => error.message);
    });
    const run = await agent.answer(soleInterrupt(await agent.run("go")), true);
    expect(run.result).toMatch(/changed meanwhile/);
    expect(ran).toEqual([]);
  });

  it("do not matter where they were denied, or replaced by the human", async () => {
    const decide = async (payload: unknown) => {
      const agent = agentUnderTest(async (context) => {
        const args = { eur: 5 };
        const asked = context.approve({ toolCallId: "c", toolName: "pay", args, allowEdits: true });
        args.eur = 500;
        return asked;
      });
      return (await agent.answer(soleInterrupt(await agent.run("go")), payload)).result;
    };
    expect(await decide(false)).toEqual({ approved: false });
    expect(await decide({ approved: true, editedArgs: { eur: 4 } })).toEqual({ approved: true, args: { eur: 4 } });
  });

  it("reject the approval of a humanInput hook too", async () => {
    const agent = agentUnderTest({
      humanInput: () => true,
      agent: async (context) => {
        const args = { eur: 5 };
        const asked = context.approve({ toolCallId: "c", toolName: "pay", args });
        args.eur = 500;
        return asked.catch((error) => error.message);
      },
    });
    expect((await agent.run("go")).result).toBe(
      "The arguments of pay are not those that were approved: they were changed meanwhile.",
    );
  });
});
