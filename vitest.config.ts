import { defaultExclude, defineConfig } from "vitest/config";
import { ConformanceReporter } from "./test/support/conformance-reporter.ts";
import { StreamReporter } from "./test/support/stream-reporter.ts";

/** Runs other test files again, which is possible only where nobody has loaded them before. */
const ALONE = ["test/agents/a2ui-exchange.test.ts"];

const node = {
  include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
  pool: "forks" as const,
  // What is done after each test; hooks that helpers register when they are loaded would be the first file's only.
  setupFiles: ["test/support/each-test.ts"],
  execArgv: ["--unhandled-rejections=strict"],
  testTimeout: 20_000,
  hookTimeout: 20_000,
};

export default defineConfig({
  test: {
    reporters: ["default", new StreamReporter(), new ConformanceReporter()],
    // `npm run coverage`: the tests in process, for only what runs in the process of the tests can be counted.
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts", "adapters/**/*.ts"],
      exclude: [
        "**/*.d.ts",
        // These run under Bun, Deno and workerd only; test/runtimes drives them there.
        "adapters/bun.ts",
        "adapters/deno.ts",
        "adapters/workers.ts",
        "adapters/durable-object.ts",
        // `holdline run` and `holdline create` run as commands, and a project in them: test/cli and test/newcomer.
        "src/cli/**",
        "src/project/**",
        // The page runs in a browser, and what serves it embeds the page as the build makes it: test/console.
        "src/console/page/**",
        "src/console/document.ts",
        "src/console/index.ts",
      ],
      reporter: ["text", "json"],
      reportsDirectory: ".tmp/coverage",
      thresholds: { branches: 95 },
    },
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
