import { defineConfig } from "vitest/config";

/** For the damaged copies: one file at a time, and a damage that makes a test hang is found out soon. */
export default defineConfig({
  test: {
    include: ["test/promises/**/*.test.ts", "test/protocol/**/*.test.ts"],
    setupFiles: ["test/support/each-test.ts"],
    pool: "forks",
    execArgv: ["--unhandled-rejections=strict"],
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 1_000,
  },
});
