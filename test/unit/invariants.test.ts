import { describe, expect, it } from "vitest";
import {
  asks,
  breaks,
  call,
  check,
  event,
  failed,
  finished,
  interrupt,
  of,
  passes,
  problem,
  run,
  started,
  subagent,
  text,
} from "../support/handmade-streams.ts";

describe("INV-1, a run's two ends", () => {
  it("is kept by a run that finishes, one that fails, and a lone refusal", async () => {
    await passes([started, finished]);
    await passes([started, failed]);
    await passes([failed]);
    await passes([
      started,
      { ...finished, outcome: { type: "success" }, result: { status: "input-required", message: "When?" } },
    ]);
    await passes([started, { ...finished, outcome: { type: "cancelled" } }]);
  });

  it("is broken by no event, a wrong first one, and no terminating one", () => {
    expect(problem([])).toMatchObject({ invariant: "INV-1", index: 0 });
    breaks("INV-1", "does not begin", [text("START"), finished], 0);
    breaks("INV-1", "does not begin", [failed, started, finished], 0);
    breaks("INV-1", "without a terminating event", [started, text("START"), text("END")]);
  });

  it("is broken by anything after the terminating event", () => {
    breaks("INV-1", "CUSTOM follows", [...run(), event("CUSTOM", { name: "x", value: 1 })]);
    breaks("INV-1", "RUN_ERROR follows", [...run(), failed]);
    breaks("INV-1", "RUN_FINISHED follows", [started, failed, finished]);
    breaks("INV-1", "second run", [...run(), started], 2);
  });

  it("is broken by a run inside a run", () => {
    breaks("INV-1", "while another is open", [started, started, finished], 1);
  });

  it("is broken by another protocol version, or none", () => {
    breaks("INV-1", "1.1", [{ ...started, protocolVersion: "1.1" }, finished], 0);
    breaks("INV-1", "undefined", [{ ...started, protocolVersion: undefined }, finished], 0);
  });

  it("leaves room for replayed runs before the requested one, when told to", async () => {
    const before = [{ ...started, runId: "r0", protocolVersion: undefined }, text("START"), failed];
    await passes([...before, ...run(text("START"), text("END"))], { replay: true });
    expect(
      problem([...run(), { ...started, runId: "r9" }, { ...finished, runId: "r9" }], { replay: true }).invariant,
    ).toBe("INV-3");
    expect(problem([{ ...started, threadId: "u" }, finished, ...run()], { replay: true }).invariant).toBe("INV-3");
    expect(problem([{ ...started, runId: "r0" }, finished, ...run()], { replay: true })).toMatchObject({
      invariant: "INV-3",
      index: 1,
    });
  });
});

describe("INV-3, ids are the request's", () => {
  it("is broken by another thread or run at either end, and in the echoed input", () => {
    breaks("INV-3", "RUN_STARTED.threadId", [{ ...started, threadId: "T" }, finished], 0);
    breaks("INV-3", "RUN_STARTED.runId", [{ ...started, runId: "r1" }, finished], 0);
    breaks("INV-3", "RUN_FINISHED.threadId", [started, { ...finished, threadId: "t " }]);
    breaks("INV-3", "RUN_FINISHED.runId", [started, { ...finished, runId: "r1" }]);
    const echo = (members: object) => ({ ...started, input: { threadId: "t", runId: "r", messages: [], ...members } });
    breaks("INV-3", "input.threadId", [echo({ threadId: "u" }), finished], 0);
    breaks("INV-3", "input.runId", [echo({ runId: "r1" }), finished], 0);
    check([echo({ parentRunId: "r0" }), finished]);
  });
});

describe("INV-5, interrupts", () => {
  it("is kept by new ids, which are remembered", async () => {
    const seen = new Set(["i0"]);
    await passes([started, asks(interrupt("i1"), interrupt("i2"))], { seenInterruptIds: seen });
    expect([...seen]).toEqual(["i0", "i1", "i2"]);
  });

  it("is broken by none, by two of one id, and by one that was used before", () => {
    breaks("INV-5", "has no interrupt", [started, asks()]);
    breaks("INV-5", "two interrupts", [started, asks(interrupt("i"), interrupt("i"))]);
    const seenInterruptIds = new Set<string>();
    check([started, asks(interrupt("i"))], { seenInterruptIds });
    const again = problem([started, asks(interrupt("j"), interrupt("i"))], { seenInterruptIds });
    expect(again).toMatchObject({ invariant: "INV-5", index: 1 });
    expect(again.message).toContain("used before");
    expect([...seenInterruptIds]).toEqual(["i"]);
  });

  it("lets an open question come again, and only one that was issued", () => {
    const seenInterruptIds = new Set(["i"]);
    check([started, asks(interrupt("i"))], { seenInterruptIds, redelivered: true });
    const error = problem([started, asks(interrupt("j"))], { seenInterruptIds, redelivered: true });
    expect(error.message).toContain("never issued");
  });

  it("is broken by a question about a call that has its result", async () => {
    const asking = [started, call("START"), call("END")];
    await passes([...asking, asks(interrupt("i", { toolCallId: "c" }))]);
    breaks("INV-5", "has its result", [...asking, call("RESULT"), asks(interrupt("i", { toolCallId: "c" }))]);
  });

  it("is broken by a subagent's question unless it was suspended, on its own questions", async () => {
    const ends = (outcome?: object) => [
      started,
      subagent("STARTED"),
      subagent("FINISHED", "a", outcome && { outcome }),
    ];
    const its = interrupt("i", of("a"));
    await passes([...ends({ type: "suspended", interruptIds: ["i"] }), asks(its)]);
    await passes([...ends({ type: "suspended" }), asks(its)]);
    breaks("INV-5", "ended as success", [...ends(), asks(its)]);
    breaks("INV-5", "no interrupt of its own", [...ends({ type: "suspended", interruptIds: ["j"] }), asks(its)]);
    breaks("INV-5", "no interrupt of its own", [
      ...ends({ type: "suspended", interruptIds: ["i"] }),
      asks(interrupt("i")),
    ]);
    breaks("INV-5", "no interrupt of its own", [...ends({ type: "suspended", interruptIds: ["i"] }), finished]);
  });
});

it("the error says which promise, where, and lists the events with repeats joined", () => {
  const error = problem(
    run(text("START"), text("CONTENT"), text("CONTENT"), text("CONTENT"), text("END"), text("END")),
  );
  expect(error.message).toBe(
    'INV-2 at 6: no text message "m" is open in this run\n' +
      "  RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT x3, TEXT_MESSAGE_END, >TEXT_MESSAGE_END<, RUN_FINISHED",
  );
  expect(error.name).toBe("InvariantError");
  expect(error.eventTypes).toHaveLength(8);
});
