/**
 * One fuzzed conversation: a handler, the agent that does anything, and the protocol's own client, which answers at
 * random, wrongly, late or not at all. Every stream passes the checks; everything is drawn from the seed.
 */
import { isDeepStrictEqual } from "node:util";
import type { Interrupt, ResumeEntry } from "@ag-ui/client";
import { createHandler, type Handler } from "../../src/index.ts";
import { createTestClock, type TestClock, type TestRun } from "../../src/testing/index.ts";
import { type HttpClient, httpClient } from "../support/http-client.ts";
import { openExchange } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { MEDIA_TYPE } from "../support/protobuf.ts";
import { answerTo, endOf, giveUp, isLone } from "../support/runs.ts";
import { COUNTED, fuzzingAgent, type Journal } from "./fuzzing-agent.ts";
import { type Random, random } from "./random.ts";
import { CLIENT_TOOL } from "./random-events.ts";

const SEEN = [
  "runs",
  "resumes",
  "interrupts",
  "reopened",
  "refusals",
  "abandons",
  "mixed",
  "expiries",
  "redeliveries",
  "left",
  "heldForOwner",
  "stopped",
  "failed",
  "cancelled",
  "statesCompared",
  "inProtobuf",
] as const;

export type Counts = Record<(typeof COUNTED)[number] | (typeof SEEN)[number], number>;

export const noCounts = (): Counts => Object.fromEntries([...COUNTED, ...SEEN].map((name) => [name, 0])) as Counts;

const TTL_MS = 60_000;
const OWNER = { "x-user": "ann" };
const tools = [{ name: CLIENT_TOOL, description: "Shows the seats.", parameters: {} }];

/** Holds a conversation and adds to the counts. @throws whatever is wrong with it; the seed brings it about again. */
export async function converse(seed: number, counts: Counts): Promise<void> {
  const conversation = new Conversation(random(seed), counts);
  try {
    await conversation.hold();
  } finally {
    await conversation.close();
  }
}

class Conversation {
  readonly #random: Random;
  readonly #counts: Counts;
  readonly #clock: TestClock = createTestClock();
  readonly #journal: Journal;
  readonly #handler: Handler;
  readonly #threadId: string;
  /** What has been opened on the thread so far, to see what is opened again. */
  readonly #opened = new Set<string>();
  #client: HttpClient;
  #said = 0;

  constructor(chance: Random, counts: Counts) {
    this.#random = chance.fork();
    this.#counts = counts;
    this.#journal = { counts, wanted: new Map(), answered: new Map(), wrong: [], turn: undefined };
    this.#handler = createHandler({
      agent: fuzzingAgent(this.#journal, () => chance.fork()),
      clock: this.#clock,
      validate: this.#random.percent(50),
      transports: { protobuf: true },
      identify: (request) => request.headers.get("x-user"),
      whenAsked: this.#random.pick(["ask-again", "abandon"]),
      onDisconnect: this.#random.pick(["abort", "finish"]),
      retention: { ttlMs: TTL_MS },
      limits: { keptEvents: this.#random.pick([1, 3, 1_000]) },
      onWarning: () => {},
      onError: () => {},
    });
    this.#threadId = this.#random.pick(["thread-1", "", "__proto__"]);
    // The other binding carries the same.
    const isBinary = this.#random.percent(25);
    this.#counts.inProtobuf += isBinary ? 1 : 0;
    this.#client = httpClient({
      post: (request) => this.#handler.handle(request),
      threadId: this.#threadId,
      headers: OWNER,
      ...(isBinary && { accept: MEDIA_TYPE }),
      expects: () => ({ replay: this.#journal.turn?.replayed ?? false, lateError: this.#journal.turn?.late ?? false }),
    });
  }

