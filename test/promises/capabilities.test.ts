import { AgentCapabilitiesSchema } from "@ag-ui/core/schemas";
import { describe, expect, it, vi } from "vitest";
import { type AgentContext, createHandler, type HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { inputOf, openExchange, requestOf } from "../support/open-exchange.ts";
import { soleInterrupt } from "../support/runs.ts";

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

/** What is declared with these options, and what a run of theirs does. */
describe("what is declared as true is done, and the option that takes it away declares it false (P170)", () => {
  type Declared = Record<string, boolean>;
  const declared = async (options: Partial<HandlerOptions>): Promise<Declared> => {
    const { transport, humanInTheLoop } = await capabilitiesOf(options);
    return { ...transport, ...humanInTheLoop };
  };

  it("transport.streaming: an event arrives while its agent goes on", async () => {
    expect((await declared({})).streaming).toBe(true);
    const agent = agentUnderTest(async (context) => {
      await context.text("Hello");
      return new Promise(() => {});
    });
    const open = await openExchange(agent.handler.handle);
    expect((await open.read(3)).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
    ]);
    await open.leave();
  });

  it("transport.httpBinary: protobuf is answered where transports.protobuf is true, and nowhere else", async () => {
    const accept = { accept: "application/vnd.ag-ui.event+proto" };
    const answers = async (options: Partial<HandlerOptions>) => {
      const { clock: _clock, ...rest } = options;
      const agent = agentUnderTest({ agent: async () => {}, ...rest });
      const response = await agent.handler.handle(requestOf(inputOf(), { headers: accept }));
      await response.arrayBuffer();
      return response.headers.get("content-type");
    };
    const on = { transports: { protobuf: true } };
    expect([(await declared(on)).httpBinary, await answers(on)]).toEqual([true, accept.accept]);
    const off = { capabilities: { transport: { httpBinary: true } } };
    expect([(await declared(off)).httpBinary, await answers(off)]).toEqual([false, "text/event-stream"]);
    expect(await declared({})).not.toHaveProperty("httpBinary");
  });

  const ask = (context: AgentContext) => context.input("Sure?").catch((error) => error.code);
  it("humanInTheLoop.interrupts: a run ends as an interrupt and a resume is taken; not with hold: false, nor with a hook", async () => {
    const held = agentUnderTest(ask);
    expect((await declared({})).interrupts).toBe(true);
    expect((await held.answer(soleInterrupt(await held.run("Go")), "yes")).result).toBe("yes");

    for (const [options, result] of [
      [{ hold: false }, "HOLD_UNAVAILABLE"],
      [{ humanInput: () => "hook" }, "hook"],
    ] as const) {
      expect((await declared(options)).interrupts).toBe(false);
      const run = await agentUnderTest({ agent: ask, ...options }).run("Go");
      expect([run.outcome?.type, run.result]).toEqual(["success", result]);
    }
  });

  it("humanInTheLoop.interrupts: an agent that keeps its own ends as an interrupt, also where nothing is held", async () => {
    const agent = Object.assign(
      async (context: AgentContext) => context.interrupted([{ id: "its own", reason: "input" }]),
      { keepsInterrupts: true },
    );
    const options = { agent, hold: false };
    expect((await capabilitiesOf(options)).humanInTheLoop).toMatchObject({ interrupts: true, approveWithEdits: false });
    expect(soleInterrupt(await agentUnderTest(options).run("Go")).id).toBe("its own");
  });

  it("humanInTheLoop.approvals: a gated call runs once it is approved, by the client or a hook; never with hold: false", async () => {
    let ran = 0;
    const book = (context: AgentContext) =>
      context.toolCall("book", {}, () => ++ran, { approval: true }).catch((error) => error.code);
    const held = agentUnderTest(book);
    expect((await declared({})).approvals).toBe(true);
    const asked = soleInterrupt(await held.run("Go"));
    expect(ran).toBe(0);
    expect((await held.answer(asked, true)).result).toBe(1);

    const hook = { humanInput: () => true };
    expect((await declared(hook)).approvals).toBe(true);
    expect((await agentUnderTest({ agent: book, ...hook }).run("Go")).result).toBe(2);

    expect((await declared({ hold: false })).approvals).toBe(false);
    expect((await agentUnderTest({ agent: book, hold: false }).run("Go")).result).toBe("HOLD_UNAVAILABLE");
    expect(ran).toBe(2);
  });

  it("humanInTheLoop.approveWithEdits: edited arguments are run with allowEdits, and refused without", async () => {
    const book = (context: AgentContext) =>
      context.toolCall("book", { flight: "LH441" }, ({ flight }) => flight, { approval: true });
    const edited = { approved: true, editedArgs: { flight: "LH442" } };
    const answered = async (options: Partial<HandlerOptions>) => {
      const { clock: _clock, ...rest } = options;
      const agent = agentUnderTest({ agent: book, ...rest });
      return agent.answer(soleInterrupt(await agent.run("Go")), edited);
    };
    const edits = { approvals: { allowEdits: true } };
    expect([(await declared(edits)).approveWithEdits, (await answered(edits)).result]).toEqual([true, "LH442"]);
    expect([(await declared({})).approveWithEdits, (await answered({})).error?.code]).toEqual([
      false,
      "INTERRUPT_PAYLOAD_REFUSED",
    ]);
    expect((await declared({ ...edits, hold: false })).approveWithEdits).toBe(false);
  });

  it("humanInTheLoop.supported: where nothing can be held, a person is still asked by turn control", async () => {
    expect((await declared({ hold: false })).supported).toBe(true);
    const agent = agentUnderTest({ hold: false, agent: async (context) => context.inputRequired("Which day?") });
    const run = await agent.run("Go");
    expect([run.text, run.result]).toEqual(["Which day?", { status: "input-required", message: "Which day?" }]);
  });

  it("gates no run: what is declared as false is served all the same (P171)", async () => {
    const agent = agentUnderTest({
      agent: ask,
      capabilities: { humanInTheLoop: { supported: false, interrupts: false }, tools: { clientProvided: false } },
    });
    const tools = [{ name: "seat", description: "Shows the seats." }];
    expect((await agent.run({ tools })).interrupts).toHaveLength(1);
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
