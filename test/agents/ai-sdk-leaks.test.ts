/** What people and the model say stays between them: none of it is in what operators are told of a model that fails. */
import { format, inspect } from "node:util";
import { tool } from "ai";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { aiAgent, contextOf } from "../../src/agents/ai-sdk.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";
import {
  begin,
  content,
  end,
  fail,
  frame,
  type OpenAiServer,
  openAiServer,
  type Reply,
  toolCall,
} from "./openai-server.ts";

const MESSAGE = "mark-message";
const ANSWER = "mark-answer";
const TEXT = "mark-text";
const ARGUMENT = "mark-argument";

const open: OpenAiServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function asked(maxRetries: number, ...replies: Reply[]) {
  const llm = await openAiServer(
    [...content(TEXT), ...toolCall(0, "a", "book", `{"flight":"${ARGUMENT}"}`), ...end("tool_calls")],
    ...replies,
  );
  open.push(llm);
  const agent = agentUnderTest(
    aiAgent({
      model: llm.model,
      maxRetries,
      tools: {
        book: tool({
          inputSchema: z.object({ flight: z.string() }),
          execute: async ({ flight }, options) => contextOf(options).input(`Book ${flight}?`),
        }),
      },
    }),
  );
  const interrupt = soleInterrupt(await agent.run(MESSAGE));
  const run = await agent.answer(interrupt, ANSWER);
  // What was said is what the model was told: else there was nothing to leak.
  expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain(ANSWER);
  return { agent, run };
}

const broken =
  (text: string): Reply =>
  (response) => {
    begin(response);
    response.end(text);
  };

describe("nothing that was said is told to operators", () => {
  it.each<[string, number, Reply[], string]>([
    ["refuses the request", 0, [(response) => fail(response, 400, "no such model")], "no such model"],
    ["fails", 0, [(response) => fail(response, 500, "out of memory")], "out of memory"],
    [
      "fails as often as it is asked",
      1,
      [(response) => fail(response, 500, "out of memory"), (response) => fail(response, 500, "out of memory")],
      "out of memory",
    ],
    ["reports an error amid its stream", 0, [broken(frame({ error: { message: "overloaded" } }))], "overloaded"],
    ["says what is no JSON", 0, [broken(`data: {"choices": [{"delta": {"content": "${TEXT}\n\n`)], ""],
    ["says what is no answer", 0, [broken(`data: {"choices": "${TEXT}"}\n\n`)], ""],
    ["breaks off", 0, [broken(frame({ delta: { content: TEXT } }))], ""],
  ])("when a model %s", async (_what, maxRetries, replies, reason) => {
    const printed = vi.spyOn(console, "error");
    const { agent, run } = await asked(maxRetries, ...replies);
    // The AI SDK's own habit, which is to print it.
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
    expect(endOf(run)).toBe("AGENT_FAILED");
    expect(agent.errors).not.toEqual([]);
    const told = [
      inspect({ errors: agent.errors, warnings: agent.warnings, refusal: run.error }, { depth: 20, showHidden: true }),
      format("%o", agent.errors),
      JSON.stringify(agent.errors),
    ].join("\n");
    expect(told).toContain(reason);
    for (const secret of [MESSAGE, ANSWER, TEXT, ARGUMENT]) expect(told).not.toContain(secret);
  });

  it("when a model calls a tool with what is no call", async () => {
    const { agent, run } = await asked(
      0,
      [...toolCall(0, "b", "book", `{"flight": "${ARGUMENT}`), ...end("tool_calls")],
      [...toolCall(0, "c", "book", `{"flight": ["${ARGUMENT}"]}`), ...end("tool_calls")],
      [...toolCall(0, "d", "nothing", `{"flight":"${ARGUMENT}"}`), ...end("tool_calls")],
      [...content("Sorry."), ...end("stop")],
    );
    expect(endOf(run)).toBe("success");
    const told = inspect({ errors: agent.errors, warnings: agent.warnings }, { depth: 20, showHidden: true });
    for (const secret of [MESSAGE, ANSWER, TEXT, ARGUMENT]) expect(told).not.toContain(secret);
  });
});
