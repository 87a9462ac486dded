import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("ledger", file, rows);

export const ledger = [
  ...of(
    "ledger",
    [
      "what is open closes innermost first",
      "for (const item of [...this.#open].reverse()) {",
      "for (const item of [...this.#open]) {",
      "ledger-and-reopening",
    ],
    [
      "steps and subagents start again",
      "else if (again.length > 0) this.#restarts",
      "else if (false) this.#restarts",
      "ledger-and-reopening",
    ],
    [
      "they start again before the next event",
      "return [...this.#begin(), event];",
      "return [event];",
      "ledger-and-reopening",
    ],
    [
      "messages open again when they are appended to",
      "        out.push(startAgain(one));\n",
      "",
      "ledger-and-reopening",
    ],
    [
      "a call takes no more arguments after an interrupt",
      'if (item.kind === "call" && item.state === "suspended")',
      "if (false)",
      "ledger-and-reopening",
    ],
    [
      "a call is not started again after an interrupt",
      'if (kind === "call" && known !== undefined && known.run !== this.#run)',
      "if (false)",
      "protocol/items",
    ],
    [
      "an end that comes late is taken once",
      "      item.early = false;\n      return [];",
      "      return [];",
      "protocol/items",
    ],
    [
      "who is announced again has no parent that has ended",
      "out.push(this.#owners.parented(startAgain(item)));",
      "out.push(startAgain(item));",
      "protocol/subagents",
    ],
    [
      "what goes on names its owner",
      "    else if (item.owner !== undefined) this.#owners.attribute(item.owner);\n",
      "",
      "protocol/subagents",
    ],
    [
      "what is said beside an empty delta goes out",
      " && event.metadata === undefined && event.rawEvent === undefined) return [];",
      ") return [];",
      "protocol/chunks",
    ],
    [
      "an end of what nobody used since sends nothing",
      '      item.state = "closed";\n      return [];',
      '      item.state = "closed";',
      "ledger-and-reopening",
    ],
    [
      "nothing continues that was not started",
      'if (item === undefined || item.state === "closed")',
      "if (false)",
      "emitting",
    ],
    ["nothing is started twice", 'if (known?.state === "open") refuse', "if (false) refuse", "emitting"],
    [
      "a suspended subagent names its interrupts",
      "const interruptIds = interruptsOf(item.id);",
      "const interruptIds: string[] = [];",
      "ledger-and-reopening",
    ],
    ["a call whose result went out is answered", "this.#calls.set(id, true);", "", "ledger-and-reopening"],
    ["half a pair goes out at the end", 'out.push(appendTo(item, "\\ufffd"));', "", "text"],
  ),
  ...of("items", [
    "half a pair waits for the other",
    "const splits = last >= 0xd800 && last <= 0xdbff;",
    "const splits = false;",
    "text",
  ]),
  ...of("chunks", [
    "what is refused ends no chunk stream",
    "    const taken = this.#ledger.take(event);\n    // Taken first, since it may be refused; the end of the stream that it ends goes out before it.\n    return TRANSPARENT.has(event.type) ? taken : [...this.#endLane(event.subagentRunId), ...taken];",
    "    const ends = TRANSPARENT.has(event.type) ? [] : this.#endLane(event.subagentRunId);\n    return [...ends, ...this.#ledger.take(event)];",
    "protocol/chunks",
  ]),
  ...of("voice", [
    "what is refused ends no message",
    "this.send(event, false, this.#endedBy(event));",
    "if (!BESIDES.test(event.type)) this.close();\n    this.send(event);",
    "text",
  ]),
  ...of("conversation", [
    "a snapshot takes no message from its owner",
    "(this.#find(parentId) ?? this.#dropped?.get(parentId))",
    "this.#find(parentId)",
    "protocol/subagents",
  ]),
  ...of("frames", ["no frame holds a line separator", "  LINE_SEPARATORS.test(json)\n", "  false\n", "emitting"]),
  ...of(
    "output",
    [
      "what is open is closed before the end",
      "for (const event of this.ledger.endRun()) this.#sink.write(frame(event));",
      "this.ledger.endRun();",
      "ledger-and-reopening",
    ],
    [
      "what is open is closed before an interrupt",
      "for (const event of this.ledger.endRun(raisedBy)) this.#sink.write(frame(event));",
      "this.ledger.endRun(raisedBy);",
      "ledger-and-reopening",
    ],
  ),
];
