import type { Interrupt } from "@ag-ui/core";
import { afterEach, describe, expect, it } from "vitest";
import { type Serving, serve } from "../../adapters/node.ts";
import { createHandler } from "../../src/index.ts";
import { ANSWERED, ASKED, askingAgent, parallelAgent } from "../fixtures/agents.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange, openExchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, giveUp, isLone, proofOf, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";
import { schemaOf } from "../support/schemas.ts";

const servers: Serving[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

describe("B1 of equal resumes in one tick exactly one acts", () => {
  it.each([2, 50])("%i at once, in process", async (count) => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const runs = await Promise.all(Array.from({ length: count }, () => agent.answer(interrupt, "yes")));
    const refused = runs.filter(isLone);
    expect(runs.filter((run) => !isLone(run)).map(typesOf)).toEqual([ANSWERED]);
    expect(refused.map(endOf)).toEqual(Array(count - 1).fill("INTERRUPT_NOT_HELD (answered)"));
    expect(asking).toMatchObject({ entered: 1, before: 1, after: 1, answers: ["yes"] });
  });

  it("two on separate sockets", async () => {
    const asking = askingAgent();
    const server = await serve(createHandler({ agent: asking.agent, validate: true }));
    servers.push(server);
    const seen = { url: server.url };
    const interrupt = soleInterrupt(await exchange(fetch, {}, seen));
    // Both are under way before either is read, and HTTP/1.1 has one at a time on a socket.
    const resume = [answerTo(interrupt, "yes")];
    const both = await Promise.all([1, 2].map(() => openExchange(fetch, { resume }, seen)));
    const runs = await Promise.all(both.map((open) => open.rest()));
    expect(runs.map(endOf).sort()).toEqual(["INTERRUPT_NOT_HELD (answered)", "success"]);
    expect(asking).toMatchObject({ after: 1, answers: ["yes"] });
  });

  it("one answers and one gives up", async () => {
    for (const order of [
      ["answer", "give up"],
      ["give up", "answer"],
    ]) {
      const asking = askingAgent();
      const agent = agentUnderTest(asking.agent);
      const interrupt = soleInterrupt(await agent.run("Book it"));
      const runs = await Promise.all(
        order.map((word) => agent.resume([word === "answer" ? answerTo(interrupt, "yes") : giveUp(interrupt)])),
      );
      const answered = order[0] === "answer";
      expect(runs.map(endOf)).toEqual(
        answered ? ["success", "INTERRUPT_NOT_HELD (answered)"] : ["cancelled", "INTERRUPT_NOT_HELD (abandoned)"],
      );
      expect(asking.after).toBe(answered ? 1 : 0);
    }
  });

  it("even where a validator takes its time between the check and the take", async () => {
    const gate = defer();
    let checks = 0;
    const schema = schemaOf<string>(async (value) => {
      checks++;
      await gate.promise;
      return { value: value as string };
    });
    const asking = askingAgent((tool) => tool.input("Book LH441?", { schema }));
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const runs = Array.from({ length: 50 }, (_, i) =>
      i === 49 ? agent.abandon(interrupt) : agent.answer(interrupt, "yes"),
    );
    // The one that needs no check overtakes those that wait for theirs.
    expect(endOf(await (runs[49] as Promise<never>))).toBe("cancelled");
    expect(checks).toBe(49);
    gate.resolve();
    const ends = (await Promise.all(runs)).map(endOf);
    expect(ends.filter((end) => end === "INTERRUPT_NOT_HELD (abandoned)")).toHaveLength(49);
    expect(asking).toMatchObject({ after: 0, answers: [] });

    const again = soleInterrupt(await agent.run("Book it"));
    const answers = (await Promise.all(Array.from({ length: 50 }, () => agent.answer(again, "yes")))).map(endOf);
    expect(answers.filter((end) => end === "success")).toHaveLength(1);
    expect(answers.filter((end) => end === "INTERRUPT_NOT_HELD (answered)")).toHaveLength(49);
    expect(asking).toMatchObject({ after: 1, answers: ["yes"] });
  });
});

describe("B2 a resume sent again", () => {
  it("is refused, calls nothing, and leaves the thread usable", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    expect(typesOf(await agent.answer(interrupt, "yes"))).toEqual(ANSWERED);
    const again = await agent.answer(interrupt, "yes");
    expect(isLone(again)).toBe(true);
    expect(endOf(again)).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(asking).toMatchObject({ entered: 1, after: 1 });
    expect(typesOf(await agent.run("Book another"))).toEqual(ASKED);
    expect(asking.entered).toBe(2);
  });
});

