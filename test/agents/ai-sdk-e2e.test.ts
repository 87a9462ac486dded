import { tool } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serve } from "../../adapters/node.ts";
import { aiAgent, approval, contextOf } from "../../src/agents/ai-sdk.ts";
import { createHandler, type HandlerOptions } from "../../src/index.ts";
import { type HttpClient, httpClient } from "../support/http-client.ts";
import { until } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";
import {
  begin,
  checkConversation,
  content,
  end,
  fail,
  frame,
  interleave,
  type OpenAiServer,
  openAiServer,
  type Reply,
  toolCall,
} from "./openai-server.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Desk {
  readonly llm: OpenAiServer;
  readonly client: HttpClient;
  readonly errors: unknown[];
  readonly sent: unknown[];
  readonly stats: () => { running: number; held: number };
}

/** A travel desk behind a real socket on either side: the model's, and the client's. */
async function desk(
  replies: Reply[],
  options: { maxRetries?: number; timeout?: { chunkMs: number } } = {},
  more: Partial<HandlerOptions> = {},
): Promise<Desk> {
  const llm = await openAiServer(...replies);
  closing.push(llm.close);
  const sent: unknown[] = [];
  const errors: unknown[] = [];
  const handler = createHandler({
    validate: true,
    onWarning: () => {},
    onError: (error) => errors.push(error),
    ...more,
    agent: aiAgent({
      model: llm.model,
      instructions: "You book flights.",
      maxRetries: 0,
      tools: {
        book_flight: tool({
          description: "Book a flight, once the traveller confirms it.",
          inputSchema: z.object({ flight: z.string() }),
          execute: async ({ flight }, given) => {
            const answer = await contextOf(given).input(`Book ${flight}? (yes/no)`);
            return answer === "yes" ? `${flight} is booked.` : `${flight} was not booked.`;
          },
        }),
        send_email: approval(
          tool({
            inputSchema: z.object({ to: z.string(), text: z.string() }),
            execute: (email) => {
              sent.push(email);
              return "Sent.";
            },
          }),
          { allowEdits: true },
        ),
      },
      ...options,
    }),
  });
  const serving = await serve(handler, { port: 0 });
  closing.push(() => serving.close());
  return { llm, client: httpClient({ url: serving.url }), errors, sent, stats: () => handler.stats() };
}

