/** The protocol's own client, its current version and the last before 1.0, as an application uses them. */
import * as current from "@ag-ui/client";
import * as legacy from "ag-ui-client-0";
import { describe, expect, it } from "vitest";
import { abandon, answer, echoProofs } from "../../src/client/index.ts";
import { nodeAgent } from "../support/node-agent.ts";
import { httpAgentConversation } from "./http-agent.ts";
import { describeClient } from "./suite.ts";

const versions = [
  ["@ag-ui/client 1.0.0", current, {}],
  [
    "@ag-ui/client 0.0.59",
    legacy as unknown as typeof current,
    { failsOnCancelled: "Expected 'success' | 'interrupt'" },
  ],
] as const;

for (const [name, client, reads] of versions) {
  describeClient({
    ...reads,
    name: `${name}, with the entries of holdline/client`,
    connect: ({ url }) =>
      httpAgentConversation(new client.HttpAgent({ url, threadId: "t" }), (pending, responses) =>
        pending.map((interrupt) => {
          const { status, payload } = responses[interrupt.id] ?? {};
          return status === "resolved" ? answer(interrupt, payload) : abandon(interrupt);
        }),
      ),
  });

  describeClient({
    ...reads,
    name: `${name}, with its own buildResumeArray and echoProofs()`,
    connect({ url }) {
      const agent = new client.HttpAgent({ url, threadId: "t" });
      agent.use(echoProofs());
      return httpAgentConversation(agent, client.buildResumeArray);
    },
  });

  describeClient({
    ...reads,
    name: `${name}, with its own buildResumeArray and proof: "when-present"`,
    options: { proof: "when-present", onWarning: () => {} },
    connect: ({ url }) => httpAgentConversation(new client.HttpAgent({ url, threadId: "t" }), client.buildResumeArray),
  });

  describe(`${name}, with its own buildResumeArray and nothing else`, () => {
    it("is refused: it leaves an interrupt's metadata behind", async () => {
      const seen: unknown[] = [];
      const server = await nodeAgent(async (context) => void seen.push(await context.input("Where to?")));
      const person = httpAgentConversation(new client.HttpAgent({ url: server.url }), client.buildResumeArray);
      await person.say("Ask");
      await person.reply({ to: "Where to?", payload: "Oslo" });
      expect([seen, person.error()]).toEqual([[], "INTERRUPT_NOT_PROVEN"]);
      expect(server.handler.stats().held).toBe(1);
    });
  });

  describe(`${name}, asked a question that may be answered with null`, () => {
    const isCurrent = client === current;
    it(isCurrent ? "cannot say so: its answer has no payload then" : "says so", async () => {
      const seen: unknown[] = [];
      const server = await nodeAgent(async (context) => void seen.push(await context.input("A?", { jsonSchema: {} })));
      const agent = new client.HttpAgent({ url: server.url });
      agent.use(echoProofs());
      const person = httpAgentConversation(agent, client.buildResumeArray);
      await person.say("Ask");
      await person.reply({ to: "A?", payload: null });
      expect([seen, person.error()]).toEqual(isCurrent ? [[], "INTERRUPT_PAYLOAD_REFUSED"] : [[null], undefined]);
    });
  });
}
