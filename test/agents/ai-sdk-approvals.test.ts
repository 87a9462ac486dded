import { jsonSchema, type Tool, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiAgent, approval } from "../../src/agents/ai-sdk.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";
import { call, calls, resultsIn, says, scripted } from "./models.ts";

const mail = z.object({ to: z.string(), text: z.string().default("hello") });

/** A tool that remembers what it did. */
function mailer(options: Partial<Tool> = {}): { sendEmail: Tool; sent: unknown[] } {
  const sent: unknown[] = [];
  const execute = (args: unknown) => {
    sent.push(args);
    return "Sent.";
  };
  return { sent, sendEmail: { description: "Send an email.", inputSchema: mail, execute, ...options } as Tool };
}

const oneCall = () => scripted(calls(call("a", "send_email", { to: "ada", text: "hi" })), says("ok"));

describe("a call that waits for approval", () => {
  it("is shown, names itself and its arguments, and runs once approved", async () => {
    const { sendEmail, sent } = mailer();
    const model = oneCall();
    const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail) } }));
    const asked = await agent.run("go");
    const question = soleInterrupt(asked);
    expect(question).toMatchObject({
      reason: "tool_approval",
      toolCallId: "a",
      message: 'Approve send_email({"to":"ada","text":"hi"})?',
      responseSchema: { title: "Approval" },
    });
    expect(sent).toEqual([]);
    const run = await agent.answer(question, true);
    expect(typesOf(run).slice(0, 2)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT"]);
    expect(sent).toEqual([{ to: "ada", text: "hi" }]);
    expect(resultsIn(model.prompts[1])).toEqual([["a", { type: "text", value: "Sent." }]]);
  });

  it("is worded by the tool", async () => {
    const { sendEmail } = mailer();
    const message = ({ toolName, args }: { toolName: string; args: unknown }) =>
      `${toolName} to ${(args as { to: string }).to}?`;
    const agent = agentUnderTest(
      aiAgent({ model: oneCall(), tools: { send_email: approval(sendEmail, { message }) } }),
    );
    expect(soleInterrupt(await agent.run("go")).message).toBe("send_email to ada?");
  });

  it.each([
    ["by false", false],
    ["by a word", "no"],
    ["by anything that is no clear yes", { approved: false }],
  ])("does not run when denied %s: the model reads the configured words and goes on", async (_what, payload) => {
    for (const options of [{}, { deniedMessage: "Not this one." }]) {
      const { sendEmail, sent } = mailer({ toModelOutput: ({ output }) => output.nothing.of.this.kind });
      const model = oneCall();
      const agent = agentUnderTest({
        agent: aiAgent({ model, tools: { send_email: approval(sendEmail, options) } }),
        approvals: { deniedMessage: "The traveller said no." },
      });
      const run = await agent.answer(soleInterrupt(await agent.run("go")), payload);
      const told = options.deniedMessage ?? "The traveller said no.";
      expect(sent).toEqual([]);
      expect(run.events[1]).toMatchObject({ type: "TOOL_CALL_RESULT", content: told });
      expect(run.text).toBe("ok");
      expect(resultsIn(model.prompts[1])).toEqual([["a", { type: "text", value: told }]]);
    }
  });

  it("does not run when abandoned, and no model is called", async () => {
    const { sendEmail, sent } = mailer();
    const model = oneCall();
    const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail) } }));
    const run = await agent.abandon(soleInterrupt(await agent.run("go")));
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(sent).toEqual([]);
    expect(model.prompts).toHaveLength(1);
  });

  it("does not run when its own time is over", async () => {
    const { sendEmail, sent } = mailer();
    const model = oneCall();
    const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail, { timeoutMs: 500 }) } }));
    const question = soleInterrupt(await agent.run("go"));
    expect(Date.parse(question.expiresAt as string) - agent.clock.now()).toBe(500);
    await agent.clock.advance(500);
    expect(sent).toEqual([]);
    expect(endOf(await agent.answer(question, true))).toBe("INTERRUPT_NOT_HELD (expired)");
    expect(model.prompts).toHaveLength(1);
  });

  it('is not asked about again in this turn after "always", where that is allowed', async () => {
    for (const allowAlways of [true, false]) {
      const { sendEmail, sent } = mailer();
      const model = scripted(
        calls(call("a", "send_email", { to: "ada" })),
        calls(call("b", "send_email", { to: "bob" })),
        says("ok"),
      );
      const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail, { allowAlways }) } }));
      const run = await agent.answer(soleInterrupt(await agent.run("go")), "always");
      expect(run.outcome?.type).toBe(allowAlways ? "success" : "interrupt");
      expect(sent).toHaveLength(allowAlways ? 2 : 1);
    }
  });

  it("is one outcome with its siblings, and a mixed answer runs what was approved", async () => {
    const { sendEmail, sent } = mailer();
    const model = scripted(
      calls(call("a", "send_email", { to: "ada" }), call("b", "send_email", { to: "bob" }), call("c", "free", {})),
      says("ok"),
    );
    const free = tool({ inputSchema: z.object({}), execute: () => "ran" });
    const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail), free } }));
    const asked = await agent.run("go");
    const [first, second] = twoInterrupts(asked);
    expect(asked.events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ toolCallId }) => toolCallId)).toEqual([
      "c",
    ]);
    await agent.resume([answerTo(first, false), answerTo(second, true)]);
    expect(sent).toEqual([{ to: "bob", text: "hello" }]);
    expect(resultsIn(model.prompts[1])).toEqual([
      ["a", { type: "text", value: "User denied the tool call request" }],
      ["b", { type: "text", value: "Sent." }],
      ["c", { type: "text", value: "ran" }],
    ]);
  });
});

