/**
 * What the server ought to do, in the plainest words that are still exact: threads, turns, questions and the ends
 * of runs. No promise, no timer, no stream: time is a number, and whatever can happen next happens at once.
 */
import type { Step, Who } from "./actions.ts";

export const LIMITS = { ttlMs: 1_000, maxHeld: 3, maxHeldPerIdentity: 2, queuedRuns: 2 };

type Cause = "answered" | "expired" | "abandoned" | "evicted" | "closed" | "stopped" | "ended";

/** A question, by its words: no two have the same. */
interface Question {
  readonly words: string;
  readonly key: string;
  readonly deadline: number;
  cause?: Cause;
}

export interface Entry {
  readonly words: string;
  readonly give: "answer" | "bad" | "up";
  readonly proof: "right" | "wrong" | "none";
}

interface Turn {
  readonly name: string;
  readonly who: Who;
  readonly key: string;
  readonly script: readonly Step[];
  at: number;
  /** What was asked together and is not all answered, `undefined` for what timed out. */
  asked: { readonly question: Question; answer?: string }[];
  state: "working" | "held" | "over";
  deadline: number;
  run: string | undefined;
}

interface Thread {
  active: Turn | undefined;
  held: Turn | undefined;
  readonly waiting: string[];
}

interface Run {
  readonly who: Who;
  readonly key: string;
  readonly script: readonly Step[];
}

export class Reference {
  now = 0;
  /** How every run that is over ended. */
  readonly ends = new Map<string, string>();
  /** What the agent's own code did. */
  readonly log: string[] = [];
  readonly counts = { started: 0, finished: 0, failed: 0, answered: 0, abandoned: 0, expired: 0, evicted: 0 };
  readonly questions = new Map<string, Question>();
  phase: "open" | "closing" | "closed" = "open";
  #graceEnds = Infinity;
  readonly #runs = new Map<string, Run>();
  readonly #threads = new Map<string, Thread>();
  readonly #turns = new Set<Turn>();
  /** Held longest first. */
  #held: Turn[] = [];
  /** Turns that have just asked. */
  #asking: Turn[] = [];

  static key = (who: Who, thread: number): string => `${who}/${thread}`;

  // ── what can be chosen ──

