/**
 * The server. `exchange` reads as the table of contents of one exchange: who calls, what is asked
 * for, which turn carries it, and an answer. Everything else is in the rooms it names.
 */
import type { Interrupt } from "@ag-ui/core";
import { Admission, CLOSING } from "./admit.ts";
import { answerError, type Head, STREAM, toResponse } from "./answer.ts";
import { at } from "./clock.ts";
import { corsHeaders } from "./cors.ts";
import { RequestError, RequestErrorCode } from "./errors.ts";
import { HeldTurns } from "./held-turns.ts";
import type { Counts, Host } from "./host.ts";
import { KeepAlive } from "./keep-alive.ts";
import type { HandlerOptions } from "./options.ts";
import type { ExchangeAnswer, ExchangeRequest, Outlet } from "./outlet.ts";
import { createInterruptIds } from "./proof.ts";
import { createNegotiation } from "./protobuf.ts";
import { fromWeb, type HandleOptions, receive } from "./receive.ts";
import { Run } from "./run.ts";
import { loadSchemas } from "./schemas.ts";
import { settle } from "./settings.ts";
import { SpentInterrupts } from "./spent-interrupts.ts";
import * as stops from "./stops.ts";
import { StreamOutlet } from "./stream-outlet.ts";
import type { Turn } from "./turn.ts";

/** Numbers only, for monitoring. */
export interface HandlerStats extends Counts {
  /** Turns waiting for answers now. */
  held: number;
  /** Turns at work now, unwinding ones included. */
  running: number;
  /** Runs waiting for their thread now. */
  queued: number;
  /** Runs refused since the start, by `RefusalCode`. */
  refused: Record<string, number>;
}

/** One held turn, for operators: never a proof, never an answer. */
export interface HeldTurnInfo {
  /** The thread that waits. */
  threadId: string;
  /** Whose it is; `null` without `identify`. */
  identity: string | null;
  /** When it was held, in milliseconds since the epoch. */
  since: number;
  /** The questions that are open. */
  interrupts: Omit<Interrupt, "metadata" | "responseSchema">[];
}

/** What `createHandler` gives. All members work detached. */
export interface Handler {
  /** Serves one request. Never rejects: what goes wrong is a response or an event. */
  handle(request: Request, options?: HandleOptions): Promise<Response>;
  /** `handle` for runtimes that pass further arguments: only the first is looked at. */
  fetch(request: Request): Promise<Response>;
  /** Serves one request to an outlet, without a Response: for adapters. Resolves as soon as the answer's head is known. */
  exchange(request: ExchangeRequest, outlet: Outlet, options?: HandleOptions): Promise<ExchangeAnswer>;
  /** Ends the thread's turn, held or running, as cancelled. Resolves once it has unwound, with whether there was one. */
  stop(threadId: string, options?: { identity?: string | null }): Promise<boolean>;
  /**
   * Stops serving: new runs get 503 `SERVER_CLOSING`; for `graceMs` (default 0) running exchanges may end and held turns
   * are still answered; then every turn is stopped. Resolves when all have unwound, at the latest after `closeTimeoutMs`.
   * Idempotent: every caller gets the same promise.
   */
  close(options?: { graceMs?: number }): Promise<void>;
  /** Whether `close` was called. */
  readonly closing: boolean;
  /** What was done since the handler was made, and what is going on now, in numbers. */
  stats(): HandlerStats;
  /** The turns that are held now, the one held longest first. */
  inspect(): HeldTurnInfo[];
}