describe("edited arguments", () => {
  it("replace the call's whole, as the tool's schema has them, for the tool and for the model", async () => {
    const { sendEmail, sent } = mailer();
    const model = oneCall();
    const agent = agentUnderTest(aiAgent({ model, tools: { send_email: approval(sendEmail, { allowEdits: true }) } }));
    const question = soleInterrupt(await agent.run("go"));
    expect(JSON.stringify(question.responseSchema)).toContain('"editedArgs":{');
    const run = await agent.answer(question, { approved: true, editedArgs: { to: "bob" } });
    expect(sent).toEqual([{ to: "bob", text: "hello" }]);
    // The model would otherwise report what it asked for, and not what was done.
    expect(model.prompts[1]?.[1]).toMatchObject({
      role: "assistant",
      content: [{ type: "tool-call", input: { to: "bob", text: "hello" } }],
    });
    expect(run.events[1]?.metadata).toEqual({ holdline: { editedArgs: { to: "bob", text: "hello" } } });
  });

  it.each([
    ["a schema of zod", mail],
    ["a JSON Schema", jsonSchema({ type: "object", properties: { to: { type: "string" } }, required: ["to"] })],
    [
      "a schema that validates in its own words",
      jsonSchema<{ to: string }>(
        { type: "object" },
        {
          validate: (value) =>
            typeof (value as { to?: unknown }).to === "string"
              ? { success: true, value: value as { to: string } }
              : { success: false, error: new Error("to is missing") },
        },
      ),
    ],
  ])("are refused before anything runs when they do not fit %s", async (_what, inputSchema) => {
    const { sendEmail, sent } = mailer({ inputSchema: inputSchema as Tool["inputSchema"] });
    const agent = agentUnderTest(
      aiAgent({ model: oneCall(), tools: { send_email: approval(sendEmail, { allowEdits: true }) } }),
    );
    const question = soleInterrupt(await agent.run("go"));
    const refused = await agent.answer(question, { approved: true, editedArgs: { to: 7 } });
    expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(sent).toEqual([]);
    await agent.answer(question, { approved: true, editedArgs: { to: "eve" } });
    expect(sent).toMatchObject([{ to: "eve" }]);
  });

  it("are refused where the tool does not allow them", async () => {
    const { sendEmail, sent } = mailer();
    const agent = agentUnderTest(aiAgent({ model: oneCall(), tools: { send_email: approval(sendEmail) } }));
    const question = soleInterrupt(await agent.run("go"));
    expect(endOf(await agent.answer(question, { approved: true, editedArgs: { to: "eve" } }))).toBe(
      "INTERRUPT_PAYLOAD_REFUSED",
    );
    expect(sent).toEqual([]);
  });

  it("are still the call's in a later run, by what the client kept with the result", async () => {
    const model = scripted(says("hm"));
    const agent = agentUnderTest(aiAgent({ model }));
    await agent.run({
      messages: [
        { id: "1", role: "user", content: "mail ada" },
        {
          id: "2",
          role: "assistant",
          toolCalls: [{ id: "a", type: "function", function: { name: "send_email", arguments: '{"to":"ada"}' } }],
        },
        {
          id: "3",
          role: "tool",
          toolCallId: "a",
          content: "Sent.",
          metadata: { holdline: { editedArgs: { to: "bob" } } },
        },
        { id: "4", role: "user", content: "to whom?" },
      ],
    });
    expect(model.prompts[0]?.[1]?.content).toMatchObject([{ type: "tool-call", input: { to: "bob" } }]);
  });
});

