import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("fail closed", file, rows);

export const failClosed = [
  ...of("holding", [
    "where nothing can be held nothing is asked",
    "if (!hold) throw new HoldUnavailableError();",
    "",
    "turn-control",
  ]),
  ...of(
    "turn",
    [
      "what stops a turn rejects its questions",
      "this.holding.questions.rejectAll(stop.error, stop.cause, stop.unasked);",
      "",
      "stopping",
    ],

    ["a turn that unwinds is not held", "    this.#takeBack();\n    this.holding", "    this.holding", "turn-lifetime"],

    [
      "calls that run are waited for",
      "Promise.allSettled(this.calls.keys()).then(() => this.#end(CANCELLED))",
      "Promise.resolve().then(() => this.#end(CANCELLED))",
      "abandoning",
    ],
    [
      "calls that run are waited for where turn control has decided",
      "Promise.allSettled(this.calls.keys()).then(() => this.#end(success(decided)))",
      "Promise.resolve().then(() => this.#end(success(decided)))",
      "tool-calls",
    ],
    ["a turn that ends rejects what is open", "if (questions.any)", "if (false)", "turn-lifetime"],

    ["a client that left releases the turn", "if (!this.host.settings.finishAlone ||", "if (false ||", "disconnect"],
  ),
  ...of("asking", ["a yes is for the arguments that were shown", "inWords(args) !== shown", "false", "approvals"]),
  ...of(
    "resume",
    [
      "what is given up is not looked at",
      'if (entry.status === "cancelled") return "cancelled";',
      'if (entry.status === "cancelled" && entry.payload === undefined) return "cancelled";',
      "abandoning",
    ],
    [
      "a schema that throws has accepted nothing",
      'return { ok: false, reason: "it could not be checked" };',
      "return { ok: true, value: entry.payload };",
      "answers",
    ],
    [
      "a refused payload delivers nothing",
      "else if (verdict.ok) decisions.set",
      "else if (true) decisions.set",
      "answers",
    ],
  ),
  ...of(
    "answer-schema",
    [
      "a promise of another realm is no verdict",
      'if ("then" in result) return',
      "if (result instanceof Promise) return",
      "answers",
    ],
    [
      "without a schema an answer is a string",
      'check: (value) => (typeof value === "string" ?',
      "check: (value) => (true ?",
      "answers",
    ],
    [
      "an absent payload is no answer to a JSON Schema",
      'if (value === undefined) return refused("a payload is expected");',
      "",
      "answers",
    ],
    ["a JSON Schema validates", "return valid\n", "return true\n", "answers"],
    ["a Standard Schema validates", "result.issues === undefined ?", "true ?", "answers"],
    ["a question must be shown", "  if (given === undefined) {", "  if (false) {", "answers"],
  ),
  ...of(
    "approval",
    ["only the words of consent consent", "approved: YES.has(word)", 'approved: word !== "no"', "approvals"],
    ["consent is a boolean", 'typeof value.approved !== "boolean"', "false", "approvals"],
    [
      "edits are refused where they are not allowed",
      "if (edits && checkArgs === undefined)",
      "if (false)",
      "edited-arguments",
    ],
    [
      "edited arguments are checked",
      "const verdict = checkArgs(value.editedArgs);",
      "const verdict = { ok: true, value: value.editedArgs } as Verdict;",
      "edited-arguments",
    ],
    ["a denial is a denial", "if (!consent.approved) return { approved: false };", "", "approvals"],
  ),
  ...of(
    "asking",
    [
      "always is honoured where it is allowed",
      "if (consent.always && allowAlways)",
      "if (consent.always)",
      "approvals",
    ],
    [
      "a call that forbids always is asked about",
      "if (allowAlways && turn.alwaysApproved.has(toolName))",
      "if (turn.alwaysApproved.has(toolName))",
      "approvals",
    ],
  ),
  ...of(
    "tool-call",
    [
      "a denied call is not run",
      "result = decision.approved ? await run(decision.args, context) : words;",
      "result = await run(call.args, context);",
      "approvals",
    ],
    ["a tool sees the arguments that were approved", "call.args = decision.args;", "", "edited-arguments"],
    ["a tool's own words stay here", 'wordsOf(error, "The tool failed.", isTold)', "String(error)", "tool-calls"],
  ),
  ...of("questions", ["a hook's answer is checked", "if (!verdict.ok)", "if (false)", "human-input-hook"]),
  ...of(
    "ending",
    ["an agent's own words stay here", 'wordsOf(error, "The agent failed.")', "String(error)", "failing-turns"],
    ["words too long for a frame are not told", " && error[member].length <= LONGEST_WORDS", "", "failing-turns"],
  ),
  ...of(
    "standing",
    ["what stops a turn aborts its signal", "this.#controller?.abort(stop.error);", "", "stopping"],
    ["what stops a turn leaves its generator", "    this.onStop?.();", "", "failing-turns"],
    [
      "a turn that was stopped asks nothing",
      "    if (this.#stop !== undefined) return this.#stop.error;\n",
      "",
      "stopping",
    ],
    [
      "what was released emits nothing",
      "return this.#stop?.emits === false ? this.#stop.error : undefined;",
      "return undefined;",
      "disconnect",
    ],
    ["a turn that unwinds asks nothing", "if (this.winding || this.unheard)", "if (this.unheard)", "abandoning"],
    [
      "nothing is asked after the end",
      "    if (this.over || this.decided) return new TurnEndedError();\n    if (this.winding",
      "    if (this.winding",
      "turn-control",
    ],
    [
      "nothing is emitted after the end",
      "    if (this.over || this.decided) return new TurnEndedError();\n    return this.replaying",
      "    return this.replaying",
      "turn-lifetime",
    ],
    [
      "a turn alone without an owner asks nobody",
      "return this.alone && !anybodyElse",
      "return false && !anybodyElse",
      "finishing-alone",
    ],
  ),
  ...of(
    "turn",
    [
      "a turn that was stopped has no result",
      "    if (this.standing.stop !== undefined) return this.#end(CANCELLED);\n    if (this.#decided",
      "    if (this.#decided",
      "stopping",
    ],
    [
      "a turn that was stopped does not fail",
      "    if (stop !== undefined) return this.#end(CANCELLED);\n    if (this.#decided",
      "    if (this.#decided",
      "stopping",
    ],
    [
      "nothing is delivered to a dead socket",
      "this.standing.stop === undefined ? decisions : []",
      "decisions",
      "exchange",
    ],
    [
      "giving everything up ends the turn",
      'if ([...decisions.values()].every((decision) => "error" in decision)) this',
      "if (false) this",
      "abandoning",
    ],
  ),
];
