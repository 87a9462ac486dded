import { AgentCapabilitiesSchema } from "@ag-ui/core/schemas";
import { describe, expect, it, vi } from "vitest";
import { createHandler, type HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";

async function capabilitiesOf(options: Partial<HandlerOptions>, method = "GET") {
  const { clock: _clock, ...rest } = options;
  const agent = agentUnderTest({ agent: async () => {}, ...rest });
  const response = await agent.handler.handle(new Request("http://agent.test/", { method }));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  const text = await response.text();
  if (method === "HEAD") return text;
  expect(AgentCapabilitiesSchema.parse(JSON.parse(text))).toEqual(JSON.parse(text));
  return JSON.parse(text);
}

describe("the capabilities document", () => {
  it("is what GET serves, and HEAD without the body", async () => {
    expect(await capabilitiesOf({})).toEqual({
      transport: { streaming: true },
      humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: false },
    });
    expect(await capabilitiesOf({}, "HEAD")).toBe("");
  });

  it("is merged over what is derived, group by group", async () => {
    const found = await capabilitiesOf({
      capabilities: {
        identity: { name: "Booker" },
        transport: { websocket: false },
        humanInTheLoop: { feedback: true, approvals: false },
      },
      approvals: { allowEdits: true },
    });
    expect(found).toEqual({
      identity: { name: "Booker" },
      transport: { streaming: true, websocket: false },
      humanInTheLoop: {
        supported: true,
        approvals: false,
        interrupts: true,
        approveWithEdits: true,
        feedback: true,
      },
    });
  });

  it.each<[string, Partial<HandlerOptions>]>([
    ["with hold: false", { hold: false }],
    ["with a hook in the client's place", { humanInput: () => "x" }],
  ])("says interrupts: false %s, whatever is claimed", async (_what, options) => {
    const claimed = { humanInTheLoop: { interrupts: true, approveWithEdits: true, feedback: true } };
    const found = await capabilitiesOf({ ...options, approvals: { allowEdits: true }, capabilities: claimed });
    expect(found.humanInTheLoop).toMatchObject({ interrupts: false, approveWithEdits: false, feedback: true });
  });
});

describe("hold", () => {
  it("is false by itself where the runtime is a stateless Worker, unless it is said to be true", async () => {
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
    try {
      expect((await capabilitiesOf({})).humanInTheLoop.interrupts).toBe(false);
      expect((await capabilitiesOf({ hold: true })).humanInTheLoop.interrupts).toBe(true);
      const agent = agentUnderTest(async (context) => context.input("A?").catch((error) => error.code));
      expect((await agent.run("go")).result).toBe("HOLD_UNAVAILABLE");
      vi.stubGlobal("navigator", { userAgent: "Node.js/20" });
      expect((await capabilitiesOf({})).humanInTheLoop.interrupts).toBe(true);
      vi.stubGlobal("navigator", undefined);
      expect((await capabilitiesOf({})).humanInTheLoop.interrupts).toBe(true);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("is read once, at creation", async () => {
    const handler = createHandler({ agent: async () => {} });
    vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
    const response = await handler.handle(new Request("http://agent.test/"));
    vi.unstubAllGlobals();
    expect((await response.json()).humanInTheLoop.interrupts).toBe(true);
  });
});