describe("the AI SDK's own needsApproval", () => {
  it.each([
    ["true", true, 1],
    ["false", false, 0],
    ["a function that says yes", () => true, 1],
    ["a function that says no", async () => false, 0],
    ["a function that looks at the arguments", ({ to }: { to: string }) => to === "ada", 1],
  ])("is honoured the same way: %s", async (_what, needsApproval, asks) => {
    const { sendEmail, sent } = mailer({ needsApproval } as Partial<Tool>);
    const agent = agentUnderTest(aiAgent({ model: oneCall(), tools: { send_email: sendEmail } }));
    const run = await agent.run("go");
    expect(run.interrupts).toHaveLength(asks);
    expect(sent).toHaveLength(1 - asks);
    const [question] = run.interrupts;
    if (question === undefined) return;
    expect(question.reason).toBe("tool_approval");
    await agent.answer(question, false);
    expect(sent).toHaveLength(0);
  });

  it("does not lift an approval that the application put on the tool", async () => {
    const { sendEmail, sent } = mailer({ needsApproval: false });
    const agent = agentUnderTest(aiAgent({ model: oneCall(), tools: { send_email: approval(sendEmail) } }));
    soleInterrupt(await agent.run("go"));
    expect(sent).toEqual([]);
  });

  it("fails the run when it throws, and nothing ran", async () => {
    const failure = new Error("the policy server is down");
    const { sendEmail, sent } = mailer({
      needsApproval: () => {
        throw failure;
      },
    });
    const agent = agentUnderTest(aiAgent({ model: oneCall(), tools: { send_email: sendEmail } }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors.map(({ error }) => error)).toEqual([failure]);
    expect(sent).toEqual([]);
  });
});

describe("where nobody can be asked", () => {
  it("nothing runs, the model is told, and the application too", async () => {
    const { sendEmail, sent } = mailer();
    const model = oneCall();
    const agent = agentUnderTest({
      agent: aiAgent({ model, tools: { send_email: approval(sendEmail) } }),
      hold: false,
    });
    const run = await agent.run("go");
    expect(run.text).toBe("ok");
    expect(sent).toEqual([]);
    expect(resultsIn(model.prompts[1])).toEqual([["a", { type: "error-text", value: "The tool failed." }]]);
    expect(agent.errors).toMatchObject([{ error: { code: "HOLD_UNAVAILABLE" } }]);
  });

  it("a hook decides in process", async () => {
    const { sendEmail, sent } = mailer();
    const asked: unknown[] = [];
    const agent = agentUnderTest({
      agent: aiAgent({ model: oneCall(), tools: { send_email: approval(sendEmail) } }),
      humanInput: (request) => {
        asked.push(request);
        return true;
      },
    });
    expect((await agent.run("go")).text).toBe("ok");
    expect(sent).toHaveLength(1);
    expect(asked).toMatchObject([{ kind: "approval", toolCallId: "a", toolName: "send_email", args: { to: "ada" } }]);
  });

  it("a tool that does not run here cannot be held back here", async () => {
    expect(() => approval(tool({ inputSchema: z.object({}) }) as Tool)).toThrow(TypeError);
    const wipe = tool({ inputSchema: z.object({}), needsApproval: true });
    const model = scripted(calls(call("a", "wipe", {})));
    const agent = agentUnderTest(aiAgent({ model, tools: { wipe: wipe as unknown as Tool } }));
    expect(endOf(await agent.run("go"))).toBe("AGENT_FAILED");
    expect(agent.errors.map(({ error }) => String(error))).toEqual([expect.stringContaining("needsApproval")]);
    expect(model.prompts).toEqual([]);
  });
});

describe("what a provider itself wants approved", () => {
  const request = () =>
    calls(
      [
        {
          type: "tool-call",
          toolCallId: "mcp_1",
          toolName: "mcp.delete",
          input: '{"path":"/"}',
          providerExecuted: true,
          dynamic: true,
        },
      ],
      [{ type: "tool-approval-request", approvalId: "appr_1", toolCallId: "mcp_1" }],
    );

  it.each([
    [true, "success"],
    [false, "success"],
  ])("is asked, and the provider is told: %s", async (approved, outcome) => {
    const model = scripted(request(), says("ok"));
    const agent = agentUnderTest(aiAgent({ model }));
    const question = soleInterrupt(await agent.run("go"));
    expect(question).toMatchObject({ toolCallId: "mcp_1", message: 'Approve mcp.delete({"path":"/"})?' });
    const run = await agent.answer(question, approved);
    expect(run.outcome?.type).toBe(outcome);
    const responses = model.prompts[1]?.flatMap((message) => (message.role === "tool" ? message.content : []));
    expect(responses).toContainEqual(
      expect.objectContaining({ type: "tool-approval-response", approvalId: "appr_1", approved }),
    );
  });

  it("cannot be edited: the provider runs its call as it made it", async () => {
    const model = scripted(request(), says("ok"));
    const agent = agentUnderTest({ agent: aiAgent({ model }), approvals: { allowEdits: true } });
    const question = soleInterrupt(await agent.run("go"));
    expect(JSON.stringify(question.responseSchema)).not.toContain("editedArgs");
    const edited = await agent.answer(question, { approved: true, editedArgs: { path: "/tmp" } });
    expect(endOf(edited)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(model.prompts).toHaveLength(1);
  });

  it("is not asked when the model may not be called again: a yes would be of no use", async () => {
    const model = scripted(request());
    const agent = agentUnderTest(aiAgent({ model, maxSteps: 1 }));
    const run = await agent.run("go");
    expect([run.interrupts, run.outcome]).toEqual([[], { type: "cancelled" }]);
    expect(agent.warnings.map(({ code }) => code)).toContain("MAX_STEPS_REACHED");
  });

  it("is said not to have run where a call of the client's kept the yes from the provider", async () => {
    const tools = [{ name: "ui", description: "", parameters: {} }];
    const beside = calls(
      [
        {
          type: "tool-call",
          toolCallId: "mcp_1",
          toolName: "mcp.delete",
          input: "{}",
          providerExecuted: true,
          dynamic: true,
        },
        ...call("c", "ui", {}),
      ],
      [{ type: "tool-approval-request", approvalId: "appr_1", toolCallId: "mcp_1" }],
    );
    const model = scripted(beside);
    const agent = agentUnderTest(aiAgent({ model }));
    const question = soleInterrupt(await agent.run({ messages: [{ id: "u", role: "user", content: "go" }], tools }));
    const run = await agent.answer(question, true, { tools });
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      toolCallId: "mcp_1",
      content: expect.stringMatching(/^Not run: .*Call it again/),
    });
    expect(run.outcome).toEqual({ type: "success" });
    expect(model.prompts).toHaveLength(1);
  });

  it("is not done when it is given up", async () => {
    const model = scripted(request());
    const agent = agentUnderTest(aiAgent({ model }));
    const run = await agent.resume([giveUp(soleInterrupt(await agent.run("go")))]);
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(model.prompts).toHaveLength(1);
  });
});
