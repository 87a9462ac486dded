import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("claim", file, rows);

export const claim = [
  ...of(
    "admit",
    [
      "after a slow check the turn is looked up again",
      "this.#heldBy(thread) === turn ? turn.outstanding : []",
      "turn.outstanding",
      "async-schemas",
    ],
    ["after a slow check the client must still be there", "if (run.left) return;\n      if", "if", "async-schemas"],
    [
      "a question that timed out meanwhile is not settled",
      ".filter(([question]) => open.includes(question))",
      "",
      "async-schemas",
    ],
    [
      "an answer is decided against what is held",
      "if (thread === undefined || turn === undefined) return this.#notHeld(run, key);",
      "if (thread === undefined || turn === undefined) return this.#plain(run);",
      "refusals",
    ],
  ),
  ...of("threads", [
    "a turn that is taken is held no more",
    "    this.held = undefined;\n    this.active = turn;",
    "    this.active = turn;",
    "races",
  ]),
  ...of(
    "questions",
    [
      "a settled question is not open",
      "settle(question: Question, decision: Decision): void {\n    this.#remove(question);",
      "settle(question: Question, decision: Decision): void {",
      "ask",
    ],
    ["a question that was answered is spent", 'failed ? "abandoned" : "answered"', '"abandoned"', "causes"],
  ),
  ...of("turn", [
    "a turn is held before its interrupt goes out",
    "    this.thread.hold(this);\n    this.host.held.add(this);\n",
    "    setTimeout(() => {\n      this.thread.hold(this);\n      this.host.held.add(this);\n    }, 20);\n",
    "races",
  ]),
  ...of(
    "turn",
    [
      "a thread is free before the last event goes out",
      "    this.thread.free(this);\n    finish?.();",
      "    setTimeout(() => this.thread.free(this), 20);\n    finish?.();",
      "turn-lifetime",
    ],
    [
      "a resumed turn is not evicted",
      "    this.host.held.delete(this);\n    this.thread.take(this);\n    this.#userText",
      "    this.thread.take(this);\n    this.#userText",
      "eviction",
    ],
  ),
];
