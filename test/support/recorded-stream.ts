/** Streams that came over a real socket, held to what `agentUnderTest` holds those in process to. */
import type { RunAgentInput } from "@ag-ui/core";
import { checkStream, readFrames, type WireEvent } from "../../src/testing/index.ts";
import { checkWithClient } from "./client-check.ts";
import { countStream } from "./count-streams.ts";

/** What was posted. */
export type PostedInput = Pick<RunAgentInput, "threadId" | "runId" | "messages"> & Partial<RunAgentInput>;

/** The events of a body as it was read. Rejects when it breaks a promise, or the protocol's own client would not take it. */
export async function readRecorded(
  body: string | Uint8Array,
  input: PostedInput,
  seenInterruptIds = new Set<string>(),
): Promise<WireEvent[]> {
  const { frames } = readFrames(typeof body === "string" ? Buffer.from(body) : body);
  checkStream(frames, { threadId: input.threadId, runId: input.runId, seenInterruptIds });
  await checkWithClient(body, input);
  countStream();
  return frames.map(({ event }) => event);
}
