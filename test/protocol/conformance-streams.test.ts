/**
 * The protocol's conformance streams as scripts of agents. What a client takes quietly comes out equal; what it rejects,
 * strips or repairs, and what its next version will reject, never reaches the wire, whichever way an agent tries.
 */
import { describe, expect, it, vi } from "vitest";
import type { Agent } from "../../src/index.ts";
import { readFrames } from "../../src/testing/frames.ts";
import { checkStream, type TestRun, type WireEvent } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import {
  type ConformanceStream,
  conformanceStreams,
  emittingAll,
  foreign,
  inputOfStream,
  isSound,
  playing,
  runsOf,
} from "../support/conformance-streams.ts";
import { bodyOf } from "../support/handmade-streams.ts";

const sound = conformanceStreams.filter(isSound).map((stream) => [stream.name, stream] as const);
const unsound = conformanceStreams.filter((stream) => !isSound(stream)).map((stream) => [stream.name, stream] as const);

const send = (stream: ConformanceStream, agent: Agent): Promise<TestRun> =>
  agentUnderTest(agent).run(inputOfStream(stream), {
    replay: runsOf(stream).length > 1,
    lateError: stream.stream.at(-1)?.type === "RUN_ERROR",
  });

/** Of a run's ends what the server adds by its own lights: its version, a success spelled out, a failure's code. */
const ADDED: Record<string, object> = {
  RUN_STARTED: { protocolVersion: "1.0" },
  RUN_FINISHED: { outcome: { type: "success" } },
  RUN_ERROR: { code: "AGENT_FAILED" },
};
const written = (event: WireEvent): WireEvent => ({ ...ADDED[event.type], ...event });

describe("a stream that a client takes quietly", () => {
  it("is one of these", () => {
    expect(sound.map(([name]) => name)).toEqual([
      "conformant-run-is-quiet",
      "current-peer-declares-protocol-version",
      "late-run-error-after-finished-run-continues",
      "messages-snapshot-reconciles-by-id",
      "run-finished-cancelled-outcome-accepted",
      "run-finished-interrupt-outcome-accepted",
      "subagent-terminal-closes-open-chunk-stream",
      "two-sequential-runs-accumulate",
    ]);
  });

  it.each(sound)("comes out equal: %s", async (_name, stream) => {
    const input = { ...inputOfStream(stream), messages: [] };
    const refused: string[] = [];
    const run = await send(
      stream,
      playing(stream, (message) => refused.push(message)),
    );
    expect(refused).toEqual([]);
    const asIs = await checkWithClient(bodyOf(stream.stream), input);
    const ours = await checkWithClient(run.raw, input);
    // Chunks leave as what a client makes of them.
    const raw = stream.stream.some(({ type }) => type.endsWith("_CHUNK")) ? asIs.events : stream.stream;
    expect(run.events).toEqual((raw as WireEvent[]).map(written));
    expect(ours.messages).toEqual(asIs.messages);
    expect(ours.state).toEqual(asIs.state);
    expect(ours.pendingInterrupts).toEqual(asIs.pendingInterrupts);

    const { messageCount, messages, state, runError, eventTypes } = stream.expect;
    if (messageCount !== undefined) expect(ours.messages).toHaveLength(messageCount);
    if (messages !== undefined) expect(ours.messages).toMatchObject(messages);
    if (state !== undefined) expect(ours.state).toEqual(state);
    if (runError !== undefined) expect(run.error?.message).toBe(runError);
    const types = stream.expectOverrides?.typescript?.eventTypes ?? eventTypes;
    if (types !== undefined) expect(ours.events.map(({ type }) => type)).toEqual(types);
  });

  const single = sound.filter(([, stream]) => runsOf(stream).length === 1);
  it.each(single)("comes out equal from a foreign agent: %s", async (_name, stream) => {
    const run = await send(stream, foreign(stream));
    const asIs = await checkWithClient(bodyOf(stream.stream), { ...inputOfStream(stream), messages: [] });
    // A foreign run has one end: what it says last counts.
    const isLate = stream.stream.at(-1)?.type === "RUN_ERROR";
    const events = (asIs.events as unknown as WireEvent[]).filter(({ type }) => !(isLate && type === "RUN_FINISHED"));
    expect(run.events).toEqual(events.map(written));
  });
});

