/**
 * One conversation with the agent: sends runs through `@ag-ui/client`, keeps what the page shows of
 * them, and takes a held question up again after a reload.
 */
import { type BaseEvent, HttpAgent, type Interrupt, type RunAgentParameters } from "@ag-ui/client";
import { BROWSER_HEADER } from "../browser-header.ts";
import { EventLog } from "./event-log.ts";
import { type Decision, probeOf, resumeOf, timeLeft } from "./questions.ts";
import { isStillOpen } from "./refusals.ts";
import { type Ended, runOnce } from "./run-once.ts";
import { browserName, forget, load, save } from "./storage.ts";
import { begin, emptyTurn, end, type TurnRecord } from "./timeline.ts";
import { applyEvent, closeOpen, type GivenAnswer, type Item, type Notice } from "./transcript.ts";

/** What the page shows. Replaced whole at every change. */
export interface SessionState {
  readonly threadId: string;
  readonly phase: "idle" | "working" | "asked";
  readonly items: readonly Item[];
  /** The open questions, with their proofs: in memory only. */
  readonly interrupts: readonly Interrupt[];
  /** Why the last answer was not taken, while its questions are open. */
  readonly refusal: Notice | undefined;
  /** The prompt of a turn that ended and waits for a reply. */
  readonly waitsFor: string | undefined;
  readonly turn: TurnRecord;
  /** The agent's own state, as it shares it. */
  readonly shared: unknown;
  /** Said to screen readers. */
  readonly announcement: string;
  /** Counts what was added to the log. */
  readonly logged: number;
}

