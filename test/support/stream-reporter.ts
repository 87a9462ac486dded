import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reporter, Vitest } from "vitest/node";
import { STREAM_COUNT_FILE } from "./count-streams.ts";

/** Adds to the runner's summary how many streams passed the checks, over all workers and their child processes. */
export class StreamReporter implements Reporter {
  #vitest: Vitest | undefined;
  #path = "";

  // Before any worker is started: they inherit the environment of this process.
  onInit(vitest: Vitest): void {
    const folder = mkdtempSync(join(tmpdir(), "holdline-streams-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    this.#vitest = vitest;
    this.#path = join(folder, "count");
    process.env[STREAM_COUNT_FILE] = this.#path;
  }

  onTestRunStart(): void {
    writeFileSync(this.#path, "");
  }

  // The default reporter stands before this one in the list, so its summary is out already.
  onTestRunEnd(): void {
    this.#vitest?.logger.log(`    Streams  ${statSync(this.#path).size} passed the checks\n`);
  }
}
