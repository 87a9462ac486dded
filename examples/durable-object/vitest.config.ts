/** `npx vitest run --root examples/durable-object` tests this example alone. */
import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["*.test.ts"], testTimeout: 20_000 } });
