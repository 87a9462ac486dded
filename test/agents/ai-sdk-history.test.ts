import type { Message, RunAgentInput } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { aiAgent } from "../../src/agents/ai-sdk.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf } from "../support/runs.ts";
import { type Prompt, says, scripted } from "./models.ts";

type Options = Partial<Parameters<typeof aiAgent>[0]>;

/** What the model is told of these messages, and what the application is warned of. */
async function told(
  messages: Message[],
  options: Options = {},
  input: Partial<RunAgentInput> = {},
): Promise<{ prompt: Prompt; warnings: string[] }> {
  const model = scripted(says("ok"));
  const agent = agentUnderTest(aiAgent({ model, ...options } as Parameters<typeof aiAgent>[0]));
  const run = await agent.run({ messages, ...input });
  expect(endOf(run)).toBe("success");
  return { prompt: model.prompts[0] as Prompt, warnings: agent.warnings.map(({ message }) => message) };
}

let ids = 0;
const id = () => `m${++ids}`;
const user = (content: Extract<Message, { role: "user" }>["content"]): Message => ({ id: id(), role: "user", content });
const said = (content: string): Message => ({ id: id(), role: "assistant", content });
const called = (...names: string[]): Message => ({
  id: id(),
  role: "assistant",
  toolCalls: names.map((name) => ({
    id: name,
    type: "function",
    function: { name: `tool_${name}`, arguments: '{"n":1}' },
  })),
});
const result = (
  toolCallId: string,
  content: Extract<Message, { role: "tool" }>["content"] = `of ${toolCallId}`,
): Message => ({
  id: id(),
  role: "tool",
  toolCallId,
  content,
});

/** The roles, and in order the ids of calls (`+`) and results (`-`): all that a provider's pairing rule looks at. */
const shapeOf = (prompt: Prompt): string[] =>
  prompt.map(({ role, content }) => {
    const parts = typeof content === "string" ? [] : content;
    const marks = parts.flatMap((part) =>
      part.type === "tool-call" ? [`+${part.toolCallId}`] : part.type === "tool-result" ? [`-${part.toolCallId}`] : [],
    );
    return [role, ...marks].join(" ");
  });

/** The rule of OpenAI, Anthropic and others: right behind calls stand their results, all of them, and nowhere else. */
function expectPaired(prompt: Prompt): void {
  const seen = new Set<string>();
  prompt.forEach(({ role, content }, at) => {
    const ids = (type: string) =>
      typeof content === "string"
        ? []
        : content.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : []));
    for (const made of ids("tool-call")) {
      expect(seen.has(made)).toBe(false);
      seen.add(made);
    }
    const before = prompt[at - 1]?.content;
    const due =
      typeof before === "string" || before === undefined
        ? []
        : before.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    expect(role === "tool" ? ids("tool-result") : []).toEqual(due);
    if (content.length === 0) throw new Error(`An empty ${role} message.`);
  });
  expect(shapeOf(prompt).at(-1)).not.toContain("+");
}

