/** The tests that a mutant has to get past: those in process that are about admission, answers, retention and the ledger, and quick. */
import { defineConfig } from "vitest/config";

const promises = [
  "abandoning",
  "answers",
  "async-schemas",
  "causes",
  "closing",
  "disconnect",
  "emitting",
  "eviction",
  "exchange",
  "identity",
  "ledger-and-reopening",
  "owner",
  "places",
  "proof",
  "queue",
  "races",
  "refusals",
  "retention",
  "several-questions",
  "stats-and-inspect",
  "stopping",
  "subagents-and-steps",
  "text",
  "tool-calls",
  "versions",
];

const cases = ["answers", "claiming", "events", "nesting", "threads"];

const protocol = ["chunks", "conformance-streams", "conversation", "items", "runs", "several-runs", "subagents"];

export default defineConfig({
  test: {
    setupFiles: ["test/support/each-test.ts"],
    include: [
      ...promises.map((name) => `test/promises/${name}.test.ts`),
      ...cases.map((name) => `test/cases/${name}.test.ts`),
      ...protocol.map((name) => `test/protocol/${name}.test.ts`),
    ],
    isolate: false,
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});
