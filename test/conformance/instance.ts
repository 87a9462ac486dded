/** What the suite is run over: one served fixture, and a client of it. */
import type { Interrupt, ResumeEntry, RunAgentInput } from "@ag-ui/core";
import { expect } from "vitest";
import type { TestRun } from "../../src/testing/index.ts";
import type { Sighting } from "../fixtures/served-agent.ts";
import { exchange, type OpenExchange, type OpenOptions, openExchange } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { answerTo } from "../support/runs.ts";

/** A fixture that is being served. */
export interface Instance {
  /** Where the agent is. */
  readonly url: string;
  /** Sends a request to it: `fetch`, or the handler itself. */
  readonly post: (request: Request) => Promise<Response>;
  /** Asks the fixture about what it saw; see `served-agent.ts`. */
  readonly control: (path: string) => Promise<unknown>;
  /** Where the fixture answers `pong` to whoever asks, the agent included. Absent: nowhere. */
  readonly pingUrl?: string;
  /** Ends it and starts it again at the same place. */
  readonly restart?: () => Promise<void>;
  /** Moves its clock. */
  readonly advance?: (ms: number) => Promise<void>;
  stop(): Promise<void>;
}

let threads = 0;

/** A client's view of one thread of its own. */
export class Conversation {
  readonly at: Instance;
  readonly threadId: string;

  constructor(at: Instance, threadId = `thread ${++threads} of ${process.pid}`) {
    this.at = at;
    this.threadId = threadId;
  }

  /** Sends a run whose last message is `text`, and reads it to its end. */
  run(text: string, extra: Partial<RunAgentInput> = {}, headers: Record<string, string> = {}): Promise<TestRun> {
    return exchange(this.at.post, { ...this.#input(text), ...extra }, this.#options(headers));
  }

  /** Sends a run and gives it back open. */
  open(text: string, extra: Partial<RunAgentInput> = {}, headers: Record<string, string> = {}): Promise<OpenExchange> {
    return openExchange(this.at.post, { ...this.#input(text), ...extra }, this.#options(headers));
  }

  /** Answers one question. */
  answer(interrupt: Interrupt, payload: unknown, headers: Record<string, string> = {}): Promise<TestRun> {
    return this.resume([answerTo(interrupt, payload)], headers);
  }

  resume(resume: ResumeEntry[], headers: Record<string, string> = {}): Promise<TestRun> {
    return exchange(this.at.post, { threadId: this.threadId, resume }, this.#options(headers));
  }

  /** What the agent's own code saw on this thread. */
  seen(): Promise<Sighting> {
    return this.at.control(`/seen/${encodeURIComponent(this.threadId)}`) as Promise<Sighting>;
  }

  /** Lets the agent go on. */
  async release(): Promise<void> {
    await this.at.control(`/release/${encodeURIComponent(this.threadId)}`);
  }

  /** Looks until what the agent saw is so; fails when it is not within `ms` of real time. */
  async sees(expected: Partial<Sighting>, ms = 5_000): Promise<void> {
    await expect.poll(() => this.seen(), { timeout: ms, interval: 20 }).toMatchObject(expected);
  }

  #input(text: string): Partial<RunAgentInput> {
    return { threadId: this.threadId, messages: [{ id: "message-1", role: "user", content: text }] };
  }

  #options(headers: Record<string, string>): OpenOptions {
    return { url: this.at.url, headers };
  }
}

/** A request that is not a run of the suite's own making. */
export function send(at: Instance, init: RequestInit & { duplex?: "half" }): Promise<Response> {
  return within(10_000, at.post(new Request(at.url, init)), "the answer");
}
