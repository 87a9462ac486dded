/** docs/turn-control.md: its agent and its client are run, and each boundary that can be seen is looked at. */
import { HttpAgent } from "ag-ui-client-0";
import { afterAll, describe, expect, it } from "vitest";
import { serve } from "../../adapters/node.ts";
import { REQUEST_INPUT } from "../../src/agents/ai-sdk/turn-control.ts";
import { createHandler } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { membersOf } from "../support/declarations.ts";
import { closeAfterTest } from "../support/listen.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder, runProgram } from "../support/programs.ts";
import { defer } from "../support/promises.ts";
import { typesOf } from "../support/runs.ts";

const page = pageUnderTest("docs/turn-control.md");
const folder = new ProgramFolder("turn-control");
afterAll(() => folder.dispose());
const { agent } = await folder.load(page.take("Turn control", "ts"));

async function served(options = {}) {
  const handler = createHandler({ agent, ...options });
  const { url, close } = await serve(handler);
  closeAfterTest(close);
  return { url, handler };
}

describe("docs/turn-control.md", () => {
  it("ends the turn with the question, and goes on with the reply", async () => {
    const traced: unknown[] = [];
    const tested = agentUnderTest({ agent, onTrace: (event) => traced.push(event) });
    const asked = await tested.run("Deploy");
    expect(asked.events.at(-1)).toEqual(JSON.parse(page.take("Turn control", "json")));
    expect(asked.text).toBe(asked.result.message);
    expect(traced).toMatchObject([{ reason: "No default is configured." }]);
    expect(asked.raw).not.toContain("No default");
    // A result, not a job: nothing is held and no timer runs.
    expect([tested.handler.stats().held, tested.handler.stats().running]).toEqual([0, 0]);
    expect((await tested.run("api-east, please")).text).toBe("Deploying api-east.");
  });

  it("is replied to by its client", async () => {
    const { url, handler } = await served();
    const program = page.take("Turn control", "ts");
    expect(program).toContain('"http://127.0.0.1:8787/"');
    const ran = await runProgram(process.execPath, [folder.compile(program.replace("http://127.0.0.1:8787/", url))]);
    expect(ran).toEqual({
      code: 0,
      stdout: "Which service: api-west or api-east?\nDeploying api-east.\n",
      stderr: "",
    });
    expect(handler.stats()).toMatchObject({ started: 2, finished: 2 });
  });

  it("is a finished run with the question in it for an older client", async () => {
    const { url } = await served();
    const client = new HttpAgent({ url, threadId: "thread-1" });
    client.addMessage({ id: "message-1", role: "user", content: "Deploy" });
    await client.runAgent();
    expect(client.pendingInterrupts).toEqual([]);
    expect(client.messages.at(-1)).toMatchObject({
      role: "assistant",
      content: "Which service: api-west or api-east?",
    });
  });

  it("does not cancel siblings", async () => {
    const done: string[] = [];
    const gate = defer();
    const tested = agentUnderTest(async (context) => {
      const sibling = context.toolCall("restart", {}, async (_args, tool) => {
        await gate.promise;
        done.push(tool.signal.aborted ? "aborted" : "restarted");
        return "Restarted.";
      });
      context.inputRequired("Which?");
      gate.resolve();
      await sibling;
    });
    const run = await tested.run("go");
    expect(done).toEqual(["restarted"]);
    expect(typesOf(run).slice(-5)).toEqual([
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
  });

  it("names the ways to ask that there are", () => {
    const named = page.tables[0]?.rows.flatMap(([cell = ""]) => codesIn(cell));
    expect(named).toEqual([
      "context.inputRequired(prompt, { reason? })",
      "request_input({ prompt, reason? })",
      "augments: [turnControl]",
      "agent.yaml",
    ]);
    expect(membersOf("src/core/agent.ts", "AgentContext")).toContain("inputRequired");
    expect(REQUEST_INPUT).toBe("request_input");
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
