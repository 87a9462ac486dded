import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";

const typesOf = (run: { events: { type: string }[] }) => run.events.map(({ type }) => type);

describe("a question in the middle of a tool", () => {
  it("suspends the very function that asked and goes on with the answer", async () => {
    const seen: unknown[] = [];
    let entered = 0;
    const agent = agentUnderTest(async (context) => {
      entered++;
      const live = Symbol("cannot be rebuilt");
      let before = 0;
      const booked = await context.toolCall("book_flight", { flight: "LH441" }, async ({ flight }, tool) => {
        before++;
        const answer = await tool.input(`Book ${flight}? (yes/no)`);
        seen.push(live.description, before, answer);
        return answer === "yes" ? "Booked." : "Cancelled.";
      });
      await context.text(booked);
    });

    const asked = await agent.run("Book LH441, please");
    expect(typesOf(asked)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_END",
      "RUN_FINISHED",
    ]);
    const [interrupt] = asked.interrupts;
    expect(interrupt?.message).toBe("Book LH441? (yes/no)");
    expect(interrupt?.toolCallId).toBe(asked.events[1]?.toolCallId);
    expect(seen).toEqual([]);

    const answered = await agent.answer(interrupt as never, "yes");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_RESULT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(answered.events[1]?.toolCallId).toBe(interrupt?.toolCallId);
    expect(answered.text).toBe("Booked.");
    expect(seen).toEqual(["cannot be rebuilt", 1, "yes"]);
    expect(entered).toBe(1);
  });
});
