import { describe, it } from "vitest";
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
  run,
  started,
  step,
  subagent,
  text,
} from "../support/handmade-streams.ts";

describe("INV-2, what is started is ended", () => {
  it("is kept by text, calls, reasoning, steps and subagents that are closed", async () => {
    await passes(
      run(
        text("START"),
        text("CONTENT"),
        step("STARTED"),
        text("END"),
        event("REASONING_START", { messageId: "x" }),
        event("REASONING_MESSAGE_START", { messageId: "x", role: "reasoning" }),
        event("REASONING_MESSAGE_CONTENT", { messageId: "x", delta: "Hm" }),
        event("REASONING_MESSAGE_END", { messageId: "x" }),
        event("REASONING_END", { messageId: "x" }),
        subagent("STARTED"),
        step("STARTED", of("a")),
        text("START", "m2", of("a")),
        text("CONTENT", "m2"),
        text("END", "m2", of("a")),
        call("START", "c", { parentMessageId: "m2" }),
        call("ARGS"),
        call("END", "c", of("a")),
        step("FINISHED"),
        step("FINISHED", of("a")),
        subagent("FINISHED"),
        call("RESULT"),
      ),
    );
  });

  it("is kept by a failing run, whatever is open", async () => {
    await passes([started, text("START"), call("START"), step("STARTED"), subagent("STARTED"), failed]);
  });

  it("is broken by finishing with something open, whatever the outcome", () => {
    const opened = {
      'text message "m"': text("START"),
      'tool call "c"': call("START"),
      'reasoning span "x"': event("REASONING_START", { messageId: "x" }),
      'reasoning message "x"': event("REASONING_MESSAGE_START", { messageId: "x", role: "reasoning" }),
      'step "s" of the run\'s own agent': step("STARTED"),
      'step "s" of subagent "b"': step("STARTED", of("b")),
      'subagent "a"': subagent("STARTED"),
    };
    for (const [name, opener] of Object.entries(opened)) {
      breaks("INV-2", name, run(opener));
      breaks("INV-2", name, [started, opener, asks(interrupt("i"))]);
      breaks("INV-2", name, [started, opener, { ...finished, outcome: { type: "cancelled" } }]);
    }
  });

  it("is broken by going on with, or ending, what was not started here", () => {
    const orphans = [
      text("CONTENT"),
      text("END"),
      call("ARGS"),
      call("END"),
      event("REASONING_MESSAGE_CONTENT", { messageId: "x", delta: "Hm" }),
      event("REASONING_MESSAGE_END", { messageId: "x" }),
      event("REASONING_END", { messageId: "x" }),
      step("FINISHED"),
    ];
    for (const orphan of orphans) breaks("INV-2", "is open in this run", run(orphan), 1);
    breaks("INV-2", "is active", run(subagent("FINISHED")), 1);
    breaks("INV-2", "is active", run(subagent("ERROR")), 1);
    breaks("INV-2", "is open in this run", run(text("START"), text("END"), text("CONTENT")), 3);
    // A reasoning span opens no message, and a message no span.
    breaks(
      "INV-2",
      "is open in this run",
      run(event("REASONING_START", { messageId: "x" }), event("REASONING_MESSAGE_END", { messageId: "x" })),
      2,
    );
  });

  it("is broken by starting what is open", () => {
    for (const opener of [
      text("START"),
      call("START"),
      step("STARTED"),
      event("REASONING_START", { messageId: "x" }),
    ]) {
      breaks("INV-2", "is open already", run(opener, opener), 2);
    }
    breaks("INV-2", "is active already", run(subagent("STARTED"), subagent("STARTED")), 2);
    breaks("INV-2", "has ended in this run", run(subagent("STARTED"), subagent("FINISHED"), subagent("STARTED")), 3);
  });

  it("lets a closed item be reopened as what it was, and as nothing else", async () => {
    await passes(run(text("START"), text("END"), text("START", "m", { role: "assistant" }), text("END")));
    breaks("INV-2", "with role user", run(text("START"), text("END"), text("START", "m", { role: "user" })), 3);
    breaks(
      "INV-2",
      "with toolCallName pay",
      run(call("START"), call("END"), call("START", "c", { toolCallName: "pay" })),
      3,
    );
    breaks("INV-2", "is reopened by subagent", run(text("START"), text("END"), text("START", "m", of("a"))), 3);
    breaks("INV-2", "with role assistant instead of tool", run(call("RESULT"), text("START", "result of c")), 2);
  });

  it("is broken by an event that names another owner than its item's (steps: none is another, too)", () => {
    breaks("INV-2", "belongs to the run's own agent", run(text("START"), text("CONTENT", "m", of("a"))), 2);
    breaks("INV-2", 'not to subagent "b"', run(call("START", "c", of("a")), call("ARGS", "c", of("b"))), 2);
    breaks("INV-2", "is open in this run", run(step("STARTED", of("a")), step("FINISHED")), 2);
    breaks("INV-2", "is open in this run", run(step("STARTED"), step("FINISHED", of("a"))), 2);
    breaks(
      "INV-2",
      "belongs to",
      run(text("START"), text("END"), call("START", "c", { parentMessageId: "m", ...of("a") })),
      3,
    );
    const encrypted = event("REASONING_ENCRYPTED_VALUE", {
      subtype: "tool-call",
      entityId: "c",
      encryptedValue: "x",
      ...of("b"),
    });
    breaks("INV-2", "belongs to", run(call("START", "c", of("a")), call("END"), encrypted), 3);
    const patch = { messageId: "w", activityType: "PLAN", patch: [] };
    const shown = event("ACTIVITY_SNAPSHOT", { messageId: "w", activityType: "PLAN", content: {}, ...of("a") });
    breaks("INV-2", "belongs to", run(shown, event("ACTIVITY_DELTA", { ...patch, ...of("b") })), 2);
  });

  it("holds what is attached to an item to that item's owner", async () => {
    const encrypted = (entityId: string, owner: string) =>
      event("REASONING_ENCRYPTED_VALUE", { subtype: "message", entityId, encryptedValue: "x", ...of(owner) });
    const thinks = [
      event("REASONING_MESSAGE_START", { messageId: "x", role: "reasoning", ...of("a") }),
      event("REASONING_MESSAGE_END", { messageId: "x" }),
    ];
    await passes(run(...thinks, encrypted("x", "a")));
    breaks("INV-2", "belongs to", run(...thinks, encrypted("x", "b")), 3);
    breaks("INV-2", "belongs to", run(text("START", "m", of("a")), text("END"), encrypted("m", "b")), 3);

    const shown = { messageId: "w", activityType: "PLAN", content: {} };
    const patch = event("ACTIVITY_DELTA", { messageId: "w", activityType: "PLAN", patch: [], ...of("b") });
    const isOf = (owner: string, members: object = {}) =>
      event("ACTIVITY_SNAPSHOT", { ...shown, ...of(owner), ...members });
    await passes(run(isOf("a"), isOf("b"), patch));
    breaks("INV-2", "belongs to", run(isOf("a"), isOf("b", { replace: false }), patch), 3);
  });

  it("knows the owners that the history tells of", () => {
    const messages = [
      {
        id: "m",
        role: "assistant",
        subagentRunId: "a",
        toolCalls: [{ id: "c", type: "function", function: { name: "book", arguments: "" } }],
      },
    ];
    const snapshot = event("MESSAGES_SNAPSHOT", { messages });
    breaks("INV-2", "is reopened by", run(snapshot, text("START")), 2);
    breaks("INV-2", "is reopened by", run(snapshot, call("START", "c", of("b"))), 2);
    const echo = { ...started, input: { threadId: "t", runId: "r", messages } };
    breaks("INV-2", "is reopened by", [echo, text("START"), finished], 1);
    check([echo, text("START", "m", of("a")), text("END"), finished]);
  });

  it("is broken by subagents announced late, under an unknown parent, or ended before what is theirs", async () => {
    breaks("INV-2", "announced after", run(text("START", "m", of("a")), text("END"), subagent("STARTED")), 3);
    breaks("INV-2", "not announced in this run", run(subagent("STARTED", "a", { parentSubagentRunId: "b" })), 1);
    breaks(
      "INV-2",
      'ends with open: text message "m"',
      run(subagent("STARTED"), text("START", "m", of("a")), subagent("ERROR")),
      3,
    );
    await passes(
      run(
        subagent("STARTED"),
        subagent("STARTED", "b", { parentSubagentRunId: "a" }),
        subagent("FINISHED", "b"),
        subagent("ERROR"),
      ),
    );
    // Naming a subagent that is never announced is allowed.
    await passes(run(text("START", "m", of("z")), text("END")));
  });

  it("is broken by a result that takes the id of another message", () => {
    breaks("INV-2", "of another message", run(text("START"), text("END"), call("RESULT", "c", { messageId: "m" })), 3);
    breaks(
      "INV-2",
      "of another message",
      run(call("RESULT", "c", { messageId: "x" }), call("RESULT", "d", { messageId: "x" })),
      2,
    );
  });

  it("is broken by pending calls that are not exactly those without a result, in order", async () => {
    const calls = ["c1", "c2", "c3"].flatMap((id) => [call("START", id), call("END", id)]);
    const names = (...ids: string[]) => ({ ...finished, outcome: { type: "success", pendingToolCallIds: ids } });
    await passes([started, ...calls, call("RESULT", "c2"), names("c1", "c3")]);
    await passes([started, names()]);
    for (const wrong of [["c3", "c1"], ["c1"], ["c1", "c2", "c3"], []]) {
      breaks("INV-2", "pendingToolCallIds", [started, ...calls, call("RESULT", "c2"), names(...wrong)]);
    }
  });
});