describe("B4 a proof proves its own question only", () => {
  it("the answers of two questions with their proofs changed over are refused", async () => {
    const { agent: parallel, answers } = parallelAgent();
    const agent = agentUnderTest(parallel);
    const [a, b] = twoInterrupts(await agent.run("Both ways"));
    const aWithProofOfB = answerTo({ ...b, id: a.id }, "yes");
    const bWithProofOfA = answerTo({ ...a, id: b.id }, "yes");
    for (const entries of [
      [aWithProofOfB, bWithProofOfA],
      [aWithProofOfB, answerTo(b, "yes")],
      [answerTo(a, "yes"), bWithProofOfA],
    ]) {
      expect(endOf(await agent.resume(entries))).toBe("INTERRUPT_NOT_PROVEN");
    }
    expect(answers).toEqual({});
    expect(endOf(await agent.resume([answerTo(a, "a"), answerTo(b, "b")]))).toBe("success");
    expect(answers).toEqual({ outbound: "a", inbound: "b" });
  });
});

describe("B5 a resume covers every open question", () => {
  it("one entry of two advances neither; both in the other order reach their own tool", async () => {
    const { agent: parallel, answers, entered } = parallelAgent();
    const agent = agentUnderTest(parallel);
    const [a, b] = twoInterrupts(await agent.run("Both ways"));
    expect(endOf(await agent.resume([answerTo(a, "a")]))).toBe("INTERRUPT_NOT_COVERED");
    expect(endOf(await agent.resume([answerTo(b, "b")]))).toBe("INTERRUPT_NOT_COVERED");
    expect(answers).toEqual({});
    const both = await agent.resume([answerTo(b, "b"), answerTo(a, "a")]);
    expect(endOf(both)).toBe("success");
    expect(answers).toEqual({ outbound: "a", inbound: "b" });
    expect(entered).toEqual(["outbound", "inbound"]);
  });

  it("an entry for a question nobody asked, beside full cover, is ignored with a warning", async () => {
    const { agent: parallel, answers } = parallelAgent();
    const agent = agentUnderTest(parallel);
    const [a, b] = twoInterrupts(await agent.run("Both ways"));
    const extra = { interruptId: "int_nobody", status: "resolved" as const, payload: "x" };
    expect(endOf(await agent.resume([answerTo(a, "a"), extra, answerTo(b, "b")]))).toBe("success");
    expect(answers).toEqual({ outbound: "a", inbound: "b" });
    expect(agent.warnings.map(({ code }) => code)).toEqual(["RESUME_ENTRY_IGNORED"]);
  });
});