  get working(): Turn[] {
    return [...this.#turns].filter((turn) => turn.state === "working");
  }

  get holding(): Turn[] {
    return [...this.#held];
  }

  /** Runs whose stream is open. */
  get openRuns(): string[] {
    return [...this.#runs.keys()].filter((run) => !this.ends.has(run));
  }

  open = (turn: Turn): string[] =>
    turn.asked.filter(({ answer }) => answer === undefined).map(({ question }) => question.words);

  get stats() {
    const queued = [...this.#threads.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
    return { ...this.counts, held: this.#held.length, running: this.#turns.size - this.#held.length, queued };
  }

  // ── what happens ──

  run(name: string, who: Who, thread: number, script: readonly Step[]): void {
    const key = Reference.key(who, thread);
    this.#runs.set(name, { who, key, script });
    if (this.phase !== "open") this.ends.set(name, "503");
    else this.#admit(name);
    this.#settle();
  }

  /** Answers that arrive at once, in this order. */
  resume(names: readonly string[], who: Who, thread: number, entries: readonly Entry[]): void {
    const key = Reference.key(who, thread);
    const taken: Turn[] = [];
    for (const name of names) {
      this.#runs.set(name, { who, key, script: [] });
      if (this.phase === "closed") this.ends.set(name, "503");
      else {
        const refusal = this.#judge(key, entries);
        if (refusal !== undefined) this.ends.set(name, refusal);
        else taken.push(this.#take(name, key, entries));
      }
    }
    for (const turn of taken) this.#deliver(turn, entries);
    this.#settle();
  }

  goOn(turn: Turn): void {
    turn.at++;
    this.#proceed(turn);
    this.#settle();
  }

  leave(name: string): void {
    this.ends.set(name, "left");
    const { key } = this.#runs.get(name) as Run;
    const thread = this.#thread(key);
    const at = thread.waiting.indexOf(name);
    if (at >= 0) thread.waiting.splice(at, 1);
    else {
      const turn = [...this.#turns].find(({ run }) => run === name) as Turn;
      turn.run = undefined;
      this.#over(turn, "cancelled");
    }
    this.#settle();
  }

  stop(who: Who, thread: number): boolean {
    const { held, active } = this.#thread(Reference.key(who, thread));
    const turn = held ?? active;
    if (turn !== undefined) this.#stop(turn, "stopped");
    this.#settle();
    return turn !== undefined;
  }

  close(graceMs: number): void {
    if (this.phase !== "open") return;
    this.phase = "closing";
    for (const { waiting } of this.#threads.values())
      for (const name of waiting.splice(0)) this.ends.set(name, "SERVER_CLOSING");
    this.#graceEnds = graceMs > 0 && this.#turns.size > 0 ? this.now + graceMs : this.now;
    if (this.#graceEnds === this.now) this.#shut();
    this.#settle();
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const held = Math.min(...this.#held.map(({ deadline }) => deadline));
      const asked = this.#held.flatMap((turn) => this.open(turn).map((words) => this.questions.get(words) as Question));
      const question = Math.min(...asked.map(({ deadline }) => deadline));
      const due = Math.min(held, question, this.#graceEnds);
      if (due > until) break;
      this.now = due;
      if (due === this.#graceEnds) this.#shut();
      else if (due === question) for (const one of asked.filter(({ deadline }) => deadline === due)) this.#timeOut(one);
      else for (const turn of this.#held.filter(({ deadline }) => deadline === due)) this.#release(turn, "expired");
      this.#settle();
    }
    this.now = until;
  }

  // ── how ──

  #thread(key: string): Thread {
    const thread = this.#threads.get(key) ?? { active: undefined, held: undefined, waiting: [] };
    this.#threads.set(key, thread);
    return thread;
  }

  #admit(name: string): void {
    const { who, key, script } = this.#runs.get(name) as Run;
    const thread = this.#thread(key);
    const { held } = thread;
    if (held !== undefined)
      this.ends.set(name, who === "nobody" ? "INTERRUPT_NOT_COVERED" : `interrupt: ${this.open(held)}`);
    else if (thread.active !== undefined) {
      if (thread.waiting.length < LIMITS.queuedRuns) thread.waiting.push(name);
      else this.ends.set(name, "THREAD_BUSY");
    } else {
      const turn: Turn = { name, who, key, script, at: 0, asked: [], state: "working", deadline: Infinity, run: name };
      thread.active = turn;
      this.#turns.add(turn);
      this.counts.started++;
      this.log.push(`${name} starts`);
      this.#proceed(turn);
    }
  }

  #causeOf(words: string, key: string): string {
    const question = this.questions.get(words);
    return (question?.key === key ? question.cause : undefined) ?? "unknown";
  }

  #judge(key: string, entries: readonly Entry[]): string | undefined {
    const { held } = this.#thread(key);
    if (held === undefined) return `INTERRUPT_NOT_HELD (${this.#causeOf((entries[0] as Entry).words, key)})`;
    const open = this.open(held);
    const covering = entries.filter(({ words }) => open.includes(words));
    const stray = entries.find(({ words }) => !open.includes(words));
    if (covering.length < open.length)
      return stray === undefined
        ? "INTERRUPT_NOT_COVERED"
        : `INTERRUPT_NOT_OUTSTANDING (${this.#causeOf(stray.words, key)})`;
    if (covering.some(({ proof }) => proof !== "right")) return "INTERRUPT_NOT_PROVEN";
    return covering.some(({ give }) => give === "bad") ? "INTERRUPT_PAYLOAD_REFUSED" : undefined;
  }

  #take(name: string, key: string, entries: readonly Entry[]): Turn {
    const thread = this.#thread(key);
    const turn = thread.held as Turn;
    thread.held = undefined;
    thread.active = turn;
    this.#held = this.#held.filter((held) => held !== turn);
    turn.state = "working";
    turn.run = name;
    for (const { words, give } of entries)
      if (this.open(turn).includes(words)) this.#spend(words, give === "up" ? "abandoned" : "answered");
    return turn;
  }

  #spend(words: string, cause: Cause): void {
    const question = this.questions.get(words) as Question;
    question.cause = cause;
    if (cause === "answered" || cause === "abandoned" || cause === "expired") this.counts[cause]++;
  }

  /** One that is given up fails what was asked with it, and with that the turn. */
  #deliver(turn: Turn, entries: readonly Entry[]): void {
    for (const { words, give } of entries) {
      const asked = turn.asked.find(({ question }) => question.words === words);
      if (asked === undefined) continue;
      if (give === "up") return this.#over(turn, "cancelled");
      asked.answer = `yes to ${words}`;
    }
    this.#gotAll(turn);
  }

  #gotAll(turn: Turn): void {
    this.log.push(`${turn.name} got ${turn.asked.map(({ answer }) => answer)}`);
    turn.asked = [];
    turn.at++;
    this.#proceed(turn);
  }

  /** The turn's code goes on from where it stands. */
  #proceed(turn: Turn): void {
    const step = turn.script[turn.at];
    if (step === undefined) this.#over(turn, "success");
    else if (step !== "work") this.#asking.push(turn);
  }

  /** What has been asked goes out; whatever that sets free goes on. */
  #settle(): void {
    for (let turn = this.#asking.shift(); turn !== undefined; turn = this.#asking.shift()) {
      const step = turn.script[turn.at];
      if (turn.state !== "working" || step === undefined || step === "work") continue;
      turn.asked = Array.from({ length: step.ask }, (_, i) => {
        const deadline = i === 0 && step.timeoutMs !== undefined ? this.now + step.timeoutMs : Infinity;
        const question: Question = { words: `${turn.name}.${turn.at}.${i}`, key: turn.key, deadline };
        this.questions.set(question.words, question);
        return { question };
      });
      const thread = this.#thread(turn.key);
      thread.active = undefined;
      thread.held = turn;
      turn.state = "held";
      turn.deadline = this.now + LIMITS.ttlMs;
      this.ends.set(turn.run as string, `interrupt: ${this.open(turn)}`);
      turn.run = undefined;
      this.#held.push(turn);
      const mates = this.#held.filter(({ who }) => who === turn.who);
      if (mates.length > LIMITS.maxHeldPerIdentity) this.#release(mates[0] as Turn, "evicted");
      if (this.#held.length > LIMITS.maxHeld) this.#release(this.#held[0] as Turn, "evicted");
      this.#next(turn.key);
    }
    if (this.phase === "closing" && this.#turns.size === 0) this.#shut();
  }

  #next(key: string): void {
    const thread = this.#thread(key);
    while (thread.active === undefined && thread.waiting.length > 0) this.#admit(thread.waiting.shift() as string);
  }

  #timeOut(question: Question): void {
    const turn = this.#held.find(({ asked }) => asked.some((one) => one.question === question));
    const asked = turn?.asked.find((one) => one.question === question);
    if (turn === undefined || asked === undefined || asked.answer !== undefined) return;
    this.#spend(question.words, "expired");
    asked.answer = "late";
    // With the last of them the turn goes on, and finds that nobody is listening.
    if (this.open(turn).length === 0) this.#over(turn, "success");
  }

  #release(turn: Turn, cause: "expired" | "evicted"): void {
    if (cause === "evicted") this.counts.evicted++;
    for (const words of this.open(turn)) this.#spend(words, cause);
    this.#over(turn, "cancelled");
  }

  #stop(turn: Turn, cause: "stopped" | "closed"): void {
    if (turn.state === "held") for (const words of this.open(turn)) this.#spend(words, cause);
    this.#over(turn, "cancelled");
  }

  #over(turn: Turn, end: string): void {
    turn.state = "over";
    this.counts.finished++;
    if (turn.run !== undefined) this.ends.set(turn.run, end);
    this.#turns.delete(turn);
    this.#held = this.#held.filter((held) => held !== turn);
    const thread = this.#thread(turn.key);
    if (thread.active === turn) thread.active = undefined;
    if (thread.held === turn) thread.held = undefined;
    this.#next(turn.key);
  }

  #shut(): void {
    this.phase = "closed";
    this.#graceEnds = Infinity;
    for (const turn of [...this.#turns]) this.#stop(turn, "closed");
  }
}
