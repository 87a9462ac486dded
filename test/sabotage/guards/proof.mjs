import { guardsOf } from "../guard.mjs";

const of = (file, ...rows) => guardsOf("proof", file, rows);

export const proof = [
  ...of(
    "resume",
    ["a proof is asked for", "if (!covered.every(", "if (false && !covered.every(", "proof"],
    ["giving up is proven too", "=> isProven(entry,", '=> entry.status === "cancelled" || isProven(entry,', "proof"],
    [
      "a proof comes before the payload",
      "if (!covered.every(",
      'const early = decide(covered, rules);\n  if (!(early instanceof Promise) && "refusal" in early) return early;\n  if (!covered.every(',
      "proof",
    ],
    [
      "without an envelope nothing is proven",
      "if (ours === undefined) return !required;",
      "if (ours === undefined) return true;",
      "proof",
    ],
    [
      "an envelope without a proof proves nothing",
      "if (proof === undefined) return !required;",
      "if (proof === undefined) return true;",
      "proof",
    ],
    [
      "a malformed envelope proves nothing",
      "Array.isArray(ours)) return false;",
      "Array.isArray(ours)) return true;",
      "proof",
    ],
    [
      "a proof that is present must be the one issued",
      'typeof proof === "string" && proves(',
      '!required || typeof proof === "string" && proves(',
      "proof",
    ],
    ["a proof is compared", "proves(proof, issued)", "true", "proof"],
  ),
  ...of(
    "proof",
    ["the last character counts", "i < issued.length; i++)", "i < issued.length - 1; i++)", "proof"],
    ["the first character counts", "for (let i = 0; i < issued.length", "for (let i = 1; i < issued.length", "proof"],
    ["the length counts", "if (given.length !== issued.length) return false;", "", "proof"],
    [
      "a comparison does not end at the first difference",
      "difference |= given.charCodeAt(i) ^ issued.charCodeAt(i);",
      "if (given.charCodeAt(i) !== issued.charCodeAt(i)) return false;",
      "proof",
    ],
    ["a proof has 32 bytes", "=> random(32)", "=> random(16)", "proof"],
    ["an id has an instance mark", "{own()}", "{random(6)}", "proof"],
  ),
  ...of(
    "spent-interrupts",
    [
      "what became of an interrupt is told to its own thread only",
      "spent.threadKey === short(threadKey) ?",
      "true ?",
      "causes",
    ],
    ["what is remembered is bounded", "if (this.#young.size < GENERATION) return;", "return;", "causes"],
  ),
  ...of("asking", ["the library's key is its own", 'if (Object.hasOwn(metadata, "holdline"))', "if (false)", "ask"]),
  ...of("handle", [
    "inspect shows no proof",
    "const { metadata: _metadata, responseSchema",
    "const { responseSchema",
    "stats-and-inspect",
  ]),
];
