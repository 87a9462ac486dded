import { describe, expect, it } from "vitest";
import { checkStream } from "../../src/testing/invariants.ts";
import {
  asks,
  breaks,
  call,
  event,
  finished,
  interrupt,
  passes,
  request,
  run,
  started,
  text,
} from "../support/handmade-streams.ts";

describe("INV-4, events are the protocol's", () => {
  it("is kept by what the protocol leaves open", async () => {
    await passes(
      run(
        event("STATE_SNAPSHOT", {
          snapshot: { a: null },
          metadata: { "my.app": { x: null } },
          rawEvent: { deep: [1] },
          timestamp: 5,
        }),
        event("STATE_DELTA", { delta: [{ op: "remove", path: "/a", leftover: 1 }] }),
        event("CUSTOM", { name: "my.app", value: null }),
        call("RESULT", "c", { content: [{ type: "text", text: "a", metadata: { x: 1 } }], role: "tool" }),
      ),
    );
    await passes([
      started,
      asks(interrupt("i", { responseSchema: { type: "string", anything: 1 }, metadata: { holdline: { proof: "x" } } })),
    ]);
  });

  it("is broken by members that nothing describes, at any depth", () => {
    breaks("INV-4", "describe /foo", [{ ...started, foo: 1 }, finished], 0);
    breaks("INV-4", "describe /toString", [{ ...started, toString: 1 }, finished], 0);
    breaks("INV-4", "describe /outcome/interrupts/0/proof", [started, asks(interrupt("i", { proof: "x" }))]);
    breaks("INV-4", "describe /outcome/reason", [
      started,
      { ...finished, outcome: { type: "cancelled", reason: "why" } },
    ]);
    breaks(
      "INV-4",
      "describe /content/0/extra",
      run(call("RESULT", "c", { content: [{ type: "text", text: "a", extra: 1 }] })),
      1,
    );
    breaks("INV-4", "describe /subagentRunId", [started, { ...finished, subagentRunId: "a" }]);
    const toolCalls = [{ id: "c", type: "function", function: { name: "n", arguments: "", index: 0 } }];
    const snapshot = event("MESSAGES_SNAPSHOT", { messages: [{ id: "m", role: "assistant", toolCalls }] });
    breaks("INV-4", "describe /messages/0/toolCalls/0/function/index", run(snapshot), 1);
  });

  it("is broken by unknown events, outcomes and values", () => {
    breaks("INV-4", 'no event "FOO"', run(event("FOO")), 1);
    breaks("INV-4", 'no event "THINKING_START"', run(event("THINKING_START")), 1);
    breaks("INV-4", "/outcome", [started, { ...finished, outcome: { type: "paused" } }]);
    breaks("INV-4", "/outcome", [started, { ...finished, outcome: { type: "interrupt" } }]);
    breaks("INV-4", "/role", run(event("REASONING_MESSAGE_START", { messageId: "x" })), 1);
    breaks("INV-4", "/timestamp", [{ ...started, timestamp: 1.5 }, finished], 0);
    breaks("INV-4", "/content", run(call("RESULT", "c", { content: { a: 1 } })), 1);
    breaks("INV-4", "/message", [{ type: "RUN_ERROR" }]);
  });

  it("is broken by null where the protocol has an optional member", () => {
    for (const member of ["result", "outcome", "usage", "metadata", "rawEvent"]) {
      breaks("INV-4", `/${member}`, [started, { ...finished, [member]: null }]);
    }
    breaks("INV-4", "/role", run(text("START", "m", { role: null })), 1);
    breaks(
      "INV-4",
      "/input/state",
      [{ ...started, input: { threadId: "t", runId: "r", messages: [], state: null } }, finished],
      0,
    );
  });

  it("is broken by what JSON cannot carry, in events that never were JSON", () => {
    const check = (value: unknown) => () =>
      checkStream(
        run(event("CUSTOM", { name: "x", value })).map((event) => ({ event })),
        request,
      );
    for (const value of [{ a: undefined }, [Number.NaN], () => 1, 1n, Symbol("s")])
      expect(check(value)).toThrow(/INV-4.*not JSON/);
    expect(check({ a: [1, null, "x", true] })).not.toThrow();
  });
});