describe("B8 questions asked together", () => {
  it("three at once are one outcome, each with its own id, proof and tool call, and its own answer", async () => {
    const { agent: parallel, answers } = parallelAgent(["one", "two", "three"]);
    const agent = agentUnderTest(parallel);
    const asked = await agent.run("All");
    const calls = asked.events.filter(({ type }) => type === "TOOL_CALL_START").map(({ toolCallId }) => toolCallId);
    expect(asked.interrupts.map(({ toolCallId }) => toolCallId)).toEqual(calls);
    expect(new Set(asked.interrupts.map(({ id }) => id)).size).toBe(3);
    expect(new Set(asked.interrupts.map(proofOf)).size).toBe(3);
    const answered = await agent.resume(asked.interrupts.map((interrupt, i) => answerTo(interrupt, String(i + 1))));
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
    expect(answered.events.slice(1, 4).map(({ toolCallId, content }) => [toolCallId, content])).toEqual(
      calls.map((id, i) => [id, String(i + 1)]),
    );
    expect(answers).toEqual({ one: "1", two: "2", three: "3" });
  });

  it("one that comes a turn of the event loop later is not lost: it joins the next outcome", async () => {
    const late = defer();
    const heard: string[] = [];
    const agent = agentUnderTest(async (context) => {
      const ask = async (name: string) => heard.push(`${name}=${await context.input(name)}`);
      const third = late.promise.then(() => ask("third"));
      await Promise.all([ask("first"), ask("second"), third]);
    });
    const asked = await agent.run("All");
    expect(asked.interrupts.map(({ message }) => message)).toEqual(["first", "second"]);
    late.resolve();
    await agent.clock.advance(0);
    const next = await agent.resume(asked.interrupts.map((interrupt, i) => answerTo(interrupt, String(i + 1))));
    expect(typesOf(next)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(soleInterrupt(next).message).toBe("third");
    expect(heard).toEqual(["first=1", "second=2"]);
    expect(endOf(await agent.answer(soleInterrupt(next), "3"))).toBe("success");
    expect(heard).toEqual(["first=1", "second=2", "third=3"]);
  });
});

describe("B10 the same question five times over", () => {
  it("has a new id and proof each time, and an earlier round's answer leaves the round open", async () => {
    const agent = agentUnderTest(async (context) => {
      for (let round = 1; round <= 5; round++) {
        effects.push(`before ${round}`);
        heard.push(await context.input("Again?"));
      }
    });
    const effects: string[] = [];
    const heard: string[] = [];
    const rounds = [soleInterrupt(await agent.run("Go"))];
    for (let round = 1; round < 5; round++)
      rounds.push(soleInterrupt(await agent.answer(rounds.at(-1) as Interrupt, `answer ${round}`)));
    expect(new Set(rounds.map(({ id }) => id)).size).toBe(5);
    expect(new Set(rounds.map(proofOf)).size).toBe(5);
    const [, second, , , fifth] = rounds as [Interrupt, Interrupt, Interrupt, Interrupt, Interrupt];
    expect(endOf(await agent.answer(second, "old"))).toBe("INTERRUPT_NOT_OUTSTANDING (answered)");
    expect(endOf(await agent.answer({ ...second, id: fifth.id }, "old"))).toBe("INTERRUPT_NOT_PROVEN");
    expect(endOf(await agent.answer(fifth, "answer 5"))).toBe("success");
    expect(heard).toEqual([1, 2, 3, 4, 5].map((round) => `answer ${round}`));
    expect(effects).toEqual([1, 2, 3, 4, 5].map((round) => `before ${round}`));
  });
});

describe("B11 an answer counts on its own thread only", () => {
  it("one thread's entry on another is refused, and both stay answerable", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const t = soleInterrupt(await agent.run({ threadId: "T" }));
    const u = soleInterrupt(await agent.run({ threadId: "U" }));
    expect(endOf(await agent.answer(u, "u", { threadId: "T" }))).toBe("INTERRUPT_NOT_OUTSTANDING (unknown)");
    expect(endOf(await agent.answer(t, "t", { threadId: "U" }))).toBe("INTERRUPT_NOT_OUTSTANDING (unknown)");
    expect(asking.answers).toEqual([]);
    expect(endOf(await agent.answer(t, "t"))).toBe("success");
    expect(endOf(await agent.answer(u, "u"))).toBe("success");
    expect(asking.answers).toEqual(["t", "u"]);
  });

  it.each([
    ["case", "Thread-Ä", "thread-Ä"],
    ["a trailing space", "Thread-Ä", "Thread-Ä "],
    ["the Unicode normal form", "Thread-Ä", "Thread-A\u0308"],
  ])("thread ids that differ in %s are two threads", async (_what, threadId, other) => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run({ threadId }));
    expect(endOf(await agent.answer(interrupt, "x", { threadId: other }))).toBe("INTERRUPT_NOT_HELD (unknown)");
    expect(typesOf(await agent.run({ threadId: other }))).toEqual(ASKED);
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});

describe("B12 an interrupt that a client made up", () => {
  it("is refused whole or in part, and the real one stays open", async () => {
    const asking = askingAgent();
    const agent = agentUnderTest(asking.agent);
    const interrupt = soleInterrupt(await agent.run("Book it"));
    const { id } = interrupt;
    const made = { id: `int_AAAAAAAA_${"A".repeat(22)}`, metadata: { holdline: { proof: "A".repeat(43) } } };
    expect(endOf(await agent.resume([answerTo(made, "yes")], { threadId: "thread-1" }))).toBe(
      "INTERRUPT_NOT_OUTSTANDING (other-instance)",
    );
    const proof = proofOf(interrupt);
    const unproven: Record<string, Record<string, unknown> | undefined> = {
      none: undefined,
      empty: {},
      "another key": { proof },
      "another owner": { "other.app": { proof } },
      "no object": { holdline: proof },
      null: { holdline: null },
      "no proof in it": { holdline: {} },
      "not a string": { holdline: { proof: [proof] } },
      "its first character changed": { holdline: { proof: (proof[0] === "A" ? "B" : "A") + proof.slice(1) } },
      "cut short": { holdline: { proof: proof.slice(0, -1) } },
      "one too long": { holdline: { proof: `${proof}A` } },
    };
    for (const [what, metadata] of Object.entries(unproven)) {
      const refused = await agent.answer(metadata === undefined ? { id } : { id, metadata }, "yes");
      expect([what, endOf(refused), isLone(refused)]).toEqual([what, "INTERRUPT_NOT_PROVEN", true]);
    }
    expect(asking).toMatchObject({ after: 0, rejections: [] });
    expect(endOf(await agent.answer(interrupt, "yes"))).toBe("success");
    expect(asking.answers).toEqual(["yes"]);
  });
});
