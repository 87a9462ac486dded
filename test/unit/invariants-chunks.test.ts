import { describe, it } from "vitest";
import {
  breaks,
  check,
  event,
  finished,
  of,
  passes,
  run,
  started,
  subagent,
  text,
} from "../support/handmade-streams.ts";

describe("INV-2, the chunk form", () => {
  const chunk = (members: object) => event("TEXT_MESSAGE_CHUNK", members);
  const callChunk = (members: object) => event("TOOL_CALL_CHUNK", members);

  it("is kept by chunks that end with the next thing in their lane", async () => {
    await passes(
      run(chunk({ messageId: "m", delta: "a" }), chunk({ delta: "b" }), chunk({ messageId: "m", role: "assistant" })),
    );
    await passes(
      run(
        chunk({ messageId: "m", delta: "a" }),
        chunk({ messageId: "m2", delta: "b" }),
        text("START", "m3"),
        text("END", "m3"),
      ),
    );
    await passes(
      run(
        callChunk({ toolCallId: "c", toolCallName: "book", delta: "{" }),
        event("RAW", { event: null }),
        callChunk({ delta: "}" }),
      ),
    );
    await passes(
      run(
        event("REASONING_MESSAGE_CHUNK", { messageId: "x", delta: "Hm" }),
        event("REASONING_MESSAGE_CHUNK", { delta: "!" }),
      ),
    );
    await passes(
      run(
        chunk({ messageId: "m", delta: "a" }),
        chunk({ messageId: "n", delta: "a", ...of("a") }),
        event("STATE_SNAPSHOT", { snapshot: 1, ...of("a") }),
        chunk({ delta: "b" }),
      ),
    );
  });

  it("is kept by a chunk that names nothing but its lane", async () => {
    const lanes = [
      chunk({ messageId: "m", delta: "a", ...of("a") }),
      chunk({ messageId: "n", delta: "a", ...of("b") }),
    ];
    await passes(run(...lanes, chunk({ delta: "b", ...of("b") }), chunk({ delta: "b", ...of("a") })));
  });

  it("is broken by a call's chunk under another's message", () => {
    const calling = callChunk({ toolCallId: "c", toolCallName: "book", parentMessageId: "m", ...of("a") });
    breaks("INV-2", "belongs to", run(text("START"), text("END"), calling), 3);
  });

  it("counts its calls among those without a result", () => {
    const pending = { ...finished, outcome: { type: "success", pendingToolCallIds: ["c"] } };
    check([started, callChunk({ toolCallId: "c", toolCallName: "book" }), pending]);
  });

  it("is broken by a first chunk without its id or its name", () => {
    breaks("INV-2", "has no id", run(chunk({ delta: "a" })), 1);
    breaks("INV-2", "has no toolCallName", run(callChunk({ toolCallId: "c" })), 1);
    breaks(
      "INV-2",
      "has no id",
      run(chunk({ messageId: "m", delta: "a" }), event("CUSTOM", { name: "x", value: 1 }), chunk({ delta: "b" })),
      3,
    );
    breaks(
      "INV-2",
      "has no id",
      run(chunk({ messageId: "m", delta: "a" }), event("MESSAGES_SNAPSHOT", { messages: [] }), chunk({ delta: "b" })),
      3,
    );
  });

  it("is broken by a repeat that differs, and by a chunk that may be anybody's", () => {
    breaks("INV-2", "another role", run(chunk({ messageId: "m" }), chunk({ role: "user" })), 2);
    breaks(
      "INV-2",
      "another toolCallName",
      run(callChunk({ toolCallId: "c", toolCallName: "book" }), callChunk({ toolCallName: "pay" })),
      2,
    );
    breaks("INV-2", "continues", run(chunk({ messageId: "m" }), chunk({ messageId: "m", ...of("a") })), 2);
    breaks(
      "INV-2",
      "while several are open",
      run(chunk({ messageId: "m", ...of("a") }), chunk({ messageId: "n", ...of("b") }), chunk({ delta: "x" })),
      3,
    );
  });

  it("is broken by mixing it with the long form", () => {
    breaks("INV-2", "is open in this run", run(chunk({ messageId: "m" }), text("END")), 2);
    breaks("INV-2", "is open already", run(text("START"), chunk({ messageId: "m", delta: "a" })), 2);
  });

  it("is closed by its subagent's end", async () => {
    await passes(run(subagent("STARTED"), chunk({ messageId: "m", delta: "a", ...of("a") }), subagent("FINISHED")));
  });
});
