/**
 * Turn control's own check, on created projects: an ambiguous task, one question, the end of the turn, nothing held,
 * and a reply that goes on. Over HTTP with a script and with a model's server, in this process against a clock, and in
 * a browser.
 */
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { scriptedAgent } from "../../src/cli/engine/scripted.ts";
import { loadProject } from "../../src/cli/load-project.ts";
import { createTestClock, type TestRun } from "../../src/testing/index.ts";
import { end, type OpenAiServer, openAiServer, toolCall } from "../agents/openai-server.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { ConsoleTab, useBrowser } from "../support/browser.ts";
import { build } from "../support/child.ts";
import { edit, holdline, type RunningProject, runProject, temporaryFolder } from "../support/command.ts";
import { createProject } from "../support/console-project.ts";
import { httpClient } from "../support/http-client.ts";
import { typesOf } from "../support/runs.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });

const PROMPT = "Which production service should I deploy: api-west or api-east?";
const REASON = "Two production services are configured and there is no default.";

/** What a turn that ended with the question shows, whoever played the model. */
function expectAsked(run: TestRun): void {
  const calls = run.events.filter(({ type }) => type === "TOOL_CALL_START");
  expect(calls.map(({ toolCallName }) => toolCallName)).toEqual(["request_input"]);
  const args = run.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta);
  expect(JSON.parse(args.join(""))).toEqual({ prompt: PROMPT });
  expect(PROMPT.length).toBeLessThanOrEqual(2_000);
  const said = run.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta);
  expect(said.join("")).toBe(PROMPT);
  expect(typesOf(run).slice(-5)).toEqual([
    "TOOL_CALL_RESULT",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
  expect(run.outcome).toMatchObject({ type: "success" });
  expect(run.events.at(-1)?.result).toEqual({ status: "input-required", message: PROMPT });
  // For the operator alone.
  expect(JSON.stringify(run.events)).not.toContain(REASON);
}

/** The numbers of a project that is being served. */
async function numbersOf({ url }: RunningProject): Promise<{ stats: Record<string, number>; held: unknown[] }> {
  return (await fetch(`${url}?data`)).json();
}

beforeAll(build);

describe("a created project whose model is a script", () => {
  let project: RunningProject;
  let folder: string;

  beforeAll(async () => {
    folder = await createProject("scripted");
    // Were the model called again, it would say so.
    edit(
      join(folder, "script.ts"),
      `                reason: "${REASON}",
              },
            },
          ],
        },`,
      `                reason: "${REASON}",
              },
            },
          ],
        },
        { text: "I was called again." },`,
    );
    project = await runProject(folder);
  });
  afterAll(() => project?.stop());

  it("has an augment that says exactly what it is", () => {
    expect(readFileSync(join(folder, "augments/turnControl/augment.yaml"), "utf8")).toBe("type: turnControl\n");
  });

  it("asks once, ends its turn, holds nothing, and goes on with the reply", async () => {
    const client = httpClient({ url: project.agentUrl });
    expectAsked(await client.say("Deploy the new version"));
    expect(await numbersOf(project)).toMatchObject({ stats: { held: 0, running: 0, queued: 0, started: 1 }, held: [] });
    const reply = await client.say("api-west");
    // A turn of its own, started by an ordinary run.
    expect((await numbersOf(project)).stats).toMatchObject({ started: 2, held: 1 });
    expect(reply.interrupts.map(({ message }) => message)).toEqual([
      'Approve deploy_service({"service":"api-west","version":"4.2.0"})?',
    ]);
    const [approval] = reply.interrupts;
    const done = await client.answer(approval as NonNullable<typeof approval>, true);
    expect(done.text).toBe("api-west went from 4.1.0 to 4.2.0.");
  });

  it("leaves no timer behind while it waits, and tells the operator why it asked", async () => {
    const { script, tools } = await loadProject(folder);
    if (script === undefined) throw new Error("The project has no script.");
    const clock = createTestClock();
    const traced: unknown[] = [];
    const agent = agentUnderTest({
      agent: scriptedAgent({ script, tools, turnControl: true }),
      clock,
      onTrace: (event) => traced.push(event),
    });
    const run = await agent.run("Deploy the new version");
    expectAsked(run);
    expect(clock.pending).toBe(0);
    expect(agent.handler.stats()).toMatchObject({ held: 0, running: 0, queued: 0 });
    expect(agent.handler.inspect()).toEqual([]);
    expect(traced).toEqual([expect.objectContaining({ type: "input-required", prompt: PROMPT, reason: REASON })]);
  });

  describe("in a browser", () => {
    useBrowser();

    it("shows the prompt as what the agent said, waits for the reply, and goes on with it", async () => {
      const tab = await ConsoleTab.open(project.url);
      await tab.say("Deploy the new version");
      await tab.button("Reply").waitFor();
      expect(await tab.page.locator(".item.agent").allInnerTexts()).toEqual([PROMPT]);
      expect(await tab.page.locator(".item.tool code").allInnerTexts()).toEqual(["request_input"]);
      expect(await tab.page.locator(".composer").innerText()).toContain("nothing is held");
      expect((await numbersOf(project)).held).toEqual([]);
      await tab.sayUntilAsked("api-east, please");
      await tab.button("Approve").click();
      await tab.idle();
      expect(await tab.last.innerText()).toBe("api-east went from 4.1.0 to 4.2.0.");
      tab.expectQuiet(project.url);
      await tab.close();
    });
  });
});

describe("a created project with a model", () => {
  let model: OpenAiServer;
  let project: RunningProject;

  beforeAll(async () => {
    model = await openAiServer();
    const parent = temporaryFolder("model");
    const { code, stderr } = await holdline(parent, "create", "modelled", "--yes", "--provider", "openai-compatible");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const folder = join(parent, "modelled");
    // As `npm install` in the project leaves it.
    symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
    edit(join(folder, ".env.example"), "HOLDLINE_MODEL=", "HOLDLINE_MODEL=tiny");
    edit(join(folder, ".env.example"), "HOLDLINE_BASE_URL=", `HOLDLINE_BASE_URL=${model.url}`);
    edit(join(folder, ".env.example"), "HOLDLINE_API_KEY=", "HOLDLINE_API_KEY=sk-secret");
    symlinkSync(join(folder, ".env.example"), join(folder, ".env"));
    project = await runProject(folder);
  });
  afterAll(async () => {
    await project?.stop();
    await model?.close();
  });

  it("is told its instructions, its skills and its tools, and is not called again once it has asked", async () => {
    model.reply([
      ...toolCall(0, "call_1", "request_input", JSON.stringify({ prompt: PROMPT, reason: REASON })),
      ...end("tool_calls"),
    ]);
    const client = httpClient({ url: project.agentUrl });
    expectAsked(await client.say("Deploy the new version"));
    expect(model.requests).toHaveLength(1);
    const [request] = model.requests;
    expect(request?.model).toBe("tiny");
    expect(request?.tools?.map(({ function: { name } }) => name)).toEqual([
      "deploy_service",
      "restart_service",
      "request_input",
    ]);
    const instructions = String(request?.messages[0]?.content);
    expect(instructions).toContain("You look after the production services");
    expect(instructions).toContain("What the reply is not");
    expect(instructions).not.toContain("description: When to end your turn");
    expect(await numbersOf(project)).toMatchObject({ stats: { held: 0, running: 0 }, held: [] });

    model.reply([
      ...toolCall(0, "call_2", "deploy_service", JSON.stringify({ service: "api-west", version: "5.0.0" })),
      ...end("tool_calls"),
    ]);
    const reply = await client.say("api-west");
    // The reply reaches the model as the user's message, behind the question that it answers.
    expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: PROMPT },
      { role: "user", content: "api-west" },
    ]);
    const [approval] = reply.interrupts;
    model.reply([{ delta: { content: "Deployed." } }, ...end("stop")]);
    const done = await client.answer(approval as NonNullable<typeof approval>, true);
    expect(done.text).toBe("Deployed.");
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "api-west went from 4.1.0 to 5.0.0.",
    });
  });

  it("shows neither the key nor the instructions to whoever looks at it", async () => {
    const shown = JSON.stringify([await numbersOf(project), await (await fetch(project.agentUrl)).json()]);
    expect(shown).toContain('"model":"tiny"');
    expect(shown + project.said()).not.toMatch(/sk-secret|You look after/);
  });
});
