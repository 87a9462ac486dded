import { defineConfig } from "vitest/config";
import { ConformanceReporter } from "./test/support/conformance-reporter.ts";
import { StreamReporter } from "./test/support/stream-reporter.ts";

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
      {
        test: {
          name: "node",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          pool: "forks",
          // Isolated, as is the default: what helpers do after each test they register when they are loaded, once a file.
          isolate: true,
          execArgv: ["--unhandled-rejections=strict"],
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
    ],
  },
});
