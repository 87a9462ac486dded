import { openSync, writeSync } from "node:fs";

/** Names the file that a test run counts its streams in; `stream-reporter.ts` sets it, child processes inherit it. */
export const STREAM_COUNT_FILE = "HOLDLINE_STREAM_COUNT_FILE";

let file: number | undefined;

/** Counts one stream that passed the checks; the run's summary says how many did. Outside a test run it does nothing. */
export function countStream(): void {
  const path = process.env[STREAM_COUNT_FILE];
  if (path === undefined) return;
  file ??= openSync(path, "a");
  // One byte in append mode: whole between processes, and nothing is left to flush when a worker is killed.
  writeSync(file, ".");
}
