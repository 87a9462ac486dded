/**
 * An agent under test: its handler in this process, a clock that the test moves, and a client that
 * answers what it is asked. Every stream is checked; one that breaks a promise fails the test that got it.
 */
import { type Interrupt, PROTOCOL_VERSION, type ResumeEntry, type RunAgentInput } from "@ag-ui/core";
import { type Agent, createHandler, type Handler, type HandlerOptions, type Warning } from "../index.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { checkStream } from "./invariants.ts";
import { readAnswer, readRun, type TestRun } from "./test-run.ts";

/** Options of `testAgent`: the handler's own, with other defaults for two. */
export interface TestAgentOptions extends Omit<HandlerOptions, "clock"> {
  /** The clock all deadlines live by. Default: a new one. */
  clock?: TestClock;
}

/** How one run is sent; all may be left out. */
export interface TestRunOptions {
  /** Who is calling, in place of `identify`. Default for an answer: who was asked. Absent: `identify` is asked. */
  identity?: string | null;
  /** Given to the agent as `context.locals`. */
  locals?: unknown;
  /** Further headers of the request, for `identify` to read. */
  headers?: Record<string, string>;
  /** Leaves when aborted; the promise then rejects with its reason. */
  signal?: AbortSignal;
  /** The agent replays earlier runs of the thread in this one. Default `false`: a second run on a stream fails. */
  replay?: boolean;
  /** What the agent leaves to `waitUntil` fails: RUN_ERROR may follow RUN_FINISHED. Default `false`: it fails the test. */
  lateError?: boolean;
}

/** What the handler told `onError`. */
export interface ReportedError {
  /** What was thrown. */
  readonly error: unknown;
  /** The thread it was thrown on, where it was on one. */
  readonly threadId?: string;
  /** The run it was thrown in, where it was in one. */
  readonly runId?: string;
}

/** What an answer is put under: an interrupt as a run ended with it. */
export type Asked = Pick<Interrupt, "id" | "metadata">;

/**
 * What `testAgent` gives. `run`, `answer`, `abandon` and `resume` each send one run and resolve once its stream has
 * closed. They reject with an `InvariantError` when the stream broke a promise, and with the `RequestError` of a
 * request that was answered with an HTTP error; a run that failed or was refused resolves, its `error` says why.
 */
export interface TestAgent {
  /** The handler itself, for what the rest does not cover. */
  readonly handler: Handler;
  /** The handler's clock. Deadlines pass when it is advanced. */
  readonly clock: TestClock;
  /**
   * Sends a run: a string is the one user message of the input. What an input leaves out is: `threadId` `"thread-1"`,
   * a `runId` that counts up from `"run-1"`, no messages, tools or context, the state `{}`. No history is kept: the messages are those given.
   */
  run(input: string | Partial<RunAgentInput>, options?: TestRunOptions): Promise<TestRun>;
  /**
   * Answers one question as a client that copies its metadata does: on the thread, with the messages and as the
   * caller of the run that asked, and with the state that run left. `extra` overrides the input's members. With `undefined` the entry has no payload.
   */
  answer(
    interrupt: Asked,
    payload: unknown,
    extra?: Partial<RunAgentInput>,
    options?: TestRunOptions,
  ): Promise<TestRun>;
  /** Gives one question up; otherwise as `answer`. */
  abandon(interrupt: Asked, extra?: Partial<RunAgentInput>, options?: TestRunOptions): Promise<TestRun>;
  /** Sends these resume entries exactly as they are; otherwise as `answer`, for the first question among them that was asked here. */
  resume(entries: readonly ResumeEntry[], extra?: Partial<RunAgentInput>, options?: TestRunOptions): Promise<TestRun>;
  /** What went to `onWarning`, in order. */
  readonly warnings: Warning[];
  /** What went to `onError`, in order. */
  readonly errors: ReportedError[];
  /** Closes the handler. For agents that ignore their signal the clock is advanced to where they are given up on. */
  close(): Promise<void>;
}

/**
 * Puts an agent under test. Where the options do not say otherwise every event is validated (`validate: true`)
 * and time stands still until `clock.advance`. `onWarning` and `onError` are called as well as collected.
 */
