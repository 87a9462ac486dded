import { defineConfig } from "vitest/config";
import { ConformanceReporter } from "./test/support/conformance-reporter.ts";
import { StreamReporter } from "./test/support/stream-reporter.ts";

export default defineConfig({
  test: {
    reporters: ["default", new StreamReporter(), new ConformanceReporter()],
    coverage: { provider: "v8", include: ["src/**/*.ts", "adapters/**/*.ts"] },
    // One for each core: the default leaves a core free, which on two cores means one worker.
    maxWorkers: "100%",
    projects: [
      {
        test: {
          name: "node",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          pool: "forks",
          execArgv: ["--unhandled-rejections=strict"],
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
    ],
  },
});
