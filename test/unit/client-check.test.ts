import { describe, expect, it } from "vitest";
import { checkWithClient } from "../support/client-check.ts";
import { asks, bodyOf, event, finished, interrupt, request, run, started, text } from "../support/handmade-streams.ts";

describe("the reference client as an oracle", () => {
  const input = { ...request, messages: [{ id: "u", role: "user" as const, content: "Hello" }] };

  it("tells what it made of the body", async () => {
    const body = bodyOf([
      started,
      event("STATE_SNAPSHOT", { snapshot: { n: 1 } }),
      text("START"),
      text("CONTENT"),
      text("END"),
      asks(interrupt("i", { metadata: { holdline: { proof: "p" } } })),
    ]);
    const reading = await checkWithClient(body, input);
    expect(reading.events.map((each) => each.type)).toEqual([
      "RUN_STARTED",
      "STATE_SNAPSHOT",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(reading.messages).toMatchObject([{ id: "u" }, { id: "m", role: "assistant", content: "Hi" }]);
    expect(reading.state).toEqual({ n: 1 });
    expect(reading.pendingInterrupts).toMatchObject([{ id: "i", metadata: { holdline: { proof: "p" } } }]);
    expect(await checkWithClient(bodyOf([started, { ...finished, result: 5 }]), input)).toMatchObject({ result: 5 });
  });

  it("sends a resume without asking what it answers", async () => {
    const resume = [{ interruptId: "i", status: "resolved" as const, payload: "yes" }];
    expect((await checkWithClient(bodyOf(run()), { ...input, resume })).events).toHaveLength(2);
  });

  it("rejects what the client rejects, what it warns of, and what it takes for the end of a run that has none", async () => {
    await expect(checkWithClient(bodyOf(run(text("CONTENT"))), input)).rejects.toThrow("No active text message");
    await expect(checkWithClient(bodyOf([{ ...started, foo: 1 }, finished]), input)).rejects.toThrow("warned");
    await expect(checkWithClient(bodyOf(run(event("FOO"))), input)).rejects.toThrow("warned");
    await expect(checkWithClient(bodyOf([started]), input)).rejects.toThrow("last event was RUN_STARTED");
    await expect(checkWithClient("", input)).rejects.toThrow("last event was none");
  });

  it("tells the warnings of checks that run at once apart, and leaves the console as it was", async () => {
    const { warn, error } = console;
    const quiet = checkWithClient(bodyOf(run()), input);
    const loud = checkWithClient(bodyOf([{ ...started, foo: 1 }, finished]), input);
    const quietToo = checkWithClient(bodyOf(run(text("START"), text("END"))), input);
    const settled = await Promise.allSettled([quiet, loud, quietToo]);
    expect(settled.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([console.warn, console.error]).toEqual([warn, error]);
  });

  it("does not take another's warning for the client's, and hands it on", async () => {
    const heard: unknown[] = [];
    const { warn } = console;
    console.warn = (...words) => void heard.push(...words);
    try {
      const checking = checkWithClient(bodyOf(run()), input);
      console.warn("from elsewhere");
      expect((await checking).events).toHaveLength(2);
    } finally {
      console.warn = warn;
    }
    expect(heard).toEqual(["from elsewhere"]);
  });

  it("fails when somebody replaces the console under it, as it may have missed a warning", async () => {
    const { warn } = console;
    try {
      const checking = checkWithClient(bodyOf(run()), input);
      console.warn = () => {};
      await expect(checking).rejects.toThrow("was replaced");
    } finally {
      console.warn = warn;
    }
    await checkWithClient(bodyOf(run()), input);
  });
});