/** Serves an agent. @throws RangeError or TypeError for options outside their range. */
export function createHandler(options: HandlerOptions): Handler {
  const settings = settle(options);
  const ids = createInterruptIds();
  const counts: Counts = { started: 0, finished: 0, failed: 0, answered: 0, abandoned: 0, expired: 0, evicted: 0 };
  const held: Host["held"] = new HeldTurns(settings, settings.clock, settings.holding);
  const host: Host = {
    settings,
    held,
    ids,
    spent: new SpentInterrupts(ids),
    turns: new Set(),
    counts,
    refused: {},
    check: undefined,
  };
  /** What requests meet in: the threads they come to, and the timer of their streams. */
  const meeting = () => ({
    admission: new Admission(host),
    keepAlive: new KeepAlive(settings.clock, settings.keepAliveMs),
  });
  const shared = meeting();
  const { admission } = shared;
  const negotiate = settings.protobuf ? createNegotiation((error) => settings.report(error, {})) : undefined;
  const phase: { now: "open" | "closing" | "closed"; closed?: Promise<void> } = { now: "open" };

  async function exchange(
    request: ExchangeRequest,
    outlet: Outlet,
    given: HandleOptions = {},
  ): Promise<ExchangeAnswer> {
    let head: Head = {};
    try {
      head = corsHeaders(settings.cors, request);
      if (request.method === "POST" && phase.now === "closed") throw closing();
      const received = await receive(request, given, settings, head);
      if ("answer" in received) return received.answer;
      const { input, doubts, identity } = received;
      if (settings.validate) host.check ??= await loadSchemas();
      const encoding = await negotiate?.(request, outlet);
      if (negotiate !== undefined)
        head = { ...head, vary: head.vary === undefined ? "Accept" : `${head.vary}, Accept` };
      // Whatever happened meanwhile: from here to the end of admission nothing is awaited.
      if (phase.now === "closed" || (phase.now === "closing" && !input.resume?.length)) throw closing();
      const met = settings.alone ? meeting() : shared;
      const { keepAlive } = met;
      met.admission.admit(new Run(input, { request, outlet, identity, doubts, locals: given.locals, keepAlive }));
      const type = encoding === undefined ? {} : { "content-type": encoding.contentType };
      return { status: 200, headers: { ...STREAM, ...head, ...type }, body: undefined };
    } catch (error) {
      return answerError(error, head, settings);
    }
  }

  async function handle(request: Request, given?: HandleOptions): Promise<Response> {
    const outlet = new StreamOutlet();
    const answer = await exchange(fromWeb(request), outlet, given);
    return toResponse(answer, outlet.body);
  }

  async function stop(threadId: string, { identity = null }: { identity?: string | null } = {}): Promise<boolean> {
    const thread = admission.threads.find(identity, threadId);
    const turn = thread?.held ?? thread?.active;
    if (turn === undefined) return false;
    turn.stop(stops.stopped());
    await new Promise<void>((resolve) => turn.whenOver(resolve));
    return true;
  }

  async function shut(graceMs: number): Promise<void> {
    phase.now = "closing";
    admission.close();
    if (graceMs > 0 && host.turns.size > 0) await graceOver(host, graceMs);
    phase.now = "closed";
    const unwinding = [...host.turns];
    for (const turn of unwinding) turn.stop(stops.closed());
    await unwound(host, unwinding);
  }

  const handler: Handler = {
    handle,
    fetch: (request) => handle(request),
    exchange,
    stop,
    close({ graceMs = 0 } = {}) {
      phase.closed ??= shut(graceMs);
      return phase.closed;
    },
    get closing() {
      return phase.now !== "open";
    },
    stats: () => ({
      ...counts,
      held: held.size,
      running: host.turns.size - held.size,
      queued: admission.queued,
      refused: { ...host.refused },
    }),
    inspect: () =>
      held.list().map((turn) => ({
        threadId: turn.thread.threadId,
        identity: turn.identity,
        since: turn.holding.since,
        interrupts: turn.outstanding.map((question) => {
          const { metadata: _metadata, responseSchema: _schema, ...shown } = question.interrupt();
          return shown;
        }),
      })),
  };
  // Not in the type: `AsyncDisposable` needs a lib that users may not have.
  const { asyncDispose } = Symbol as { asyncDispose?: symbol };
  if (asyncDispose !== undefined) Object.defineProperty(handler, asyncDispose, { value: () => handler.close() });
  return handler;
}

const closing = () => new RequestError(RequestErrorCode.SERVER_CLOSING, CLOSING);

/** Resolves when no turn is left, or the grace is over. Meanwhile exchanges end and answers come in. */
function graceOver(host: Host, graceMs: number): Promise<void> {
  const { clock } = host.settings;
  return new Promise((resolve) => {
    const done = at(clock, clock.now() + graceMs, resolve);
    for (const turn of host.turns) {
      turn.whenOver(() => {
        if (host.turns.size > 0) return;
        done();
        resolve();
      });
    }
  });
}

/** Resolves when every one of the turns is over, at the latest after `closeTimeoutMs`, and then names those that are not. */
function unwound(host: Host, turns: readonly Turn[]): Promise<void> {
  if (turns.length === 0) return Promise.resolve();
  const { clock, closeTimeoutMs, warn } = host.settings;
  return new Promise((resolve) => {
    let left = turns.length;
    const giveUp = at(clock, clock.now() + closeTimeoutMs, () => {
      // A turn that was stopped gives itself up at this instant too, and says so; this is for those released before.
      for (const { thread } of host.turns) {
        const message = `The agent on thread ${JSON.stringify(thread.threadId)} was still at work when the handler closed.`;
        warn({ code: "TURN_NOT_UNWOUND", message, threadId: thread.threadId });
      }
      resolve();
    });
    for (const turn of turns) {
      turn.whenOver(() => {
        if (--left > 0) return;
        giveUp();
        resolve();
      });
    }
  });
}
