/** The real thing: a handler with an agent that does what its run's script says, and clients that note how their runs ended. */
import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import { type AgentContext, createHandler, type Handler } from "../../src/index.ts";
import { createTestClock } from "../../src/testing/index.ts";
import { openExchange } from "../support/open-exchange.ts";
import { type Deferred, defer, nextTurn } from "../support/promises.ts";
import { answerTo, endOf, giveUp } from "../support/runs.ts";
import type { Step, Who } from "./actions.ts";
import { type Entry, LIMITS } from "./reference.ts";

export class World {
  readonly clock = createTestClock();
  readonly handler: Handler;
  readonly ends = new Map<string, string>();
  readonly log: string[] = [];
  /** What `onError` was told: nothing goes wrong here. */
  readonly errors: unknown[] = [];
  readonly #gates = new Map<string, Deferred>();
  readonly #interrupts = new Map<string, Interrupt>();
  readonly #leave = new Map<string, () => Promise<void>>();
  readonly #seenInterruptIds = new Set<string>();
  readonly #clients: Promise<void>[] = [];

  constructor() {
    this.handler = createHandler({
      agent: (context) => this.#work(context),
      clock: this.clock,
      retention: { ttlMs: LIMITS.ttlMs, maxHeld: LIMITS.maxHeld, maxHeldPerIdentity: LIMITS.maxHeldPerIdentity },
      limits: { queuedRuns: LIMITS.queuedRuns },
      onWarning: () => {},
      onError: (error) => this.errors.push(error),
    });
  }

  async #work(context: AgentContext): Promise<void> {
    const { name, script } = JSON.parse(context.userText) as { name: string; script: Step[] };
    this.log.push(`${name} starts`);
    for (const [at, step] of script.entries()) {
      if (!context.heard) return;
      if (step === "work") {
        const gate = defer();
        this.#gates.set(name, gate);
        context.signal.addEventListener("abort", () => gate.resolve(), { once: true });
        await gate.promise;
        continue;
      }
      const answers = await Promise.all(
        Array.from({ length: step.ask }, (_, i) => {
          const own = i === 0 && step.timeoutMs !== undefined ? { timeoutMs: step.timeoutMs } : {};
          return context.input(`${name}.${at}.${i}`, own).catch((error) => {
            if (error.code === "INPUT_TIMEOUT") return "late";
            throw error;
          });
        }),
      );
      if (context.heard) this.log.push(`${name} got ${answers}`);
    }
  }

  run(name: string, who: Who, thread: number, script: readonly Step[]): void {
    this.#send(name, who, {
      threadId: `${thread}`,
      messages: [{ id: name, role: "user", content: JSON.stringify({ name, script }) }],
    });
  }

  resume(names: readonly string[], who: Who, thread: number, entries: readonly Entry[]): void {
    const resume = entries.map((entry) => this.#entry(entry));
    for (const name of names) this.#send(name, who, { threadId: `${thread}`, messages: [], resume });
  }

  #entry({ words, give, proof }: Entry): ResumeEntry {
    const interrupt = this.#interrupts.get(words) ?? { id: `int_${words}`, reason: "human_input" };
    const entry = give === "up" ? giveUp(interrupt) : answerTo(interrupt, give === "bad" ? 5 : `yes to ${words}`);
    if (proof === "right") return entry;
    const { metadata: _metadata, ...bare } = entry;
    return proof === "none" ? bare : { ...bare, metadata: { holdline: { proof: "A".repeat(43) } } };
  }

  #send(name: string, who: Who, input: object): void {
    const identity = who === "nobody" ? null : who;
    const seenInterruptIds = who === "nobody" ? { seenInterruptIds: this.#seenInterruptIds } : {};
    const client = async () => {
      const exchange = await openExchange(
        (request) => this.handler.handle(request, { identity }),
        input,
        seenInterruptIds,
      );
      this.#leave.set(name, async () => {
        this.ends.set(name, "left");
        await exchange.leave();
      });
      const run = await exchange.rest();
      if (this.ends.has(name)) return;
      for (const interrupt of run.interrupts) this.#interrupts.set(interrupt.message as string, interrupt);
      const end = endOf(run);
      this.ends.set(name, end === "interrupt" ? `interrupt: ${run.interrupts.map(({ message }) => message)}` : end);
    };
    const ended = client().catch((error: Error) => {
      if (this.ends.has(name)) return;
      this.ends.set(name, error.message.includes("503") ? "503" : `${error}`);
    });
    this.#clients.push(ended);
  }

  goOn(name: string): void {
    this.#gates.get(name)?.resolve();
  }

  async leave(name: string): Promise<void> {
    await this.#leave.get(name)?.();
  }

  /** Until nothing is left to do on the event loop. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 12; turn++) await nextTurn();
  }

  async close(): Promise<void> {
    const closed = this.handler.close();
    // Where it was closed before, a grace may still be running.
    await this.clock.advance(1_000);
    await closed;
    await Promise.all(this.#clients);
  }
}
