/**
 * CopilotKit: its runtime on a socket of its own, with an `HttpAgent` to our server inside, and before it what its frontend
 * is made of: its core, whose agent for a runtime's agent is what its hooks run, and the state in which its hook keeps answers.
 */
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { getRequestListener } from "@hono/node-server";
import { beforeAll, describe, expect, it } from "vitest";
import { echoProofs } from "../../src/client/index.ts";
import { listen } from "../support/listen.ts";
import { type NodeAgent, nodeAgent } from "../support/node-agent.ts";
import { httpAgentConversation } from "./http-agent.ts";
import { type Conversation, describeClient } from "./suite.ts";

// biome-ignore lint/suspicious/noExplicitAny: packages of the bench's own folder, which this project does not see.
let kit: { runtime: any; core: any; client: any };

beforeAll(async () => {
  process.env.COPILOTKIT_TELEMETRY_DISABLED = "true";
  const { installPeers } = await import(new URL("../../bench/install.mjs", import.meta.url).href);
  installPeers();
  const peers = createRequire(new URL("../../bench/package.json", import.meta.url));
  const load = (name: string) => import(pathToFileURL(peers.resolve(name)).href);
  kit = {
    runtime: await load("@copilotkit/runtime/v2"),
    core: await load("@copilotkit/core"),
    client: await load("@ag-ui/client"),
  };
}, 300_000);

async function runtimeBefore(server: NodeAgent, withProofs: boolean): Promise<string> {
  const agent = new kit.client.HttpAgent({ url: server.url });
  if (withProofs) agent.use(echoProofs());
  const runtime = new kit.runtime.CopilotRuntime({ agents: { booker: agent } });
  const handle = kit.runtime.createCopilotRuntimeHandler({ runtime, basePath: "/api" });
  const { url } = await listen(createServer(getRequestListener(handle)));
  return `${url}api`;
}

async function talk(server: NodeAgent, withProofs: boolean): Promise<Conversation> {
  const runtimeUrl = await runtimeBefore(server, withProofs);
  const agent = new kit.core.ProxiedCopilotRuntimeAgent({ runtimeUrl, agentId: "booker", threadId: "t" });
  return httpAgentConversation(agent, kit.client.buildResumeArray);
}

/** What its client says when the stream that it could not read has ended. */
const failsOnCancelled = "INCOMPLETE_STREAM";

describeClient({
  name: "CopilotKit's runtime, with echoProofs() on its agent",
  failsOnCancelled,
  connect: (server) => talk(server, true),
});

describeClient({
  name: 'CopilotKit\'s runtime, with proof: "when-present"',
  failsOnCancelled,
  options: { proof: "when-present", onWarning: () => {} },
  connect: (server) => talk(server, false),
});

describe("CopilotKit", () => {
  it("is refused with neither of the two", async () => {
    const seen: unknown[] = [];
    const server = await nodeAgent(async (context) => void seen.push(await context.input("Where to?")));
    const person = await talk(server, false);
    await person.say("Ask");
    await person.reply({ to: "Where to?", payload: "Oslo" });
    expect([seen, person.error()]).toEqual([[], "INTERRUPT_NOT_PROVEN"]);
    expect(server.handler.stats().held).toBe(1);
  });

  it.each([
    ["leaves the call's result to the server, as reasons are by default", undefined, 0],
    ['adds a result of its own to the call with reasons: "core", beside the server\'s', "core" as const, 1],
  ])("%s", async (_name, reasons, added) => {
    const server = await nodeAgent({
      ...(reasons === undefined ? {} : { reasons }),
      agent: (context) => context.toolCall("book", {}, () => "Booked.", { approval: true }),
    });
    const runtimeUrl = await runtimeBefore(server, true);
    const agent = new kit.core.ProxiedCopilotRuntimeAgent({ runtimeUrl, agentId: "booker", threadId: "t" });
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    const state = new kit.core.ɵInterruptState();
    state.setStandard(agent.pendingInterrupts);
    const action = state.resolve({ approved: true }, interrupt.id);
    expect(action).toMatchObject({ kind: "resume", resume: [{ interruptId: interrupt.id, status: "resolved" }] });
    expect(action.toolResults).toHaveLength(added);
  });
});
