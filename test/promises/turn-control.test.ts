import { describe, expect, it } from "vitest";
import { type AgentContext, PromptInvalidError, TurnEndedError } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { defer } from "../support/promises.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

const MESSAGE = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];

describe("inputRequired", () => {
  it("shows the prompt as assistant text and ends the run with it: nothing is held, the next message is a new turn", async () => {
    const agent = agentUnderTest(async (context) =>
      context.userText === "go" ? context.inputRequired("  Which date?\n") : `New turn: ${context.userText}`,
    );
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", ...MESSAGE, "RUN_FINISHED"]);
    expect(run.events[1]).toMatchObject({ role: "assistant" });
    expect(run.text).toBe("Which date?");
    expect(run.result).toEqual({ status: "input-required", message: "Which date?" });
    expect(run.outcome).toEqual({ type: "success" });
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, finished: 1 });
    expect((await agent.run("Tuesday")).result).toBe("New turn: Tuesday");
  });

  it("decides the run although the agent forgets to return it, returns another thing, or throws", async () => {
    for (const end of ["forgets", "returns", "throws"]) {
      const agent = agentUnderTest(async (context) => {
        context.inputRequired("Which date?");
        if (end === "throws") throw new Error("later");
        return end === "returns" ? "something else" : undefined;
      });
      const run = await agent.run("go");
      expect(run.result).toEqual({ status: "input-required", message: "Which date?" });
      expect(endOf(run)).toBe("success");
      expect(agent.errors).toHaveLength(end === "throws" ? 1 : 0);
    }
  });

  it("refuses what is emitted, asked or decided afterwards, with TurnEndedError", async () => {
    const codes: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      context.inputRequired("Which date?");
      const code = (error: unknown) => codes.push(error instanceof TurnEndedError);
      await context.text("more").catch(code);
      await context.emit({ type: "CUSTOM", name: "acme:x", value: 1 }).catch(code);
      await context.input("A?").catch(code);
      await context.approve({ toolCallId: "c", toolName: "t", args: {} }).catch(code);
      await context.toolCall("t", {}, () => codes.push("entered")).catch(code);
      try {
        context.inputRequired("Another?");
      } catch (error) {
        code(error);
      }
    });
    const run = await agent.run("go");
    expect(codes).toEqual(Array(6).fill(true));
    expect(typesOf(run)).toEqual(["RUN_STARTED", ...MESSAGE, "RUN_FINISHED"]);
  });

  it("rejects a question that had not gone out", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      const asked = context.input("A?").catch((error) => seen.push(error.code));
      context.inputRequired("Which date?");
      await asked;
    });
    const run = await agent.run("go");
    expect(seen).toEqual(["TURN_ENDED"]);
    expect([endOf(run), agent.handler.stats().held]).toEqual(["success", 0]);
  });

  it.each<[string, unknown]>([
    ["empty", ""],
    ["only white space", " \n\t\u3000"],
    ["2001 units long", "x".repeat(2_001)],
    ["2002 units of surrogate pairs long", "\ud83d\ude00".repeat(1_001)],
    ["no string", 5],
    ["absent", undefined],
  ])("refuses a prompt that is %s, and the turn goes on", async (_what, prompt) => {
    const agent = agentUnderTest(async (context) => {
      try {
        context.inputRequired(prompt as string);
      } catch (error) {
        return [error instanceof PromptInvalidError, (error as PromptInvalidError).code];
      }
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run.result).toEqual([true, "PROMPT_INVALID"]);
  });

  it.each(["x", "x".repeat(2_000), `  ${"\ud83d\ude00".repeat(1_000)}  `])(
    "takes a prompt of 1 to 2000 units",
    async (prompt) => {
      const agent = agentUnderTest(async (context) => context.inputRequired(prompt));
      expect((await agent.run("go")).text).toBe(prompt.trim());
    },
  );

  it("is told to onTrace with its reason, which is never on the wire", async () => {
    const traced: unknown[] = [];
    const agent = agentUnderTest({
      agent: async (context) =>
        context.inputRequired("Which date?", context.userText === "why" ? { reason: "no-date-found" } : {}),
      onTrace: (event) => traced.push(event),
    });
    const run = await agent.run("why");
    await agent.run({ threadId: "T" });
    expect(run.raw).not.toContain("no-date-found");
    expect(traced).toEqual([
      { type: "input-required", prompt: "Which date?", reason: "no-date-found", threadId: "thread-1", runId: "run-1" },
      { type: "input-required", prompt: "Which date?", threadId: "T", runId: "run-2" },
    ]);
  });

  it("from a tool: the call is answered before the prompt, and so is one that runs beside it", async () => {
    const gate = defer();
    const agent = agentUnderTest(async (context: AgentContext) => {
      await Promise.all([
        context.toolCall("slow", {}, () => gate.promise),
        context.toolCall("request_input", {}, (_args, tool) => {
          const decided = tool.inputRequired("Which date?");
          gate.resolve();
          return decided;
        }),
      ]);
    });
    const run = await agent.run("go");
    const types = typesOf(run).filter((type) => !/ARGS|CALL_END/.test(type));
    expect(types).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_START",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_RESULT",
      ...MESSAGE,
      "RUN_FINISHED",
    ]);
    expect(run.result).toEqual({ status: "input-required", message: "Which date?" });
    expect(run.outcome).toEqual({ type: "success" });
  });

  it("works where no turn can be held", async () => {
    const agent = agentUnderTest({ hold: false, agent: async (context) => context.inputRequired("Which date?") });
    expect((await agent.run("go")).text).toBe("Which date?");
  });

  it("closes what is open around it", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.text("Let me see. ");
      await context.step("plan", () => context.inputRequired("Which date?"));
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual([
      "RUN_STARTED",
      ...MESSAGE,
      "STEP_STARTED",
      ...MESSAGE,
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
  });

  it("after an answer decides the run that carries the turn then", async () => {
    const agent = agentUnderTest(async (context) => {
      const answer = await context.input("A?");
      return context.inputRequired(`And after ${answer}?`);
    });
    const run = await agent.answer(soleInterrupt(await agent.run("go")), "a");
    expect(run.result).toEqual({ status: "input-required", message: "And after a?" });
  });

  it("in a turn that was stopped is refused with what stopped it", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      context.stop();
      try {
        context.inputRequired("Which date?");
      } catch (error) {
        seen.push((error as { code: string }).code);
      }
    });
    expect(endOf(await agent.run("go"))).toBe("cancelled");
    expect(seen).toEqual(["TURN_RELEASED"]);
  });
});

describe("hold: false", () => {
  it("rejects a question at once, and names the ways out; the agent may go on", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest({
      hold: false,
      agent: async (context) => {
        await context.input("A?").catch((error) => seen.push(error));
        await context.approve({ toolCallId: "c", toolName: "t", args: {} }).catch((error) => seen.push(error));
        return "went on";
      },
    });
    const run = await agent.run("go");
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run.result).toBe("went on");
    for (const error of seen) {
      expect(error).toMatchObject({ name: "HoldUnavailableError", code: "HOLD_UNAVAILABLE" });
      expect((error as Error).message).toMatch(/durable-object.*inputRequired/);
    }
    expect(seen).toHaveLength(2);
  });
});
