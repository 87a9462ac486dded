import { buildResumeArray, type ResumeEntry } from "@ag-ui/client";
import type { Interrupt } from "@ag-ui/core";
import { describe, expect, it } from "vitest";
import { PublicError } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { httpClient } from "../support/http-client.ts";
import { openExchange } from "../support/open-exchange.ts";
import { answerTo, endOf, isLone, proofOf, soleInterrupt, typesOf } from "../support/runs.ts";

const approved = {
  type: "object",
  properties: { approved: { type: "boolean" } },
  required: ["approved"],
  additionalProperties: false,
};

/** The least a form for a `responseSchema` would send. */
function formFor(schema: Record<string, unknown>): unknown {
  if (schema.type === "string") return "yes";
  if (schema.type === "boolean") return true;
  if (schema.type !== "object") throw new Error(`No form for ${JSON.stringify(schema)}`);
  const properties = schema.properties as Record<string, Record<string, unknown>>;
  return Object.fromEntries((schema.required as string[]).map((name) => [name, formFor(properties[name] ?? {})]));
}

describe("B14 a resume built by the official client's own helper", () => {
  it("answers, with the interrupt's metadata copied and a payload made of its schema alone", async () => {
    const asking = askingAgent((tool) => tool.input("Book LH441?", { jsonSchema: approved }));
    const { handler } = agentUnderTest(asking.agent);
    const client = httpClient({ post: handler.fetch });
    const interrupt = soleInterrupt(await client.say("Book it"));
    const { id, metadata, responseSchema } = interrupt as Required<Interrupt>;
    expect(client.agent.pendingInterrupts).toEqual([interrupt]);
    const payload = formFor(responseSchema);
    const resume = buildResumeArray(client.agent.pendingInterrupts, {
      [id]: { status: "resolved", payload, metadata },
    });
    expect(endOf(await client.run({ resume }))).toBe("success");
    expect(asking.answers).toEqual([{ approved: true }]);
    expect(client.agent.pendingInterrupts).toEqual([]);
    expect(client.agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  it("gives up the same way", async () => {
    const asking = askingAgent();
    const { handler } = agentUnderTest(asking.agent);
    const client = httpClient({ post: handler.fetch });
    const { id, metadata = {} } = soleInterrupt(await client.say("Book it"));
    const resume = buildResumeArray(client.agent.pendingInterrupts, { [id]: { status: "cancelled", metadata } });
    expect(endOf(await client.run({ resume }))).toBe("cancelled");
    expect(asking).toMatchObject({ after: 0, rejections: [{ code: "INTERRUPT_CANCELLED" }] });
  });

  it("without the metadata it is told both ways out, and the question stays open", async () => {
    const asking = askingAgent();
    const { handler } = agentUnderTest(asking.agent);
    const client = httpClient({ post: handler.fetch });
    const interrupt = soleInterrupt(await client.say("Book it"));
    const bare: ResumeEntry[] = buildResumeArray([interrupt], {
      [interrupt.id]: { status: "resolved", payload: "yes" },
    });
    const refused = await client.run({ resume: bare });
    expect(endOf(refused)).toBe("INTERRUPT_NOT_PROVEN");
    expect(refused.error?.message).toMatch(/echoProofs\(\).*proof: "when-present"/);
    expect(endOf(await client.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});

describe("B15 a proof is told once, to whom it was asked", () => {
  it("occurs in no other byte, log, error or report, and neither does the interrupt's id", async () => {
    const logged: unknown[] = [];
    const agent = agentUnderTest({
      agent: askingAgent().agent,
      onWarning: (warning) => logged.push(warning),
      onError: (error, where) => logged.push(String(error), where),
    });
    const first = await agent.run("Book it");
    const interrupt = soleInterrupt(first);
    const proof = proofOf(interrupt);
    expect(first.raw.split(proof)).toHaveLength(2);
    const wrong = (proof[0] === "A" ? "B" : "A") + proof.slice(1);
    const others = [
      await agent.run("A plain run"),
      await agent.answer({ id: interrupt.id, metadata: { holdline: { proof: wrong } } }, "yes"),
      await agent.answer({ id: interrupt.id }, "yes"),
      await agent.answer({ ...interrupt, id: "int_none" }, "yes"),
      await agent.answer(interrupt, 7),
    ];
    expect(others.map(endOf)).toEqual([
      "INTERRUPT_NOT_COVERED",
      "INTERRUPT_NOT_PROVEN",
      "INTERRUPT_NOT_PROVEN",
      "INTERRUPT_NOT_OUTSTANDING (unknown)",
      "INTERRUPT_PAYLOAD_REFUSED",
    ]);
    const get = await agent.handler.fetch(new Request("http://agent.test/"));
    const options = await agent.handler.fetch(new Request("http://agent.test/", { method: "OPTIONS" }));
    const told = [
      ...others.map(({ raw }) => raw),
      await get.text(),
      JSON.stringify([[...get.headers], [...options.headers], await options.text()]),
      JSON.stringify([logged, agent.warnings, agent.errors, agent.handler.stats()]),
    ];
    for (const bytes of told) {
      expect(bytes).not.toContain(proof);
      expect(bytes).not.toContain(interrupt.id);
    }
    const { inspect } = agent.handler;
    expect(JSON.stringify(inspect())).toContain(interrupt.id);
    expect(JSON.stringify(inspect())).not.toContain(proof);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("success");
  });
});

describe("B17 a turn that fails after its answer", () => {
  it.each([
    ["with an error of its own", () => new Error("The model is gone."), "AGENT_FAILED", "The agent failed."],
    ["with words for the client", () => new PublicError("Sold out.", { code: "SOLD_OUT" }), "SOLD_OUT", "Sold out."],
  ])("%s ends in that error, and the answer is spent", async (_how, error, code, message) => {
    let after = 0;
    const agent = agentUnderTest(async (context) => {
      await context.input("Book LH441?");
      after++;
      throw error();
    });
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const failed = await agent.answer(interrupt, "yes");
    expect(typesOf(failed)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(failed.error).toMatchObject({ code, message });
    expect(agent.errors.map((reported) => String(reported.error))).toEqual([String(error())]);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(after).toBe(1);
  });

  it("a client that leaves as the head arrives finds its answer spent, and nothing done twice", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const open = await openExchange(agent.handler.fetch, { resume: [answerTo(interrupt, "yes")] });
    await open.leave();
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(asking).toMatchObject({ entered: 1, after: 1, answers: ["yes"] });
    expect(typesOf(await agent.run("Another"))).toEqual(ASKED);
  });
});

describe("B18 refusals cost the question nothing", () => {
  const asks = () => askingAgent((tool) => tool.input("Book LH441?", { jsonSchema: approved }));

  it("ten in a row neither use it up, nor evict it, nor move its deadline", async () => {
    for (const [late, end] of [
      [99, "success"],
      [100, "INTERRUPT_NOT_HELD (expired)"],
    ] as const) {
      const asking = asks();
      const agent = agentUnderTest({ agent: asking.agent, retention: { ttlMs: 1_000, maxHeld: 1 } });
      const interrupt = soleInterrupt(await agent.run("Book it"));
      for (let time = 0; time < 10; time++) {
        const payload = time % 2 === 0 ? { approved: "yes" } : undefined;
        const refused = await agent.answer(interrupt, payload);
        expect([endOf(refused), isLone(refused)]).toEqual(["INTERRUPT_PAYLOAD_REFUSED", true]);
        await agent.clock.advance(90);
      }
      await agent.clock.advance(late);
      expect(endOf(await agent.answer(interrupt, { approved: true }))).toBe(end);
      expect(asking.answers).toEqual(end === "success" ? [{ approved: true }] : []);
      expect(agent.handler.stats().refused.INTERRUPT_PAYLOAD_REFUSED).toBe(10);
    }
  });

  it("of a wrong one and a right one at once the right one wins", async () => {
    const asking = asks();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const runs = await Promise.all([
      agent.answer(interrupt, { approved: "yes" }),
      agent.answer(interrupt, { approved: false }),
    ]);
    expect(runs.map(endOf)).toEqual(["INTERRUPT_PAYLOAD_REFUSED", "success"]);
    expect(asking.answers).toEqual([{ approved: false }]);
  });
});

describe("B20 a run id used again", () => {
  it("is accepted: the events carry it, and the run is its own", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const asked = await agent.run({ runId: "r1" });
    const answered = await agent.answer(soleInterrupt(asked), "yes", { runId: "r1" });
    expect(typesOf(answered)).toEqual(ANSWERED);
    expect(answered.events.at(-1)).toMatchObject({ runId: "r1", outcome: { type: "success" } });
    expect(asking).toMatchObject({ entered: 1, answers: ["yes"] });
  });
});

describe("B21 the history that comes with an answer", () => {
  it.each(["no messages", "the whole transcript", "the transcript and a new message"])(
    "%s: seen by the agent, and nothing is done with it",
    async (which) => {
      const seen: unknown[] = [];
      const asking = askingAgent(async (tool, context) => {
        const answer = await tool.input("Book LH441?");
        seen.push(context.run.messages, context.userText);
        return answer;
      });
      const agent = agentUnderTest(asking.agent);
      const asked = await agent.run("Book it");
      const transcript = (await checkWithClient(asked.raw, asked.input)).messages;
      expect(transcript.map(({ role }) => role)).toEqual(["user", "assistant"]);
      const more = { id: "message-9", role: "user" as const, content: "And hurry" };
      const messages =
        which === "no messages" ? [] : which === "the whole transcript" ? transcript : [...transcript, more];
      const answered = await agent.answer(soleInterrupt(asked), "yes", { messages });
      expect(typesOf(answered)).toEqual(ANSWERED);
      expect(seen).toEqual([messages, "Book it"]);
      expect(asking).toMatchObject({ entered: 1, answers: ["yes"] });
      const { messages: known } = await checkWithClient(answered.raw, answered.input);
      expect(new Set(known.map(({ id }) => id)).size).toBe(known.length);
      expect(known.filter(({ role }) => role === "tool")).toHaveLength(1);
    },
  );
});

describe("B23 question after question", () => {
  it("has a new id and proof at each step, and the old ones are refused at each", async () => {
    const heard: string[] = [];
    const agent = agentUnderTest(async (context) => {
      heard.push(await context.input("First?"));
      heard.push(await context.input("Second?"));
    });
    const first = soleInterrupt(await agent.run({ runId: "r1" }));
    const second = await agent.answer(first, "1", { runId: "r2" });
    expect(typesOf(second)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(second.events.at(-1)).toMatchObject({ runId: "r2", outcome: { type: "interrupt" } });
    const open = soleInterrupt(second);
    expect(open.message).toBe("Second?");
    expect(endOf(await agent.answer(first, "1"))).toBe("INTERRUPT_NOT_OUTSTANDING (answered)");
    expect(endOf(await agent.answer({ ...first, id: open.id }, "1"))).toBe("INTERRUPT_NOT_PROVEN");
    expect(endOf(await agent.answer(open, "2"))).toBe("success");
    for (const spent of [first, open])
      expect(endOf(await agent.answer(spent, "x"))).toBe("INTERRUPT_NOT_HELD (answered)");
    const again = soleInterrupt(await agent.run("Once more"));
    for (const spent of [first, open])
      expect(endOf(await agent.answer(spent, "x"))).toBe("INTERRUPT_NOT_OUTSTANDING (answered)");
    expect(endOf(await agent.abandon(again))).toBe("cancelled");
    expect(heard).toEqual(["1", "2"]);
  });
});
