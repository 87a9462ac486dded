import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { createLateClock } from "../support/late-clock.ts";
import { openExchange } from "../support/open-exchange.ts";
import { nextTurn } from "../support/promises.ts";
import { answerTo, endOf, giveUp, soleInterrupt } from "../support/runs.ts";

/** These are many runs each; the bound is only there so that a failure ends. */
const MANY = { timeout: 60_000 };

/** Longer and longer: within one turn of the event loop first, then over several. */
const pause = async (steps: number) => {
  for (let i = 0; i < Math.min(steps, 20); i++) await Promise.resolve();
  for (let i = 20; i < steps; i++) await nextTurn();
};

describe("of fifty equal resumes in one tick", () => {
  const fifty = async (entriesOf: (index: number) => ReturnType<typeof answerTo>[], ask?: "tool") => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context: AgentContext) => {
      const question = async (asker: Pick<AgentContext, "input">) => {
        const answer = await asker.input("A?").catch((error) => error.code);
        seen.push(answer);
        return answer;
      };
      return ask === "tool" ? context.toolCall("ask", {}, (_args, tool) => question(tool)) : question(context);
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const runs = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        agent.resume(
          entriesOf(index).map((entry) => ({
            ...entry,
            interruptId: interrupt.id,
            metadata: interrupt.metadata ?? {},
          })),
        ),
      ),
    );
    return { seen, ends: runs.map(endOf), stats: agent.handler.stats() };
  };

  it.each([undefined, "tool" as const])(
    "exactly one acts, and all others are told that it was answered: %s",
    async (ask) => {
      const { seen, ends, stats } = await fifty(() => [answerTo({ id: "" }, "yes")], ask);
      expect(ends[0]).toBe("success");
      expect(ends.slice(1)).toEqual(Array(49).fill("INTERRUPT_NOT_HELD (answered)"));
      expect(seen).toEqual(["yes"]);
      expect(stats).toMatchObject({ answered: 1, abandoned: 0, finished: 1, refused: { INTERRUPT_NOT_HELD: 49 } });
    },
  );

  it("exactly one acts when each says something else, or gives up", async () => {
    const { seen, ends, stats } = await fifty((index) =>
      index % 2 === 0 ? [giveUp({ id: "" })] : [answerTo({ id: "" }, `answer ${index}`)],
    );
    expect(ends.filter((end) => !end.startsWith("INTERRUPT_NOT_HELD"))).toHaveLength(1);
    expect(seen).toHaveLength(1);
    expect(stats.answered + stats.abandoned).toBe(1);
  });
});

describe("an answer sent the instant the terminal frame is parsed", () => {
  it("is never refused: 500 times, each before the body has closed", MANY, async () => {
    let answered = 0;
    const agent = agentUnderTest(async (context) => {
      for (;;) {
        const answer = await context.input(`Question ${answered}?`);
        if (answer !== String(answered)) throw new Error(`${answer} instead of ${answered}`);
        answered++;
        if (answered === 500) return "all";
      }
    });
    const { handle } = agent.handler;
    let open = await openExchange(handle);
    for (let round = 0; ; round++) {
      let last = (await open.read(1))[0];
      while (last?.type !== "RUN_FINISHED" && last?.type !== "RUN_ERROR") last = (await open.read(1))[0];
      const [interrupt] = last.outcome?.interrupts ?? [];
      if (interrupt === undefined) {
        expect(last).toMatchObject({ type: "RUN_FINISHED", result: "all" });
        expect(round).toBe(500);
        await open.rest();
        break;
      }
      // Posted with the rest of the asking run's body unread.
      const next = openExchange(handle, { resume: [answerTo(interrupt, String(round))] });
      await open.rest();
      open = await next;
    }
    expect(agent.handler.stats()).toMatchObject({ answered: 500, refused: {}, held: 0, running: 0 });
  });
});

describe("an answer and the deadline in a race", () => {
  it.each(["retention", "timeoutMs"] as const)(
    "have one winner, and the agent and the client agree on it: %s",
    MANY,
    async (kind) => {
      const winners = new Set<string>();
      for (let lead = 0; lead < 40; lead++) {
        const seen: unknown[] = [];
        const clock = createLateClock();
        const agent = agentUnderTest({
          clock,
          retention: { ttlMs: kind === "retention" ? 1_000 : 60_000 },
          agent: async (context) => {
            await context.input("A?", kind === "timeoutMs" ? { timeoutMs: 1_000 } : {}).then(
              (answer) => seen.push(answer),
              (error) => seen.push(error.code),
            );
            return "over";
          },
        });
        const interrupt = soleInterrupt(await agent.run("go"));
        const answering = agent.answer(interrupt, "in time");
        await pause(lead);
        clock.jump(1_000);
        const [run] = await Promise.all([answering, clock.advance(1_000)]);
        const end = endOf(run);
        winners.add(end);
        expect(seen).toEqual([end === "success" ? "in time" : "INPUT_TIMEOUT"]);
        expect(["success", "INTERRUPT_NOT_HELD (expired)"]).toContain(end);
        const { answered, expired, held } = agent.handler.stats();
        expect([answered, expired, held]).toEqual(end === "success" ? [1, 0, 0] : [0, 1, 0]);
      }
      expect(winners.size).toBe(2);
    },
  );
});

describe("an answer in a race with what ends its turn", () => {
  it.each(["stop", "close", "evict", "abandon", "leave of the asker"] as const)(
    "has one outcome, and the agent and the client agree on it: %s",
    MANY,
    async (rival) => {
      const ends = new Set<string>();
      // With a lead for the answer, then for its rival.
      for (let lead = -30; lead < 30; lead++) {
        const seen: unknown[] = [];
        const agent = agentUnderTest({
          retention: { maxHeld: 1 },
          onWarning: () => {},
          agent: async (context) => {
            await context.input("A?").then(
              (answer) => seen.push(answer),
              (error) => seen.push(error.code),
            );
          },
        });
        const leaving = new AbortController();
        const asker = await openExchange(agent.handler.handle, {}, { signal: leaving.signal });
        const interrupt = soleInterrupt(await asker.rest());
        const rivals = {
          stop: () => agent.handler.stop("thread-1"),
          close: () => agent.handler.close(),
          evict: () => agent.run({ threadId: "another" }),
          abandon: () => agent.resume([giveUp(interrupt)], { threadId: "thread-1" }),
          "leave of the asker": async () => leaving.abort(),
        };
        const answer = async () => {
          const answered = agent.resume([answerTo(interrupt, "yes")], { threadId: "thread-1" });
          // Once the handler has closed the answer is no run any more.
          return answered.then(endOf, (error) => String(error.code));
        };
        const [first, second] = lead < 0 ? [rivals[rival], answer] : [answer, rivals[rival]];
        const begun = first();
        await pause(Math.abs(lead));
        const both = await Promise.all([begun, second()]);
        const end = String(both[lead < 0 ? 1 : 0]);
        ends.add(end);
        const delivered = end === "success" || (end === "cancelled" && seen[0] === "yes");
        expect(seen).toEqual([delivered ? "yes" : rival === "abandon" ? "INTERRUPT_CANCELLED" : "TURN_RELEASED"]);
        expect(agent.handler.stats().answered).toBe(delivered ? 1 : 0);
      }
      if (rival === "leave of the asker") expect([...ends]).toEqual(["success"]);
      else expect(ends.size).toBeGreaterThan(1);
    },
  );
});