export function testAgent(agent: Agent | TestAgentOptions): TestAgent {
  const given: TestAgentOptions = typeof agent === "function" ? { agent } : agent;
  const clock = given.clock ?? createTestClock();
  const warnings: Warning[] = [];
  const errors: ReportedError[] = [];
  const handler = createHandler({
    validate: true,
    ...given,
    clock,
    onWarning(warning) {
      warnings.push(warning);
      return given.onWarning?.(warning);
    },
    onError(error, where) {
      errors.push({ error, ...where });
      return given.onError?.(error, where);
    },
  });
  /** The runs that asked, by the ids of their interrupts. */
  const asking = new Map<string, { readonly run: TestRun; readonly options: TestRunOptions }>();
  const seenInterruptIds = new Set<string>();
  let runs = 0;

  async function send(partial: Partial<RunAgentInput>, options: TestRunOptions): Promise<TestRun> {
    runs += 1;
    const input: RunAgentInput = {
      threadId: "thread-1",
      runId: `run-${runs}`,
      protocolVersion: PROTOCOL_VERSION,
      state: {},
      messages: [],
      tools: [],
      context: [],
      ...partial,
    };
    const { identity, locals, headers, signal, replay, lateError } = options;
    const request = new Request("http://agent.test/", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(input),
      signal: signal ?? null,
    });
    const response = await handler.handle(request, { locals, ...(identity === undefined ? {} : { identity }) });
    const frames = await readAnswer(response, signal);
    const asked: Interrupt[] = frames.frames.at(-1)?.event.outcome?.interrupts ?? [];
    const redelivered =
      !input.resume?.length && asked.length > 0 && asked.every((each) => isOpenTo(each, input, options));
    checkStream(frames.frames, {
      threadId: input.threadId,
      runId: input.runId,
      seenInterruptIds,
      redelivered,
      replay,
      lateError,
    });
    const run = readRun(frames, input);
    for (const { id } of run.interrupts) asking.set(id, { run, options });
    return run;
  }

  /** Whether it is, to the letter, what this caller was asked on this thread: only then may a plain run be asked it again. */
  function isOpenTo(interrupt: Interrupt, input: RunAgentInput, options: TestRunOptions): boolean {
    const before = asking.get(interrupt.id);
    if (before === undefined || before.run.input.threadId !== input.threadId) return false;
    const original = before.run.interrupts.find(({ id }) => id === interrupt.id);
    return callerOf(before.options) === callerOf(options) && JSON.stringify(original) === JSON.stringify(interrupt);
  }

  function resume(
    entries: readonly ResumeEntry[],
    extra: Partial<RunAgentInput> = {},
    options: TestRunOptions = {},
  ): Promise<TestRun> {
    const asked = entries.map(({ interruptId }) => asking.get(interruptId)).find((found) => found !== undefined);
    const { threadId, messages } = asked?.run.input ?? {};
    const as = asked && { threadId, messages, state: asked.run.state };
    const { identity, headers } = asked?.options ?? {};
    const caller = { ...(identity !== undefined && { identity }), ...(headers !== undefined && { headers }) };
    return send({ ...as, resume: [...entries], ...extra } as Partial<RunAgentInput>, { ...caller, ...options });
  }

  return {
    handler,
    clock,
    warnings,
    errors,
    run(input, options = {}) {
      if (typeof input !== "string") return send(input, options);
      return send({ messages: [{ id: `message-${runs + 1}`, role: "user", content: input }] }, options);
    },
    answer({ id, metadata }, payload, extra, options) {
      const entry: ResumeEntry = { interruptId: id, status: "resolved" };
      if (payload !== undefined) entry.payload = payload;
      return resume([metadata === undefined ? entry : { ...entry, metadata }], extra, options);
    },
    abandon({ id, metadata }, extra, options) {
      const entry: ResumeEntry = { interruptId: id, status: "cancelled" };
      return resume([metadata === undefined ? entry : { ...entry, metadata }], extra, options);
    },
    resume,
    async close() {
      let closed = false;
      const closing = handler.close().then(() => {
        closed = true;
      });
      await clock.advance(0);
      if (!closed) await clock.advance(given.closeTimeoutMs ?? 10_000);
      await closing;
    },
  };
}

const callerOf = ({ identity, headers }: TestRunOptions): string => JSON.stringify([identity, headers]);