/** A timer of the browser's holds no more than this, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

const fresh = (threadId: string): SessionState => ({
  threadId,
  phase: "idle",
  items: [],
  interrupts: [],
  refusal: undefined,
  waitsFor: undefined,
  turn: emptyTurn,
  shared: undefined,
  announcement: "",
  logged: 0,
});

export class Session {
  readonly #endpoint: string;
  readonly log: EventLog;
  #agent: HttpAgent;
  #state: SessionState;
  readonly #listeners = new Set<() => void>();
  #expiry: ReturnType<typeof setTimeout> | undefined;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    this.log = new EventLog(() => this.#set({ logged: this.#state.logged + 1 }));
    const saved = load(endpoint);
    this.#state = fresh(saved?.threadId ?? crypto.randomUUID());
    this.#agent = this.#createAgent();
    if (saved === undefined) return;
    const { messages, items, turn, waitsFor, state } = saved;
    this.#agent.setMessages([...messages]);
    if (state !== undefined) this.#agent.setState(state);
    this.#state = { ...this.#state, items: closeOpen(items), turn, waitsFor, shared: state };
    if (saved.open.length > 0) void this.#takeUp(saved.open);
    else if (saved.working) {
      const advice = "Send the message again; a question that is still held for this browser comes back.";
      this.#notice({
        tone: "warning",
        code: undefined,
        message: "The page was left while the agent was at work.",
        advice,
      });
      this.#set({ turn: end(end(turn, "runs", Date.now()), "tools", Date.now()) });
      this.#save();
    }
  }

  readonly get = (): SessionState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Sends a message: an ordinary run, and a new turn. */
  async send(text: string): Promise<void> {
    if (this.#state.phase !== "idle") return;
    const id = crypto.randomUUID();
    this.#agent.addMessage({ id, role: "user", content: text });
    this.#add({ kind: "user", id, text });
    this.#set({ waitsFor: undefined, turn: emptyTurn });
    await this.#begin();
  }

  /** Runs the conversation as it stands once more. */
  async sendAgain(): Promise<void> {
    if (this.#state.phase !== "idle") return;
    this.#set({ turn: emptyTurn });
    await this.#begin();
  }

  /** Answers the open questions: all that have not expired need a decision. */
  async answer(decisions: ReadonlyMap<string, Decision>): Promise<void> {
    const { phase, interrupts } = this.#state;
    if (phase !== "asked") return;
    this.#set({ refusal: undefined });
    const answers = interrupts.flatMap(({ id, message }): GivenAnswer[] => {
      const decision = decisions.get(id);
      const answer = decision?.status === "resolved" ? decision.words : undefined;
      return decision === undefined ? [] : [{ question: message ?? "", answer }];
    });
    const { notice } = await this.#run({ resume: resumeOf(interrupts, decisions) }, () => {
      // Only now is it known that the answer was taken.
      this.#closeQuestions();
      this.#add({ kind: "answers", id: crypto.randomUUID(), answers });
    });
    if (notice === undefined || this.#state.interrupts.length === 0) return this.#settle(notice);
    if (notice.code === undefined || isStillOpen(notice.code)) this.#ask(interrupts, notice);
    else {
      this.#closeQuestions();
      this.#settle(notice);
    }
  }

  /** Gives all open questions up: the turn ends as cancelled. */
  giveUp(): Promise<void> {
    return this.answer(cancelAll(this.#state.interrupts));
  }

  /** Leaves the open run. The server notices, and by default stops the turn. */
  stop(): void {
    this.#agent.abortRun();
  }

  /** Starts over on a thread of its own. */
  startOver(): void {
    const { phase, interrupts } = this.#state;
    if (phase === "working") this.stop();
    // Nobody comes back for what this thread asks: its turn need not be held until it expires.
    else if (interrupts.length > 0)
      void runOnce(this.#agent, { resume: resumeOf(interrupts, cancelAll(interrupts)) }, () => {});
    clearTimeout(this.#expiry);
    forget(this.#endpoint);
    this.#state = fresh(crypto.randomUUID());
    this.#agent = this.#createAgent();
    this.log.clear();
  }

  #createAgent(): HttpAgent {
    return new HttpAgent({
      url: this.#endpoint,
      threadId: this.#state.threadId,
      headers: { [BROWSER_HEADER]: browserName() },
      fetch: this.log.listen((url, init) => fetch(url, init)),
    });
  }

  async #begin(): Promise<void> {
    this.#settle((await this.#run({})).notice);
  }

  /** After a reload: is the question still held, and if it is, what was it? */
  async #takeUp(ids: readonly string[]): Promise<void> {
    const { notice } = await this.#run({ resume: probeOf(ids) });
    if (notice === undefined || notice.code === undefined || !isStillOpen(notice.code)) {
      const advice = "Send a new message to go on.";
      return this.#settle(notice && { ...notice, tone: "warning", advice });
    }
    // It is held: a plain run of this browser's gets the same question again and starts nothing.
    this.#settle((await this.#run({})).notice);
  }

  /** One run, to its end. `onStarted` is called when the server has taken it. */
  async #run(parameters: RunAgentParameters, onStarted?: () => void): Promise<Ended> {
    const agent = this.#agent;
    this.#set({ phase: "working" });
    this.#save();
    const ended = await runOnce(agent, parameters, (event) => {
      if (this.#agent === agent) this.#hear(event, onStarted);
    });
    // The human started over meanwhile: this conversation is nobody's any more.
    if (this.#agent !== agent) return { started: false };
    const now = Date.now();
    const turn = end(this.#state.turn, "runs", now);
    this.#set({ items: closeOpen(this.#state.items), turn, shared: agent.state });
    if (ended.interrupts !== undefined) this.#ask(ended.interrupts, undefined);
    else if (ended.started) this.#set({ turn: end(end(turn, "tools", now), "holds", now) });
    this.#show(ended.result);
    return ended;
  }

  #hear(event: BaseEvent, onStarted: (() => void) | undefined): void {
    const now = Date.now();
    const { runId, toolCallName, toolCallId } = event as BaseEvent & { [member: string]: unknown };
    const type = String(event.type);
    if (type === "RUN_STARTED") onStarted?.();
    let { turn } = this.#state;
    if (type === "RUN_STARTED") turn = begin(end(turn, "holds", now), "runs", String(runId), now);
    if (type === "TOOL_CALL_START") turn = begin(turn, "tools", String(toolCallName), now, String(toolCallId));
    if (type === "TOOL_CALL_RESULT") turn = end(turn, "tools", now, String(toolCallId));
    this.#set({ turn, items: applyEvent(this.#state.items, event) });
  }

  /** What a run gave: a prompt that waits for a reply, or anything else the agent returned. */
  #show(result: unknown): void {
    if (result === undefined) return;
    const { status, message } = (result ?? {}) as { status?: unknown; message?: unknown };
    if (status === "input-required") this.#set({ waitsFor: String(message) });
    else this.#add({ kind: "result", id: crypto.randomUUID(), value: result });
  }

  #ask(interrupts: readonly Interrupt[], refusal: Notice | undefined): void {
    const held = this.#state.turn.holds.some(({ to }) => to === undefined);
    const turn = held
      ? this.#state.turn
      : begin(this.#state.turn, "holds", "held", this.#state.turn.runs.at(-1)?.to ?? Date.now());
    const count = interrupts.length;
    const announcement = refusal?.message ?? `The agent asks ${count === 1 ? "a question" : `${count} questions`}.`;
    this.#set({ phase: "asked", interrupts, refusal, turn, announcement });
    this.#armExpiry();
    this.#save();
  }

  /** At the last deadline there is nothing left to answer. */
  #armExpiry(): void {
    clearTimeout(this.#expiry);
    const left = this.#state.interrupts.map((interrupt) => timeLeft(interrupt, Date.now()));
    if (left.length === 0 || left.includes(undefined)) return;
    const last = Math.max(...(left as number[]));
    this.#expiry = setTimeout(
      () => (last > LONGEST_TIMER ? this.#armExpiry() : this.#expire()),
      Math.min(last, LONGEST_TIMER),
    );
  }

  #expire(): void {
    if (this.#state.phase !== "asked") return;
    const answers = this.#state.interrupts.map(({ message }) => ({ question: message ?? "", answer: undefined }));
    this.#closeQuestions();
    const now = Date.now();
    this.#add({ kind: "answers", id: crypto.randomUUID(), answers });
    this.#set({ turn: end(end(this.#state.turn, "holds", now), "tools", now) });
    const message = answers.length === 1 ? "The question expired." : "The questions expired.";
    this.#settle({ tone: "warning", code: undefined, message, advice: "Send a new message to go on." });
  }

  #closeQuestions(): void {
    clearTimeout(this.#expiry);
    this.#set({ interrupts: [], refusal: undefined });
  }

  /** The page may be written to again, unless a question came. */
  #settle(notice: Notice | undefined): void {
    if (this.#state.phase === "asked" && this.#state.interrupts.length > 0) return;
    const { waitsFor } = this.#state;
    const announcement = waitsFor === undefined ? "The agent has finished." : "The agent waits for your reply.";
    this.#set({ phase: "idle", announcement });
    if (notice !== undefined) this.#notice(notice);
    this.#save();
  }

  #notice(notice: Notice): void {
    this.#add({ kind: "notice", id: crypto.randomUUID(), notice });
    this.#set({ announcement: notice.message });
  }

  #add(item: Item): void {
    this.#set({ items: [...this.#state.items, item] });
  }

  #save(): void {
    const { threadId, items, turn, waitsFor, interrupts, phase, shared } = this.#state;
    save(this.#endpoint, {
      threadId,
      messages: this.#agent.messages,
      items,
      turn,
      waitsFor,
      open: interrupts.map(({ id }) => id),
      working: phase === "working",
      state: shared,
    });
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const cancelAll = (interrupts: readonly Interrupt[]): Map<string, Decision> =>
  new Map(interrupts.map(({ id }) => [id, { status: "cancelled" }]));