  async hold(): Promise<void> {
    const steps = 3 + this.#random.int(6);
    for (let step = 0; step < steps; step += 1) {
      // A turn whose function ends while it is held is held no more; what it left behind goes on meanwhile.
      await this.#clock.advance(0);
      const pending = this.#client.agent.pendingInterrupts;
      // What a run left open that failed, or that was given up on, nobody holds any more.
      if (pending.length > 0 && this.#handler.stats().held === 0) this.#client = this.#client.reloaded();
      else if (pending.length > 0) await this.#react(pending);
      else if (this.#random.percent(10)) await this.#leave();
      else await this.#say();
      if (this.#journal.wrong.length > 0) throw new Error(this.#journal.wrong.join("\n"));
    }
  }

  async close(): Promise<void> {
    const closing = this.#handler.close();
    await this.#clock.advance(0);
    await this.#clock.advance(10_000);
    await within(10_000, closing, "the end of close()");
  }

  // ── what a client does ──

  async #say(): Promise<TestRun> {
    this.#said += 1;
    return this.#took(await this.#run(() => this.#client.say(`Message ${this.#said}`, { tools })));
  }

  /** A question is open: mostly it is answered. */
  async #react(pending: readonly Interrupt[]): Promise<void> {
    const drawn = this.#random.int(100);
    if (drawn < 50) return this.#answer(pending);
    if (drawn < 62) return this.#abandon(pending);
    if (drawn < 72) return this.#mix(pending);
    if (drawn < 80) return this.#refused(pending);
    if (drawn < 86) return this.#expire(pending);
    if (drawn < 90) return this.#letTimeOut(pending);
    if (drawn < 96) return this.#reload(pending);
    return this.#stop();
  }

  async #answer(pending: readonly Interrupt[]): Promise<void> {
    await this.#resumed(pending.map((each) => this.#answerTo(each)));
  }

