import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("kept events", file, rows);

export const keptEvents = [
  ...of(
    "kept-events",
    ["no more events are kept than may be", "this.#frames.length >= this.#most ||", "", "kept-events"],
    ["no more characters are kept than may be", " || this.#size >= MOST_KEPT", "", "kept-events"],
    ["a writer that waits goes on", "this.#release?.();", "", "kept-events"],
    [
      "what was kept is in order",
      "for (const frame of this.#frames) sink",
      "for (const frame of this.#frames.reverse()) sink",
      "kept-events",
    ],
  ),
  ...of("turn"),
  ...of(
    "output",
    ["what was kept is sent", "if (kept instanceof KeptEvents) kept.drain(sink);", "", "kept-events"],
    [
      "a writer that waits goes on when nobody will read",
      "if (this.#sink instanceof KeptEvents) this.#sink.release();",
      "",
      "kept-events",
    ],
  ),
  ...of(
    "stream-outlet",
    [
      "a writer that waits for room goes on when the run ends",
      "    if (!this.#flushDue) this.#close();\n    this.#wake();",
      "    if (!this.#flushDue) this.#close();",
      "kept-events",
    ],
    [
      "a writer waits when the reader is behind",
      "this.#pending.length >= HIGH_WATER_MARK || (this.#writer.desiredSize ?? 0) <= 0",
      "false",
      "emitting",
    ],
  ),
  ...of(
    "state",
    [
      "a client whose state differs is told the whole",
      "if (!mustAgree || !this.#isAstray()) return undefined;",
      "return undefined;",
      "state",
    ],
    ["an owner is told the state a turn came to alone", "this.#lost = true;", "", "finishing-alone"],
  ),
  ...of(
    "carriage",
    [
      "what is emitted from the question on is kept",
      "this.#kept = this.output.pause();",
      "this.output.drop();",
      "kept-events",
    ],
    ["emits that wait for room go on with a resume", "this.#kept?.release();", "", "kept-events"],
  ),
  ...of("holding", [
    "a turn that finishes alone, or whose client is gone at the first write, keeps from its question on",
    "if (this.#turn.standing.alone) this.#turn.carriage.pause([]);",
    "",
    "finishing-alone",
  ]),
];
