import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The cases that need only the core and Node, each with what it is about. The others belong to other runtimes. */
const CASES: Record<string, string> = {
  B1: "equal resumes at once",
  B2: "a resume sent again",
  B4: "proofs changed over",
  B5: "cover of every open question",
  B8: "questions asked together",
  B10: "the same question again and again",
  B11: "another thread's answer",
  B12: "an interrupt made up",
  B14: "the official client's own helper",
  B15: "where a proof is told",
  B17: "failure after the answer",
  B18: "refusals cost nothing",
  B20: "a run id used again",
  B21: "history beside an answer",
  B23: "question after question",
  B25: "any JSON value",
  B27: "nothing but an answer goes past",
  B28: "giving up",
  B30: "what a client is shown of a schema",
  B34: "a plain run on a waiting thread",
  B35: "never answered",
  B36: "one turn at a time",
  B38: "questions nobody waits for",
  B39: "a subagent's tool asks",
  B41: "an unused frontend tool",
  B42: "a frontend tool and a question",
  B45: "many threads at once",
  B47: "how many are held",
  B49: "what a held turn keeps",
  B51: "a held turn and its process",
  B52: "the deadline",
  B55: "closing",
  B56: "the reader cancels",
  B58: "an agent that waits for room",
  B59: "whatever tells of leaving",
  B60: "the end of the exchange that asked",
  B62: "the moments of leaving",
  B63: "odd reasons and errors",
  B64: "a reader that stalls",
  B66: "the head leaves at once",
  B68: "the heartbeat",
  B69: "headers against collecting",
  B71: "hop-by-hop headers and HTTP/2",
  B73: "one rule for what goes wrong",
  B74: "what is open when a run asks",
  B75: "the call that asks",
  B77: "state across a question",
  B78: "empty text",
  B81: "values JSON cannot say",
  B83: "what an error tells",
  B86: "bodies that are no input",
  B87: "ids and messages",
  B88: "nulls",
  B90: "cross-site content types",
  B91: "media types",
  B92: "methods",
  B93: "behind middleware",
  B99: "nothing before the first request",
  B101: "a turn that ends with a question",
  B102: "the same through the official client",
};

it("every case of the core and of Node has a test that names it, and no test names another", () => {
  const sources = readdirSync(new URL(".", import.meta.url))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => readFileSync(new URL(name, import.meta.url), "utf8"));
  const named = sources.flatMap((source) =>
    [...source.matchAll(/^(?:describe|it)(?:\.each\(.*\))?\(\s*"(B\d+) /gm)].map(([, id]) => id as string),
  );
  expect([...new Set(named)].sort()).toEqual(Object.keys(CASES).sort());
});
