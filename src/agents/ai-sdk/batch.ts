/**
 * The tool calls of one answer of the model, in its order, from the first letter it streams of them
 * to what became of each. Nothing runs before all of them were shown, so that what they ask together
 * is one outcome; and which of them ends the turn is decided by the model's order, not by their speed.
 */
import type { ApproveOptions, ArgsSchema } from "../../index.ts";
import type { ToolOutput } from "./content.ts";

/** What a tool's result may end the turn with. */
export interface Termination {
  readonly status: "input-required" | "completed";
  readonly message: string;
  /** For `onTrace` only. */
  readonly reason?: string;
}

/** How a call is held back for approval; `"open"` when it is not. */
export type Gate = "open" | { readonly options: ApproveOptions; readonly argsSchema: ArgsSchema<object> };

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly batch: Batch;
  /** The arguments as the model wrote them, once it has. */
  args: string | undefined;
  /** Decided before anything of the batch runs. */
  gate: Gate | undefined;
  /** Whether a tool of this server runs for it, or will. */
  runs: boolean;
  /** Whether its result went out, or is for its tool to send. */
  answered: boolean;
  /** What the model is told of it. */
  output: ToolOutput | undefined;
  termination: Termination | undefined;
  /** Resolves when its tool is done, however. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

export class Batch {
  readonly calls: Call[] = [];
  /** Resolves when every call of the batch was shown; rejects when that will not happen. */
  readonly shown: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  #expected = 0;
  #complete = false;
  readonly #shownCalls = new Set<Call>();

  constructor() {
    this.shown = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A batch of which nothing runs is waited for by nobody.
    this.shown.catch(() => {});
  }

  add(id: string, name: string): Call {
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const call: Call = {
      id,
      name,
      batch: this,
      args: undefined,
      gate: undefined,
      runs: false,
      answered: false,
      output: undefined,
      termination: undefined,
      settled,
      settle,
    };
    this.calls.push(call);
    return call;
  }

  /** The model has written a whole call. */
  expect(call: Call, args: string): void {
    call.args = args;
    this.#expected++;
  }

  /** The model has finished: no further call comes. */
  complete(): void {
    this.#complete = true;
    this.#check();
  }

  /** A whole call stands on the wire. */
  markShown(call: Call): void {
    this.#shownCalls.add(call);
    this.#check();
  }

  /** The stream broke off: what has not been shown is not run. */
  fail(error: unknown): void {
    this.#reject(error);
  }

  #check(): void {
    if (this.#complete && this.#shownCalls.size >= this.#expected) this.#resolve();
  }

  /** Resolves when no call that stands before this one is still running. */
  async before(call: Call): Promise<void> {
    const earlier = this.calls.slice(0, this.calls.indexOf(call)).filter(({ runs }) => runs);
    await Promise.all(earlier.map(({ settled }) => settled));
  }

  /** The call that ends the turn: of several the first in the model's order. */
  get terminating(): Call | undefined {
    return this.calls.find(({ termination }) => termination !== undefined);
  }
}

const idsOf = new WeakMap<object, Set<string>>();

/** The calls of a turn by their ids. */
export class Calls {
  readonly #byId = new Map<string, Call>();
  /** Ids that the conversation and the turn have used: a client would take a second call of one of them for the first. */
  readonly #used: Set<string>;
  /** What edited calls ran with, by id. */
  readonly edited = new Map<string, object>();
  batch = new Batch();

  /** @param turn Whatever all agents of a turn have in common: one may run inside a tool of another. */
  constructor(turn: object, used: Iterable<string>) {
    this.#used = idsOf.get(turn) ?? new Set();
    idsOf.set(turn, this.#used);
    for (const id of used) this.#used.add(id);
  }

  /** The model begins a new answer. */
  begin(): Batch {
    this.batch = new Batch();
    return this.batch;
  }

  /** A call of the current answer, under the model's id for it, or another where that one is not its alone. */
  add(id: string, name: string): Call {
    const own = id !== "" && !this.#used.has(id) ? id : `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
    this.#used.add(own);
    const call = this.batch.add(own, name);
    this.#byId.set(own, call);
    return call;
  }

  get(id: string): Call | undefined {
    return this.#byId.get(id);
  }

  /** All of the turn, in the order the model made them. */
  all(): Call[] {
    return [...this.#byId.values()];
  }
}
