/** docs/concepts.md: what it shows of a turn is run, and what it says of a thread is tried. */
import { afterAll, describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { defer } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

const page = pageUnderTest("docs/concepts.md");
const folder = new ProgramFolder("concepts");
afterAll(() => folder.dispose());

describe("docs/concepts.md", () => {
  it("enters the function once, whatever runs carry it", async () => {
    const { agent } = await folder.load(page.take("Words", "ts"));
    const tested = agentUnderTest(agent);
    const asked = await tested.run("Book");
    const answered = await tested.answer(soleInterrupt(asked), "Monday");
    expect([asked.outcome?.type, answered.outcome?.type]).toEqual(["interrupt", "success"]);
    expect(answered.text).toBe("Noted: Monday.");
    expect(answered.result).toEqual({ before: "run-1", after: "run-2" });
    expect(tested.handler.stats()).toMatchObject({ started: 1, finished: 1 });
  });

  it("says what a thread's next run meets", async () => {
    const gate = defer();
    const tested = agentUnderTest({
      agent: async (context) => {
        if (context.userText === "work") return gate.promise;
        return context.input("A?");
      },
      limits: { queuedRuns: 0 },
    });
    const entry = { interruptId: "int_nobody", status: "resolved" as const, payload: "x" };
    expect(endOf(await tested.resume([entry], { threadId: "T" }))).toBe("INTERRUPT_NOT_HELD (unknown)");

    const working = tested.run("work");
    expect(endOf(await tested.run("more"))).toBe("THREAD_BUSY");
    expect(endOf(await tested.resume([entry], { threadId: "thread-1" }))).toBe("INTERRUPT_NOT_HELD (unknown)");
    gate.resolve();
    await working;

    await tested.run("ask");
    expect(endOf(await tested.run("more"))).toBe("INTERRUPT_NOT_COVERED");
    const anna = { identity: "anna" };
    const asked = soleInterrupt(await tested.run("ask", anna));
    expect(soleInterrupt(await tested.run("more", anna))).toEqual(asked);
  });

  it("says what a restart does", async () => {
    const seen: unknown[] = [];
    const ask = async (context: AgentContext) => {
      try {
        return await context.input("A?");
      } catch (error) {
        seen.push((error as { code: string }).code);
        throw error;
      } finally {
        seen.push("finally");
      }
    };
    const before = agentUnderTest(ask);
    const interrupt = soleInterrupt(await before.run("go"));
    await before.close();
    expect(seen).toEqual(["TURN_RELEASED", "finally"]);
    const after = agentUnderTest(ask);
    const late = await after.resume([answerTo(interrupt, "a")], { threadId: "thread-1" });
    expect(endOf(late)).toBe("INTERRUPT_NOT_HELD (other-instance)");
    expect(soleInterrupt(await after.run("go")).message).toBe("A?");
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
