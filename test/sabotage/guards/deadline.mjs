import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("deadline", file, rows);

export const deadline = [
  ...of(
    "admit",
    [
      "the retention is looked at on arrival",
      "if (turn.deadline <= this.#host.settings.clock.now()) {",
      "if (false) {",
      "retention",
    ],
    ["a question's own time is looked at on arrival", "} else turn.expireDue();", "}", "retention"],
  ),
  ...of(
    "held-turns",
    ["the retention has a timer", "        turn.expire();\n", "", "retention"],
    ["one timer serves all that are held", "if (this.#cancel === undefined) this.#arm();\n    });", "});", "retention"],
    ["no more are held than may be", "if (this.#turns.size > this.#limits.maxHeld)", "if (false)", "eviction"],
    [
      "no more of one identity are held than may be",
      "if (mates.size > this.#limits.maxHeldPerIdentity)",
      "if (false)",
      "eviction",
    ],
    ["what is let go frees its identity's quota", "mates?.delete(turn);", "", "eviction"],
  ),
  ...of(
    "questions",
    [
      "a question's own time has a timer",
      "question.disarm = at(this.#clock, request.deadline, () => this.#expire(question));",
      "question.disarm = undefined;",
      "retention",
    ],
    [
      "the earlier deadline counts",
      "Math.min(retentionEnds, question.request.deadline ?? retentionEnds)",
      "retentionEnds",
      "several-questions",
    ],
    [
      "a question that timed out is not open",
      "  #expire(question: Question): void {\n    this.#remove(question);",
      "  #expire(question: Question): void {",
      "retention",
    ],
    [
      "the hook is bounded by timeoutMs",
      "        question.reject(new InputTimeoutError());\n      });",
      "      });",
      "human-input-hook",
    ],
  ),
  ...of("question", ["timers are forgotten with what they were for", "this.disarm?.();", "", "retention"]),
  ...of(
    "clock",
    ["a timer does not keep the process alive", "(handle as { unref?: () => void }).unref?.();", "", "retention"],
    [
      "a timer reaches further than its longest delay",
      "handle = clock.setTimeout(arm, Math.min(left, LONGEST_DELAY));",
      "callback();",
      "retention",
    ],
  ),
  ...of("turn", [
    "an agent that ignores its signal is given up on",
    "if (stop.emits) this.#armBound();",
    "",
    "stopping",
  ]),
  ...of("asking", ["timeoutMs is a time", "if (!(Number.isFinite(timeoutMs) && timeoutMs > 0))", "if (false)", "ask"]),
  ...of("settings", ["ttlMs is a time", "if (!(Number.isFinite(ttlMs) && ttlMs > 0))", "if (false)", "options"]),
  ...of(
    "holding",
    [
      "what waits behind a question that died is rejected",
      "this.questions.rejectWaiting(new TurnReleasedError());",
      "",
      "retention",
    ],
    ["a deadline is a date", "Math.min(this.since + ttlMs, LAST_INSTANT)", "this.since + ttlMs", "retention"],
    ["the turn of a question that died is unheard", "standing.unheard = true;", "", "retention"],
    [
      "the thread of an unheard turn is free",
      "    thread.free(turn);\n    carriage.drop();\n    this.questions.rejectWaiting",
      "    carriage.drop();\n    this.questions.rejectWaiting",
      "retention",
    ],
  ),
];
