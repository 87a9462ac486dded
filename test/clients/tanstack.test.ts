/** TanStack AI's chat client, straight to the server: it speaks AG-UI by itself. */
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { describe, expect, it } from "vitest";
import { abandon, answer } from "../../src/client/index.ts";
import { type NodeAgent, nodeAgent } from "../support/node-agent.ts";
import { type Conversation, describeClient } from "./suite.ts";

type Entries = Parameters<ChatClient["resumeInterruptsUnsafe"]>[0];

function chat({ url }: NodeAgent, withProofs: boolean): Conversation & { client: ChatClient } {
  const client = new ChatClient({ connection: fetchServerSentEvents(url), threadId: "t" });
  return {
    client,
    say: async (text) => void (await client.sendMessage(text)),
    async reply(...replies) {
      const entries = client.getInterrupts().map((interrupt) => {
        const reply = replies.find(({ to }) => to === interrupt.message);
        if (reply === undefined) throw new Error(`There is no reply to ${interrupt.message}.`);
        const entry = "payload" in reply ? answer(interrupt as never, reply.payload) : abandon(interrupt as never);
        const { metadata: _metadata, ...byIdAlone } = entry;
        return withProofs ? entry : byIdAlone;
      });
      await client.resumeInterruptsUnsafe(entries as Entries);
    },
    open: () => client.getInterrupts().map(({ message }) => message ?? ""),
    shown: () =>
      client
        .getMessages()
        .filter(({ role }) => role === "assistant")
        .flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.content : "")))
        .join("\n"),
    error: () => client.getError()?.message,
    close: async () => client.stop(),
  };
}

describeClient({
  name: "@tanstack/ai-client, with the entries of holdline/client",
  forgetsRefused: true,
  connect: (server) => chat(server, true),
});

describeClient({
  name: '@tanstack/ai-client, by id alone and with proof: "when-present"',
  forgetsRefused: true,
  options: { proof: "when-present", onWarning: () => {} },
  connect: (server) => chat(server, false),
});

describe("@tanstack/ai-client", () => {
  it("declares no version, and sends a member of its own, which is stripped with a warning", async () => {
    let declared: string | undefined = "none yet";
    const server = await nodeAgent(async (context) => {
      declared = context.run.protocolVersion;
    });
    const { client, say } = chat(server, true);
    await say("Hello");
    expect(declared).toBeUndefined();
    expect(server.warnings).toMatchObject([{ code: "INPUT_STRIPPED", path: "data" }]);
    client.stop();
  });

  it("shows our questions, but its own resolveInterrupt is for those of its own server: resume entries are needed", async () => {
    const server = await nodeAgent((context) => context.input("Where to?"));
    const { client, say } = chat(server, true);
    await say("Ask");
    const [interrupt] = client.getInterrupts();
    expect(interrupt).toMatchObject({ kind: "unbound", canResolve: false, status: "pending", message: "Where to?" });
    expect(interrupt).not.toHaveProperty("resolveInterrupt");
    client.stop();
  });

  it("answers again after a refusal with an interrupt that its application kept", async () => {
    const seen: unknown[] = [];
    const server = await nodeAgent(async (context) => {
      seen.push(await context.input("How many seats?", { jsonSchema: { type: "integer" } }));
    });
    const { client, say } = chat(server, true);
    await say("Count");
    const [kept] = client.getInterrupts();
    const run = client.getResumeState();
    const send = (payload: unknown) =>
      client.resumeInterruptsUnsafe([answer(kept as never, payload)] as Entries, run ?? undefined);
    await send("none");
    expect([seen, client.getInterrupts()]).toEqual([[], []]);
    await send(2);
    expect(seen).toEqual([2]);
    client.stop();
  });

  it("is refused when it answers by id alone", async () => {
    const seen: unknown[] = [];
    const server = await nodeAgent(async (context) => void seen.push(await context.input("Where to?")));
    const person = chat(server, false);
    await person.say("Ask");
    await person.reply({ to: "Where to?", payload: "Oslo" });
    expect(seen).toEqual([]);
    expect(person.error()).toContain("does not carry the proof");
    expect(server.handler.stats()).toMatchObject({ held: 1, refused: { INTERRUPT_NOT_PROVEN: 1 } });
    person.client.stop();
  });
});
