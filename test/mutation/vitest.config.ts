/** The tests that a mutant has to get past: those in process that are about admission, answers and retention, and quick. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const promises = [
  "abandoning",
  "answers",
  "async-schemas",
  "causes",
  "closing",
  "disconnect",
  "eviction",
  "exchange",
  "identity",
  "owner",
  "proof",
  "queue",
  "races",
  "refusals",
  "retention",
  "several-questions",
  "stats-and-inspect",
  "versions",
];

const cases = ["answers", "claiming"];

export default defineConfig({
  resolve: {
    alias: [{ find: /^.*\/client-check\.ts$/, replacement: fileURLToPath(new URL("./unchecked.ts", import.meta.url)) }],
  },
  test: {
    setupFiles: ["test/support/each-test.ts"],
    include: [
      ...promises.map((name) => `test/promises/${name}.test.ts`),
      ...cases.map((name) => `test/cases/${name}.test.ts`),
    ],
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});
