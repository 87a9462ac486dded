import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("admission", file, rows);

export const admission = [
  ...of(
    "admit",
    [
      "a run whose client left is dropped",
      "if (run.left) return;\n    this.#decide(run);",
      "this.#decide(run);",
      "disconnect",
    ],
    ["a request is warned of once", "run.doubts.splice(0)", "run.doubts.slice(0)", "queue"],
    ["a check is waited for only while the turn is held", "Promise.race([reading, over])", "reading", "async-schemas"],
    ["another major version is refused", 'standing(protocolVersion) === "foreign"', "false", "versions"],
    ["a plain run on a waiting thread needs an identity", "if (run.identity === null) {", "if (false) {", "owner"],
    ["the owner is asked again", 'settings.whenAsked === "ask-again"', "false", "owner"],
    ["the queue is bounded", ".length < settings.queuedRuns", ".length < Infinity", "queue"],
    ["a claim takes no place in the queue", "!this.#claims.has(waiting)", "true", "owner"],
    ["a claim goes first", "if (first) thread.waiting.unshift(run);\n    else thread", "thread", "queue"],
    ["who leaves the queue is forgotten", "thread.waiting.splice(thread.waiting.indexOf(run), 1);", "", "queue"],
    [
      "who waited is admitted from the start",
      "      this.admit(run);",
      "      const turn = new Turn(this.#host, thread, run);\n      thread.active = turn;\n      turn.start(run, createContext(turn));",
      "queue",
    ],
    ["what waits ends when the handler closes", "run.refuse(RequestErrorCode.SERVER_CLOSING, CLOSING);", "", "closing"],
  ),
  ...of(
    "threads",
    ["a thread is kept under its identity", "identity === null ?", "true ?", "identity"],
    ["identity and thread are told apart", "{identity.length}:", '{""}:', "identity"],
    [
      "a thread that is forgotten takes no other with it",
      " && this.#threads.get(thread.key) === thread",
      "",
      "turn-lifetime",
    ],
  ),
  ...of(
    "handle",
    [
      "a closed handler reads no run",
      'if (request.method === "POST" && phase.now === "closed") throw closing();',
      "",
      "closing",
    ],
    [
      "a run that was read while the handler closed is refused",
      'phase.now === "closed" || (phase.now',
      "(phase.now",
      "closing",
    ],
    ["a closing handler takes nothing but answers", "&& !input.resume?.length", "&& false", "closing"],
  ),
  ...of(
    "receive",
    ["identify fails closed", "report(cause, {});", "report(cause, {});\n    return null;", "identity"],
    [
      "what identify gives is checked",
      'throw new TypeError("identify must give',
      'return null;\n    throw new TypeError("identify must give',
      "identity",
    ],
  ),
  ...of(
    "parse",
    ["only JSON is read", "type === null || !JSON_TYPE.test(type.trim())", "false", "requests"],
    ["a body is counted while it is read", "if (size <= 2 * limit) continue;", "continue;", "bodies"],
    [
      "a body that is too large is refused",
      "if (done && (isTooLarge || size > limit)) throw tooLarge();",
      "",
      "bodies",
    ],
    ["a body of a declared length is counted too", "if (bytes.byteLength > limit) throw tooLarge();", "", "bodies"],
  ),
  ...of(
    "resume",
    ["one id has one answer", "earlier !== undefined && !isSame(earlier, entry)", "false", "refusals"],
    ["every open interrupt is covered", "if (covered.length < open.length) {", "if (false) {", "refusals"],
    ["an unknown id is told apart from a partial resume", "if (stray === undefined) {", "if (true) {", "refusals"],
  ),
];
