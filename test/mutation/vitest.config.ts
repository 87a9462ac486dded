/** The tests that a mutant has to get past: those in process, which are quick. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "test/promises/**/*.test.ts",
      "test/cases/claiming.test.ts",
      "test/cases/answers.test.ts",
      "test/protocol/**/*.test.ts",
    ],
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});