interface Stopped {
  /** What its agent is told when it does this by the means an agent has. */
  readonly played: readonly string[];
  /** What it is told, beside of the run's ends, when it emits this as it stands. */
  readonly emitted: readonly string[];
  /** What is then shown between the run's ends. */
  readonly shows: readonly string[];
  /** How the played run ends, and that of a foreign agent. */
  readonly ends: readonly [string, string];
}

const stopped: Record<string, Stopped> = {
  "custom-closes-chunk-stream-fatal": {
    played: ["The first TEXT_MESSAGE_CHUNK must have a messageId."],
    emitted: ["The first TEXT_MESSAGE_CHUNK must have a messageId."],
    shows: ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "CUSTOM"],
    ends: ["success", "AGENT_FAILED"],
  },
  "duplicate-interrupt-id-fatal": {
    played: ["Two of the interrupts have one id."],
    emitted: [],
    shows: [],
    ends: ["AGENT_FAILED", "AGENT_FAILED"],
  },
  "run-finished-wrong-run-id-fatal": { played: [], emitted: [], shows: [], ends: ["success", "success"] },
  "second-run-on-another-thread-fatal": { played: [], emitted: [], shows: [], ends: ["success", "success"] },
  "truncated-run-reported-as-completed": {
    played: [],
    emitted: [],
    shows: ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
    ends: ["success", "AGENT_FAILED"],
  },
  "truncated-stream-fails-the-run": {
    played: [],
    emitted: [],
    shows: ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
    ends: ["success", "AGENT_FAILED"],
  },
  "unknown-outcome-stripped": { played: [], emitted: [], shows: [], ends: ["success", "success"] },
};

const between = ({ events }: TestRun) => events.filter(({ type }) => !type.startsWith("RUN_")).map(({ type }) => type);
const endOf = ({ error, outcome }: TestRun) => error?.code ?? outcome?.type;
/** Both ends of a run are the server's to write, so every one that is emitted is refused. */
const endsRefused = ({ stream }: ConformanceStream) =>
  stream
    .filter(({ type }) => type.startsWith("RUN_"))
    .map(({ type }) => `${type} is written by the server; an agent returns or throws instead.`);

describe("a stream that a client does not take quietly", () => {
  it("is one of these", () => {
    expect(unsound.map(([name]) => name)).toEqual(Object.keys(stopped));
  });

  it.each(unsound)("is found out by the checks every stream of these tests passes: %s", async (_name, stream) => {
    const input = inputOfStream(stream);
    const events = stream.stream.map((event) => (event.type === "RUN_STARTED" ? written(event) : event));
    const found = async () => {
      checkStream(readFrames(bodyOf(events)).frames, { ...input, replay: runsOf(stream).length > 1 });
      await checkWithClient(bodyOf(events), { ...input, messages: [] });
    };
    await expect(found()).rejects.toThrow();
  });

  it.each(unsound)("never reaches the wire (P21, P28, P51, P58, P71, P108, P150): %s", async (name, stream) => {
    const expected = stopped[name] as Stopped;
    const refused: string[] = [];
    const played = await send(
      stream,
      playing(stream, (message) => refused.push(message)),
    );
    expect(refused).toEqual(expected.played);
    expect(between(played)).toEqual(expected.shows);
    expect(endOf(played)).toBe(expected.ends[0]);
    // Of all runs on the stream, replayed ones included.
    const { threadId } = inputOfStream(stream);
    for (const event of played.events) expect(event.threadId ?? threadId).toBe(threadId);
  });

  it.each(unsound)("never reaches the wire event by event: %s", async (name, stream) => {
    const expected = stopped[name] as Stopped;
    const refused: string[] = [];
    const run = await send(
      stream,
      emittingAll(stream, (message) => refused.push(message)),
    );
    expect(refused.toSorted()).toEqual([...endsRefused(stream), ...expected.emitted].toSorted());
    expect(between(run)).toEqual(expected.shows);
    expect([run.events[0]?.type, endOf(run)]).toEqual(["RUN_STARTED", "success"]);
  });

  it.each(unsound)("never reaches the wire from a foreign agent: %s", async (name, stream) => {
    const expected = stopped[name] as Stopped;
    // Its own client tells of what it strips.
    const warned = vi.spyOn(console, "warn").mockReturnValue();
    try {
      const run = await send(stream, foreign(stream));
      expect([run.events[0]?.type, endOf(run)]).toEqual(["RUN_STARTED", expected.ends[1]]);
      expect(expected.shows).toEqual(expect.arrayContaining(between(run)));
    } finally {
      warned.mockRestore();
    }
  });
});
