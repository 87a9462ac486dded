import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, isLone, soleInterrupt } from "../support/runs.ts";

const versioned = (protocolVersion: string | undefined) => ({ protocolVersion: protocolVersion as string });

describe("the protocol version of an input", () => {
  it.each<[string | undefined]>([["1.0"], ["01.0"], ["1.00"], ["001.000"], [undefined]])(
    "%s is served without a word",
    async (version) => {
      const agent = agentUnderTest(async (context) => context.run.protocolVersion ?? "none");
      const run = await agent.run(versioned(version));
      expect(run.result).toBe(version ?? "none");
      expect(run.events[0]?.protocolVersion).toBe("1.0");
      expect(agent.warnings).toEqual([]);
    },
  );

  it.each(["1.1", "1.7", "1.9", "1.10", "01.1", "1", "1.0.0", "v1", "", "x", "banana", "2", "2.x", " 2.0", "one.two"])(
    "%j is served with a warning, and answered with our own (P41, P42)",
    async (version) => {
      const agent = agentUnderTest(async () => {});
      const run = await agent.run(versioned(version));
      expect(endOf(run)).toBe("success");
      expect(run.events[0]?.protocolVersion).toBe("1.0");
      expect(agent.warnings).toMatchObject([
        {
          code: "PROTOCOL_VERSION_UNKNOWN",
          threadId: "thread-1",
          runId: "run-1",
          message: expect.stringContaining("1.0"),
        },
      ]);
    },
  );

  it.each(["2.0", "002.1", "0.9", "10.0", "00.1"])(
    "%j of another major line is refused before any run (P43)",
    async (version) => {
      let entered = 0;
      const agent = agentUnderTest(async () => void entered++);
      const run = await agent.run(versioned(version));
      expect(isLone(run)).toBe(true);
      expect(endOf(run)).toBe("UNSUPPORTED_PROTOCOL_VERSION");
      expect(run.error?.message).toContain(version);
      expect(agent.warnings).toEqual([]);
      expect(entered).toBe(0);
    },
  );

  it("is the resume's own: what asked does not bind what answers", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?"));
    const interrupt = soleInterrupt(await agent.run(versioned(undefined)));
    expect(endOf(await agent.answer(interrupt, "a", versioned("2.0")))).toBe("UNSUPPORTED_PROTOCOL_VERSION");
    expect((await agent.answer(interrupt, "a", versioned("1.3"))).result).toBe("a");
  });
});