describe("a conversation over real sockets, with the protocol's own client", () => {
  it("asks, is answered, is denied, is edited, leaves a call to the client, and ends a turn with a question", async () => {
    const { llm, client, sent, errors } = await desk([]);
    const tools = [{ name: "show_map", description: "Shows a map.", parameters: { type: "object", properties: {} } }];

    llm.reply([...content("Good ", "morning."), ...end("stop")]);
    expect((await client.say("Hello", { tools })).text).toBe("Good morning.");

    llm.reply(
      [
        ...content("Let me see."),
        ...toolCall(0, "call_b1", "book_flight", '{"fli', 'ght":"LH4', '41"}'),
        ...end("tool_calls", 100, 20),
      ],
      [...content("All set."), ...end("stop", 130, 5)],
    );
    const asked = await client.say("Book LH441", { tools });
    expect(soleInterrupt(asked)).toMatchObject({ message: "Book LH441? (yes/no)", toolCallId: "call_b1" });
    expect(asked.events.at(-1)?.usage).toMatchObject([{ provider: "local.chat", model: "tiny", totalTokens: 120 }]);
    const booked = await client.answer(soleInterrupt(asked), "yes");
    expect(typesOf(booked).slice(0, 2)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT"]);
    expect(booked.events[1]?.content).toBe("LH441 is booked.");
    expect(booked.text).toBe("All set.");
    expect(booked.events.at(-1)?.usage).toMatchObject([{ totalTokens: 135 }]);

    const mail = (id: string) => toolCall(0, id, "send_email", '{"to":"ada",', '"text":"hi"}');
    llm.reply([...mail("call_m1"), ...end("tool_calls")], [...content("Then not."), ...end("stop")]);
    const denied = await client.answer(soleInterrupt(await client.say("Mail Ada", { tools })), false);
    expect(denied.events[1]?.content).toBe("User denied the tool call request");
    expect(denied.text).toBe("Then not.");
    expect(sent).toEqual([]);

    llm.reply([...mail("call_m2"), ...end("tool_calls")], [...content("Mailed."), ...end("stop")]);
    const edits = { approved: true, editedArgs: { to: "bob", text: "hi" } };
    const edited = await client.answer(soleInterrupt(await client.say("Mail her after all", { tools })), edits);
    expect(edited.text).toBe("Mailed.");
    expect(sent).toEqual([{ to: "bob", text: "hi" }]);
    const shown = llm.requests
      .at(-1)
      ?.messages.flatMap(({ tool_calls }) => tool_calls ?? [])
      .at(-1);
    expect(JSON.parse(shown?.function.arguments ?? "")).toEqual({ to: "bob", text: "hi" });

    llm.reply([...toolCall(0, "call_f1", "show_map", '{"city":"Rome"}'), ...end("tool_calls")]);
    const mapped = await client.say("Show me", { tools });
    expect(mapped.outcome).toEqual({ type: "success", pendingToolCallIds: ["call_f1"] });
    client.agent.addMessage({ id: "map-shown", role: "tool", toolCallId: "call_f1", content: "shown" });
    llm.reply([...content("There."), ...end("stop")]);
    expect((await client.run({ tools })).text).toBe("There.");

    llm.reply([
      ...toolCall(0, "call_r1", "request_input", '{"reason":"two fit",', '"prompt":"Afternoon or evening?"}'),
      ...end("tool_calls"),
    ]);
    const required = await client.say("Another flight", { tools });
    expect(required.result).toEqual({ status: "input-required", message: "Afternoon or evening?" });
    expect(required.text).toBe("Afternoon or evening?");
    llm.reply([...content("LH429, then."), ...end("stop")]);
    expect((await client.say("Evening", { tools })).text).toBe("LH429, then.");

    // What the client has kept of all this is a conversation that any provider takes, and nothing was told that is not for it.
    for (const { messages } of llm.requests) checkConversation(messages);
    expect(JSON.stringify(client.agent.messages)).not.toContain("two fit");
    expect(llm.requests.at(-1)?.messages.filter(({ role }) => role === "user")).toHaveLength(7);
    const edit = llm.requests
      .at(-1)
      ?.messages.flatMap(({ tool_calls }) => tool_calls ?? [])
      .find(({ id }) => id === "call_m2");
    expect(JSON.parse(edit?.function.arguments ?? "")).toEqual({ to: "bob", text: "hi" });
    expect(errors).toEqual([]);
  });

  it("asks once for two calls that were split over many chunks, and gives each its answer", async () => {
    const { llm, client } = await desk([
      [
        ...interleave(
          toolCall(0, "call_a", "book_flight", '{"fl', 'ight":', '"LH441"', "}"),
          toolCall(1, "call_b", "book_flight", '{"flight"', ':"LH', '442"}'),
        ),
        ...end("tool_calls"),
      ],
      [...content("Both."), ...end("stop")],
    ]);
    const asked = await client.say("Both, please");
    const [first, second] = twoInterrupts(asked);
    expect([first, second].map(({ toolCallId, message }) => [toolCallId, message])).toEqual([
      ["call_a", "Book LH441? (yes/no)"],
      ["call_b", "Book LH442? (yes/no)"],
    ]);
    const run = await client.resume([answerTo(second, "no"), answerTo(first, "yes")]);
    expect(run.text).toBe("Both.");
    const told = llm.requests[1]?.messages.filter(({ role }) => role === "tool");
    expect(told?.map(({ tool_call_id, content: text }) => [tool_call_id, text])).toEqual([
      ["call_a", "LH441 is booked."],
      ["call_b", "LH442 was not booked."],
    ]);
    checkConversation(llm.requests[1]?.messages ?? []);
  });

  it("lets the model correct arguments that are not JSON", async () => {
    const { llm, client } = await desk([
      [...toolCall(0, "call_1", "book_flight", '{"flight": LH441'), ...end("tool_calls")],
      [...content("Sorry."), ...end("stop")],
    ]);
    const run = await client.say("Book it");
    expect(run.text).toBe("Sorry.");
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_ARGS").map(({ delta }) => delta)).toEqual([
      '{"flight": LH441',
    ]);
    checkConversation(llm.requests[1]?.messages ?? []);
    llm.reply([...content("Again."), ...end("stop")]);
    expect((await client.say("And now?")).text).toBe("Again.");
    checkConversation(llm.requests[2]?.messages ?? []);
  });
});