describe("a history, as the model is told it", () => {
  it("has all roles and their contents, in order", async () => {
    const { prompt, warnings } = await told([
      user("What is it?"),
      { id: id(), role: "reasoning", content: "A riddle." },
      { ...called("a"), content: "Let me look." } as Message,
      result("a", "a cat"),
      said("A cat."),
      user([
        { type: "text", text: "And this?" },
        { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" } },
        { type: "document", source: { type: "url", value: "https://x.test/a.pdf", mimeType: "application/pdf" } },
      ]),
    ]);
    expect(prompt).toMatchObject([
      { role: "user", content: [{ type: "text", text: "What is it?" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "A riddle." },
          { type: "text", text: "Let me look." },
          { type: "tool-call", toolCallId: "a", toolName: "tool_a", input: { n: 1 } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "a", toolName: "tool_a", output: { type: "text", value: "a cat" } },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "A cat." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "And this?" },
          { type: "file", data: "aGk=", mediaType: "image/png" },
          { type: "file", data: new URL("https://x.test/a.pdf"), mediaType: "application/pdf" },
        ],
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it("begins with the instructions, the run's context and the client's system messages, as one (P12)", async () => {
    const { prompt } = await told(
      [
        { id: id(), role: "system", content: "Be brief." },
        user("hi"),
        { id: id(), role: "developer", content: "Use metric units." },
      ],
      { instructions: "You book flights." },
      { context: [{ description: "The user's city", value: "Rome" }] },
    );
    expect(prompt.map(({ role }) => role)).toEqual(["system", "user"]);
    const [system] = prompt;
    const places = ["You book flights.", "The user's city", "Rome", "Be brief.", "Use metric units."].map((text) =>
      String(system?.content).indexOf(text),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it("begins with instructions made for the turn", async () => {
    const { prompt } = await told([user("hi")], { instructions: async ({ threadId }) => `On ${threadId}.` });
    expect(prompt[0]).toMatchObject({ role: "system", content: "On thread-1." });
  });

  it("has no activity, and nothing of an empty message", async () => {
    const { prompt } = await told([
      user("hi"),
      { id: id(), role: "activity", activityType: "plan", content: { secret: 1 } },
      { id: id(), role: "assistant" },
      said(""),
      { id: id(), role: "reasoning", content: "" },
      user(""),
      user([]),
    ]);
    expect(prompt).toMatchObject([{ role: "user", content: [{ type: "text", text: "hi" }] }]);
  });

  it("has a tool's error and content parts as such", async () => {
    const { prompt } = await told([
      user("hi"),
      called("a", "b", "c"),
      { ...result("a", ""), error: "out of paper" } as Message,
      result("b", [
        { type: "text", text: "seen" },
        { type: "image", source: { type: "data", value: "aGk=", mimeType: "image/png" } },
      ]),
      result("c", [{ type: "text", text: "just this" }]),
    ]);
    expect(prompt[2]?.content).toMatchObject([
      { output: { type: "error-text", value: "out of paper" } },
      {
        output: {
          type: "content",
          value: [
            { type: "text", text: "seen" },
            { type: "image-data", mediaType: "image/png" },
          ],
        },
      },
      { output: { type: "text", value: "just this" } },
    ]);
  });

  it("has a tool's media by address or by value, of any type of its kind where none is said", async () => {
    const { prompt } = await told([
      user([
        { type: "text", text: "" },
        { type: "image", source: { type: "url", value: "https://x.test/a" } },
        { type: "document", source: { type: "url", value: "https://x.test/b" } },
      ]),
      called("a"),
      result("a", [
        { type: "image", source: { type: "url", value: "https://x.test/a" } },
        { type: "document", source: { type: "url", value: "https://x.test/b", mimeType: "application/pdf" } },
        { type: "audio", source: { type: "data", value: "aGk=", mimeType: "audio/wav" } },
      ]),
    ]);
    expect(prompt[0]?.content).toMatchObject([
      { type: "file", data: new URL("https://x.test/a"), mediaType: "image/*" },
      { type: "file", data: new URL("https://x.test/b"), mediaType: "application/octet-stream" },
    ]);
    expect(prompt[2]?.content).toMatchObject([
      {
        output: {
          type: "content",
          value: [
            { type: "image-url", url: "https://x.test/a" },
            { type: "file-url", url: "https://x.test/b", mediaType: "application/pdf" },
            { type: "file-data", data: "aGk=", mediaType: "audio/wav" },
          ],
        },
      },
    ]);
  });

  it.each([
    ["arguments that are no JSON", '{"n":'],
    ["no arguments at all", ""],
    ["arguments that are no object", "7"],
    ["arguments that are a list", "[1]"],
  ])("shows a call with %s as one without arguments", async (_what, args) => {
    const { prompt } = await told([
      user("hi"),
      {
        id: id(),
        role: "assistant",
        toolCalls: [{ id: "a", type: "function", function: { name: "t", arguments: args } }],
      },
      result("a"),
    ]);
    expect(prompt[1]?.content).toMatchObject([{ type: "tool-call", input: {} }]);
  });
});

describe("what a model cannot take", () => {
  const picture = { type: "image" as const, source: { type: "data" as const, value: "aGk=", mimeType: "image/png" } };

  it("is left out with a warning, and the run goes on: a provider's file handle, which nobody resolves (P10)", async () => {
    const handle = {
      type: "image" as const,
      source: { type: "file" as const, value: "http://canary.test/x", provider: "acme" },
    };
    const { prompt, warnings } = await told([user([handle, { type: "text", text: "see" }])]);
    expect(prompt[0]?.content).toMatchObject([{ type: "text", text: "see" }]);
    expect(warnings).toEqual([expect.stringContaining("file handle")]);
    expect(warnings[0]).not.toContain("canary");
  });

  it("is left out where the application says what the model takes", async () => {
    const { prompt, warnings } = await told(
      [
        user([
          picture,
          { type: "audio", source: { type: "data", value: "aGk=", mimeType: "audio/wav" } },
          { type: "text", text: "see" },
        ]),
      ],
      { accepts: ["image/*"] },
    );
    expect(prompt[0]?.content).toMatchObject([{ type: "file", mediaType: "image/png" }, { type: "text" }]);
    expect(warnings).toEqual([expect.stringContaining("audio/wav")]);
  });

  it("leaves the message standing when nothing else was in it, and a call answered (P111)", async () => {
    const { prompt } = await told([user([picture]), called("a"), result("a", [picture]), user([picture])], {
      accepts: [],
    });
    expectPaired(prompt);
    expect(prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(prompt[2]?.content).toMatchObject([{ output: { type: "text", value: "" } }]);
    expect(prompt[3]?.content).toMatchObject([{ type: "text" }]);
  });

  it("is not fetched: an address goes to the provider as it is, wherever it stands (P11, P180)", async () => {
    const fetched: unknown[] = [];
    const original = globalThis.fetch;
    globalThis.fetch = async (...given) => {
      fetched.push(given);
      return new Response("");
    };
    try {
      const address = "http://127.0.0.1:9/canary";
      const { prompt, warnings } = await told([
        user([
          { type: "image", source: { type: "url", value: address, mimeType: "image/png" } },
          { type: "image", source: { type: "data", value: address, mimeType: "image/png" } },
          { type: "image", source: { type: "url", value: "not an address", mimeType: "image/png" } },
        ]),
      ]);
      expect(prompt[0]?.content).toMatchObject([{ type: "file", data: new URL(address) }]);
      expect(prompt[0]?.content).toHaveLength(1);
      expect(warnings).toHaveLength(2);
      expect(fetched).toEqual([]);
    } finally {
      globalThis.fetch = original;
    }
  });

  it("is left out when its provider refuses it before anything is sent", async () => {
    const { UnsupportedFunctionalityError } = await import("ai");
    const model = scripted(() => {
      throw new UnsupportedFunctionalityError({ functionality: "file part media type audio/wav" });
    }, says("a picture"));
    const agent = agentUnderTest(aiAgent({ model }));
    const sound = { type: "audio" as const, source: { type: "data" as const, value: "aGk=", mimeType: "audio/wav" } };
    const run = await agent.run({ messages: [user([picture, sound]), user([sound])] });
    expect(run.text).toBe("a picture");
    expect(agent.warnings).toMatchObject([{ code: "CONTENT_SKIPPED", message: expect.stringContaining("audio/wav") }]);
    expect(model.prompts[1]).toMatchObject([
      { content: [{ mediaType: "image/png" }] },
      { content: [{ type: "text" }] },
    ]);
  });

  it("fails the run when it is not a part that can be left out", async () => {
    const { UnsupportedFunctionalityError } = await import("ai");
    const model = scripted(() => {
      throw new UnsupportedFunctionalityError({ functionality: "tool messages" });
    });
    const agent = agentUnderTest(aiAgent({ model }));
    expect(endOf(await agent.run("hi"))).toBe("AGENT_FAILED");
    expect(model.prompts).toHaveLength(1);
  });
});

describe("calls and their results", () => {
  it.each<[string, Message[], string[]]>([
    [
      "a call that never got a result",
      [called("a"), user("still there?")],
      ["user", "assistant +a", "tool -a", "user"],
    ],
    ["a call at the end", [called("a")], ["user", "assistant +a", "tool -a"]],
    [
      "one of two without a result",
      [called("a", "b"), result("b"), user("?")],
      ["user", "assistant +a +b", "tool -a -b", "user"],
    ],
    [
      "results in another order",
      [called("a", "b"), result("b"), result("a")],
      ["user", "assistant +a +b", "tool -a -b"],
    ],
    [
      "a result that comes late",
      [called("a"), user("?"), result("a"), said("ok")],
      ["user", "assistant +a", "tool -a", "user", "assistant"],
    ],
    ["a result without a call", [result("ghost"), said("ok")], ["user", "assistant"]],
    [
      "a second result",
      [called("a"), result("a"), result("a", "again"), said("ok")],
      ["user", "assistant +a", "tool -a", "assistant"],
    ],
    [
      "parallel calls in messages of their own",
      [called("a"), called("b"), result("a"), result("b")],
      ["user", "assistant +a +b", "tool -a -b"],
    ],
    [
      "calls one after the other",
      [called("a"), result("a"), called("b"), result("b")],
      ["user", "assistant +a", "tool -a", "assistant +b", "tool -b"],
    ],
    [
      "text between a call and its result",
      [called("a"), said("wait"), result("a"), said("ok")],
      ["user", "assistant +a", "tool -a", "assistant"],
    ],
    [
      "an id that comes again",
      [called("a"), result("a"), called("a"), result("a")],
      ["user", "assistant +a", "tool -a", "assistant +a_2", "tool -a_2"],
    ],
    [
      "an id twice in one answer",
      [called("a", "a"), result("a", "1"), result("a", "2")],
      ["user", "assistant +a +a_2", "tool -a -a_2"],
    ],
    [
      "an id that comes again after it was left unanswered",
      [called("a"), user("?"), called("a"), result("a", "late")],
      ["user", "assistant +a", "tool -a", "user", "assistant +a_2", "tool -a_2"],
    ],
    [
      "an id that another call seems renamed to",
      [called("a_2"), result("a_2"), called("a"), result("a"), called("a"), result("a")],
      ["user", "assistant +a_2", "tool -a_2", "assistant +a", "tool -a", "assistant +a_3", "tool -a_3"],
    ],
  ])("are paired as every provider wants them: %s", async (_what, messages, shape) => {
    const { prompt } = await told([user("hi"), ...messages]);
    expect(shapeOf(prompt)).toEqual(shape);
    expectPaired(prompt);
  });

  it("give a call that was interrupted words for the model", async () => {
    const { prompt } = await told([user("hi"), called("a"), user("?")]);
    expect(prompt[2]?.content).toMatchObject([
      { output: { type: "error-text", value: expect.stringContaining("interrupted") } },
    ]);
  });

  it("keep the answer of the later of two calls of one id apart", async () => {
    const { prompt } = await told([user("hi"), called("a"), user("?"), called("a"), result("a", "late")]);
    expect(prompt[2]?.content).toMatchObject([{ output: { type: "error-text" } }]);
    expect(prompt[5]?.content).toMatchObject([{ output: { type: "text", value: "late" } }]);
  });

  it("hold for any history", async () => {
    const random = (n: number) => Math.floor(Math.random() * n);
    for (let round = 0; round < 30; round++) {
      const some = ["a", "b", "c", "d"];
      const messages = Array.from({ length: 12 }, (): Message => {
        const name = some[random(4)] as string;
        const kinds = [
          () => user("?"),
          () => said("ok"),
          () => called(name),
          () => called(name, some[random(4)] as string),
          () => result(name),
          () => result(name),
        ];
        return (kinds[random(kinds.length)] as () => Message)();
      });
      const model = scripted(says("ok"));
      await aiAgentOn(model, [user("hi"), ...messages]);
      expectPaired(model.prompts[0] as Prompt);
    }
  });

  /** Without the reference client, which warns of histories like these. */
  async function aiAgentOn(model: ReturnType<typeof scripted>, messages: Message[]): Promise<void> {
    const { testAgent } = await import("../../src/testing/index.ts");
    const agent = testAgent(aiAgent({ model }));
    expect(endOf(await agent.run({ messages }))).toBe("success");
    await agent.close();
  }
});

describe("what a provider wants to see again", () => {
  const reasoning = (encryptedValue: string): Message => ({
    id: id(),
    role: "reasoning",
    content: "Hm.",
    encryptedValue,
  });
  const wrapped = (issuer: string, values: unknown) => JSON.stringify({ issuer, values });

  it("goes back to the provider that issued it, with its reasoning and its calls", async () => {
    const { prompt } = await told([
      user("hi"),
      reasoning(wrapped("acme", { acme: { signature: "s1" } })),
      {
        id: id(),
        role: "assistant",
        toolCalls: [
          {
            id: "a",
            type: "function",
            function: { name: "t", arguments: "{}" },
            encryptedValue: wrapped("acme", { acme: { thoughtSignature: "s2" } }),
          },
        ],
      },
      result("a"),
    ]);
    expect(prompt[1]?.content).toMatchObject([
      { type: "reasoning", providerOptions: { acme: { signature: "s1" } } },
      { type: "tool-call", providerOptions: { acme: { thoughtSignature: "s2" } } },
    ]);
  });

  it.each([
    ["of another provider", wrapped("other", { other: { signature: "s" } })],
    ["of nobody known", "opaque"],
    ["that is no text", wrapped("acme", { acme: { cacheControl: { type: "ephemeral" } } })],
    ["that names what a provider stored", wrapped("acme", { acme: { itemId: "rs_1" } })],
  ])("stays out: a value %s", async (_what, value) => {
    const { prompt } = await told([user("hi"), reasoning(value), said("ok")]);
    expect(prompt[1]?.content[0]).toEqual({ type: "reasoning", text: "Hm.", providerOptions: undefined });
  });
});

describe("a run without anything to answer", () => {
  it("calls no model, and says so", async () => {
    const model = scripted();
    const agent = agentUnderTest(aiAgent({ model, instructions: "Be brief." }));
    const run = await agent.run({ messages: [] });
    expect(run.outcome).toEqual({ type: "success" });
    expect(agent.warnings.map(({ code }) => code)).toEqual(["NOTHING_TO_ANSWER"]);
    expect(model.prompts).toEqual([]);
  });
});
