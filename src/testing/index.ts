/**
 * Tests of an agent without a server: `testAgent` runs it in this process and answers what it asks.
 * Beside it what that is made of, for tests of a stream that came from anywhere. It imports no test runner
 * and no runtime's own modules.
 *
 * @module holdline/testing
 */
export { createTestClock, type TestClock } from "./clock.ts";
export {
  type Comment,
  type Frame,
  type FrameReader,
  type Frames,
  frameReader,
  readFrames,
  type WireEvent,
} from "./frames.ts";
export { type Invariant, InvariantError } from "./invariant-error.ts";
export { checkStream, type StreamExpectation } from "./invariants.ts";
export {
  type Asked,
  type ReportedError,
  type TestAgent,
  type TestAgentOptions,
  type TestRunOptions,
  testAgent,
} from "./test-agent.ts";
export type { TestRun } from "./test-run.ts";