  async #abandon(pending: readonly Interrupt[]): Promise<void> {
    this.#counts.abandons += 1;
    await this.#resumed(pending.map(giveUp));
  }

  async #mix(pending: readonly Interrupt[]): Promise<void> {
    this.#counts.mixed += 1;
    await this.#resumed(pending.map((each) => (this.#random.percent(50) ? giveUp(each) : this.#answerTo(each))));
  }

  /** A wrong answer costs nothing: the right one is taken afterwards. */
  async #refused(pending: readonly Interrupt[]): Promise<void> {
    const [first, ...others] = pending as [Interrupt, ...Interrupt[]];
    const [wrong, code]: [ResumeEntry, string] = this.#random.percent(50)
      ? [{ ...answerTo(first, "x"), metadata: { holdline: { proof: "A".repeat(43) } } }, "INTERRUPT_NOT_PROVEN"]
      : [{ ...answerTo(first, "x"), metadata: {} }, "INTERRUPT_NOT_PROVEN"];
    const run = await this.#run(() => this.#client.resume([wrong, ...others.map((each) => giveUp(each))]));
    this.#mustBeRefused(run, code);
    await this.#answer(pending);
  }

  async #expire(pending: readonly Interrupt[]): Promise<void> {
    this.#counts.expiries += 1;
    await this.#clock.advance(TTL_MS + 1);
    const run = await this.#run(() => this.#client.resume(pending.map((each) => this.#wrongly(each))));
    this.#mustBeRefused(run, "INTERRUPT_NOT_HELD");
    this.#client = this.#client.reloaded();
  }

  /** Questions with a time of their own are over; the others can still be answered, unless that ended their turn. */
  async #letTimeOut(pending: readonly Interrupt[]): Promise<void> {
    await this.#clock.advance(1_000);
    const isOpen = ({ expiresAt }: Interrupt) => Date.parse(expiresAt as string) > this.#clock.now();
    if (!pending.every(isOpen)) this.#counts.expiries += 1;
    if (this.#handler.stats().held > 0) return this.#answer(pending);
    const run = await this.#run(() => this.#client.resume(pending.map((each) => this.#wrongly(each))));
    this.#mustBeRefused(run, "INTERRUPT_NOT_HELD");
    this.#client = this.#client.reloaded();
  }

  async #reload(pending: readonly Interrupt[]): Promise<void> {
    this.#client = this.#client.reloaded();
    const run = await this.#say();
    const again = run.interrupts.length > 0 && run.interrupts.every(({ id }) => pending.some((each) => each.id === id));
    this.#counts.redeliveries += again ? 1 : 0;
    if (again && !isDeepStrictEqual(run.interrupts, pending))
      throw new Error("What was asked again is not what had been asked.");
  }

  async #stop(): Promise<void> {
    this.#counts.stopped += 1;
    await this.#handler.stop(this.#threadId, { identity: "ann" });
    this.#client = this.#client.reloaded();
  }

  /** Goes in the middle of a run. */
  async #leave(): Promise<void> {
    this.#counts.left += 1;
    const post = (request: Request) => this.#handler.handle(request);
    const { threadId } = this.#client.agent;
    const exchange = await openExchange(post, { threadId, messages: [], tools }, { headers: OWNER });
    await exchange.read(1);
    await exchange.leave();
    await this.#clock.advance(0);
    // What was asked before, or by a turn that runs on alone, is held: its owner may be asked it by the next run.
    if (this.#handler.stats().held > 0) {
      this.#counts.heldForOwner += 1;
      if (this.#random.percent(20)) await this.#stop();
    }
    this.#client = this.#client.reloaded();
  }

  // ── what it sends, and what comes of it ──

  #answerTo(interrupt: Interrupt): ResumeEntry {
    const message = interrupt.message as string;
    const wanted = this.#journal.wanted.get(message);
    const payload = this.#payloadFor(wanted, message);
    this.#journal.answered.set(message, wanted === "approval" ? isYes(payload) : payload);
    return answerTo(interrupt, payload);
  }

  /** As an answer that is certain to be refused: then nothing may have heard it. */
  #wrongly(interrupt: Interrupt): ResumeEntry {
    return answerTo(interrupt, true);
  }

  #payloadFor(wanted: string | undefined, message: string): unknown {
    if (wanted === "text") return this.#random.pick([`Answer to ${message}`, ""]);
    if (wanted === "number") return this.#random.pick([0, 7, -1]);
    // Not `null`: that client takes it for no payload at all.
    if (wanted === "anything") return this.#random.pick<unknown>([false, 0, "", [], { a: null }]);
    return this.#random.pick<unknown>([true, false, "yes", "no", "maybe", "always", { approved: true }]);
  }

  async #resumed(entries: ResumeEntry[]): Promise<TestRun> {
    const run = this.#took(await this.#run(() => this.#client.resume(entries)));
    this.#counts.resumes += 1;
    if (isLone(run))
      throw new Error(`A right resume was refused: ${endOf(run)}. ${JSON.stringify([run.error, entries])}`);
    return run;
  }

  #mustBeRefused(run: TestRun, code: string): void {
    this.#counts.refusals += 1;
    if (!isLone(run) || run.error?.code !== code) throw new Error(`Not refused with ${code}, but ${endOf(run)}.`);
  }

  async #run(send: () => Promise<TestRun>): Promise<TestRun> {
    this.#counts.runs += 1;
    return within(10_000, send(), "the end of a run");
  }

  #took(run: TestRun): TestRun {
    this.#counts.interrupts += run.interrupts.length;
    this.#counts.failed += run.error === undefined ? 0 : 1;
    this.#counts.cancelled += run.outcome?.type === "cancelled" ? 1 : 0;
    this.#countReopened(run);
    this.#compareState(run);
    return run;
  }

  #countReopened({ events }: TestRun): void {
    const opened = events
      .filter(({ type }) => /^(TEXT_MESSAGE_START|REASONING_START|SUBAGENT_STARTED)$/.test(type))
      .map(({ type, messageId, subagentRunId }) => `${type} ${messageId ?? subagentRunId}`);
    if (opened.some((each) => this.#opened.has(each))) this.#counts.reopened += 1;
    for (const each of opened) this.#opened.add(each);
  }

  /** Once a turn has finished, its client holds the state that its agent holds. */
  #compareState(run: TestRun): void {
    const { turn } = this.#journal;
    if (turn === undefined || (run.outcome?.type !== "success" && run.outcome?.type !== "cancelled")) return;
    this.#counts.statesCompared += 1;
    const [held, told] = [turn.context.state, run.state].map((state) => JSON.stringify(state ?? {}));
    if (held !== told) throw new Error(`The client holds the state ${told}, the agent ${held}.`);
  }
}

const isYes = (payload: unknown): boolean =>
  payload === true || payload === "yes" || payload === "always" || typeof payload === "object";