describe("a model's server that fails", () => {
  const half = toolCall(0, "call_1", "book_flight", '{"flight":"LH4');

  it.each<[string, Reply]>([
    ["with an error", (response) => fail(response, 500, "db password is hunter2")],
    ["with too many requests", (response) => fail(response, 429, "slow down, hunter2", { "retry-after": "0" })],
    [
      "with what is no stream",
      (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"hunter2":'),
    ],
    ["in the middle of its text", [...content("Let me"), { error: { message: "overloaded: hunter2" } }]],
    [
      "by dropping the connection after half a call",
      async (response) => {
        begin(response);
        for (const chunk of half) await new Promise((resolve) => response.write(frame(chunk), resolve));
        response.destroy();
      },
    ],
    ["by ending after half a call", half],
    [
      "by ending its body after half a call, without a word",
      (response) => {
        begin(response);
        response.end(half.map(frame).join(""));
      },
    ],
  ])("%s ends the run as failed, with nothing run and nothing told, and the next one serves", async (_what, reply) => {
    const { llm, client, errors, stats } = await desk([reply]);
    const run = await client.say("Book LH441");
    expect(endOf(run)).toBe("AGENT_FAILED");
    expect(run.raw).not.toContain("hunter2");
    expect(run.interrupts).toEqual([]);
    expect(errors).toHaveLength(1);
    expect(stats()).toMatchObject({ held: 0, running: 0 });
    llm.reply([...content("Here again."), ...end("stop")]);
    expect((await client.say("Still there?")).text).toBe("Here again.");
    checkConversation(llm.requests.at(-1)?.messages ?? []);
  });

  it("is asked again where that may help", async () => {
    const { llm, client } = await desk(
      [
        (response) => fail(response, 429, "slow down", { "retry-after-ms": "1" }),
        [...content("Here."), ...end("stop")],
      ],
      { maxRetries: 1 },
    );
    expect((await client.say("Hello")).text).toBe("Here.");
    expect(llm.requests).toHaveLength(2);
  });

  it("is let go when the client leaves while it stalls", async () => {
    const { llm, client, stats, errors } = await desk([
      (response) => {
        begin(response);
        response.write(frame(content("Well")[0] ?? {}));
      },
    ]);
    const running = client.say("Hello").catch((error: unknown) => error);
    await until(() => llm.requests.length > 0, "the model's call");
    client.agent.abortRun();
    await until(() => llm.dropped > 0 && stats().running === 0, "the end of both");
    await running;
    expect(errors).toEqual([]);
  });

  it("fails the run where the application bounds its silence", async () => {
    const { llm, client } = await desk(
      [
        (response) => {
          begin(response);
          response.write(frame(content("Well")[0] ?? {}));
        },
      ],
      { timeout: { chunkMs: 1_000 } },
    );
    expect(endOf(await client.say("Hello"))).toBe("AGENT_FAILED");
    await until(() => llm.dropped > 0, "the end of the model's answer");
  });
});

describe("an answer that stops at its length", () => {
  it.each<[string, Reply]>([
    [
      "in the middle of a question to end the turn with",
      [...toolCall(0, "call_1", "request_input", '{"prompt":"Afternoon or'), ...end("length")],
    ],
    [
      "in the middle of a call that would ask",
      [...toolCall(0, "call_1", "book_flight", '{"flight":"LH'), ...end("length")],
    ],
    [
      "right behind a call that would ask",
      [...toolCall(0, "call_1", "book_flight", '{"flight":"LH441"}'), ...end("length")],
    ],
    [
      "in the middle of a call for approval",
      [...toolCall(0, "call_1", "send_email", '{"to":"ada","text":"'), ...end("length")],
    ],
  ])("%s asks nothing and is cancelled; the next message is served", async (_what, reply) => {
    const { llm, client, sent } = await desk([reply]);
    const run = await client.say("Hello");
    expect(run.outcome).toEqual({ type: "cancelled" });
    expect(run.text).toBe("");
    expect(run.events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toHaveLength(1);
    llm.reply([...content("Yes?"), ...end("stop")]);
    expect((await client.say("Go on")).text).toBe("Yes?");
    for (const { messages } of llm.requests) checkConversation(messages);
    expect(llm.requests).toHaveLength(2);
    expect(sent).toEqual([]);
  });
});
