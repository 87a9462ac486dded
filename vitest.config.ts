import { defaultExclude, defineConfig } from "vitest/config";
import { ConformanceReporter } from "./test/support/conformance-reporter.ts";
import { StreamReporter } from "./test/support/stream-reporter.ts";

/** Runs other test files again, which is possible only where nobody has loaded them before. */
const ALONE = ["test/agents/a2ui-exchange.test.ts"];

const node = {
  include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
  pool: "forks" as const,
  execArgv: ["--unhandled-rejections=strict"],
  testTimeout: 20_000,
  hookTimeout: 20_000,
};

export default defineConfig({
  test: {
    reporters: ["default", new StreamReporter(), new ConformanceReporter()],
    coverage: { provider: "v8", include: ["src/**/*.ts", "adapters/**/*.ts"] },
    // One for each core: the default leaves a core free, which on two cores means one worker.
    maxWorkers: "100%",
    teardownTimeout: 3_000,
    projects: [
      // One process after another would load the same modules for each of its files, which took longer than the tests.
      { test: { ...node, name: "node", exclude: [...defaultExclude, ...ALONE], isolate: false } },
      { test: { ...node, name: "alone", include: ALONE } },
    ],
  },
});
