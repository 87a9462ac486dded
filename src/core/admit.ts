/**
 * Which turn carries a run: a held one resumed, or a new one started. Every refusal happens here.
 * What is claimed is claimed in the step that found it free, with no `await` in between; where a
 * payload's schema makes one unavoidable, everything is looked up again afterwards.
 */
import { PROTOCOL_VERSION } from "@ag-ui/core";
import { createContext } from "./context.ts";
import { RefusalCode, RequestErrorCode } from "./errors.ts";
import type { Host } from "./host.ts";
import { type Refusal, readResume } from "./resume.ts";
import type { Run } from "./run.ts";
import * as stops from "./stops.ts";
import { keyOf, type Thread, Threads } from "./threads.ts";
import { Turn } from "./turn.ts";
import { standing } from "./version.ts";

export const CLOSING = "This server is closing. Send the run again; another instance will take it.";

export class Admission {
  readonly threads: Threads;
  readonly #host: Host;
  /** Runs that wait for their turn. */
  queued = 0;
  /** Only what is held is answered any more. */
  #closing = false;
  #warnedOfProofs = false;
  /** Runs that abandoned a held question and wait for its turn to unwind: they go first, and are not counted against the queue. */
  readonly #claims = new WeakSet<Run>();

  constructor(host: Host) {
    this.#host = host;
    this.threads = new Threads((thread) => this.#next(thread));
  }

  /** Decides about a run. Refusals are written to it; nothing is thrown. */
  admit(run: Run): void {
    // Nobody is there to hear: nothing is delivered, started or asked again.
    if (run.left) return;
    this.#decide(run);
    this.#tellDoubts(run);
  }

  /** A request is warned of once, whatever is odd about it. */
  #tellDoubts(run: Run): void {
    const doubts = run.doubts.splice(0);
    if (doubts.length === 0) return;
    const { threadId, runId } = run.input;
    const message = doubts.map((doubt) => doubt.message).join(" ");
    // Of what only one can give, its code above all, the gravest counts, which is first.
    this.#host.settings.warn({ ...Object.assign({}, ...doubts.reverse()), message, threadId, runId });
  }

  #decide(run: Run): void {
    const { settings } = this.#host;
    if (settings.hold && !settings.proofRequired && run.identity === null && !this.#warnedOfProofs) {
      this.#warnedOfProofs = true;
      const message =
        'With proof: "when-present" and no identity, whoever knows an interrupt\'s id can answer it. Use `identify`.';
      settings.warn({ code: "PROOF_NOT_REQUIRED", message });
    }
    const { protocolVersion, resume } = run.input;
    if (protocolVersion !== undefined && standing(protocolVersion) === "foreign") {
      return this.#refuse(run, {
        code: RefusalCode.UNSUPPORTED_PROTOCOL_VERSION,
        message: `This server speaks AG-UI ${PROTOCOL_VERSION}, not ${protocolVersion}.`,
      });
    }
    if (resume !== undefined && resume.length > 0) this.#resume(run);
    else this.#plain(run);
  }

  /** Ends what waits in line: the handler is closing. */
  close(): void {
    this.#closing = true;
    for (const thread of this.threads.all()) {
      for (const run of thread.waiting.splice(0)) {
        this.queued--;
        run.onLeft = undefined;
        run.refuse(RequestErrorCode.SERVER_CLOSING, CLOSING);
      }
      this.threads.tidy(thread);
    }
  }

  #refuse(run: Run, { code, message, cause }: Refusal): void {
    const { refused } = this.#host;
    refused[code] = (refused[code] ?? 0) + 1;
    run.refuse(code, message, cause);
  }

  #resume(run: Run): void {
    const entries = run.input.resume as NonNullable<typeof run.input.resume>;
    const { spent, settings } = this.#host;
    const { threadId, runId } = run.input;
    const thread = this.threads.find(run.identity, threadId);
    const turn = this.#heldBy(thread);
    const key = thread?.key ?? keyOf(run.identity, threadId);
    // Such an agent's questions are not held here: whether they are answered is its own to judge.
    if (turn === undefined && settings.agent.keepsInterrupts)
      return this.#closing ? run.refuse(RequestErrorCode.SERVER_CLOSING, CLOSING) : this.#plain(run);
    if (thread === undefined || turn === undefined) return this.#notHeld(run, key);
    const reading = readResume(entries, turn.outstanding, {
      proofRequired: settings.proofRequired,
      causeOf: (id) => spent.causeOf(id, key),
      warn: (warning) => run.doubts.unshift(warning),
      report: (error) => settings.report(error, { threadId, runId }),
    });
    if (!(reading instanceof Promise)) {
      if ("refusal" in reading) this.#refuse(run, reading.refusal);
      else turn.resume(run, reading.decisions);
      return;
    }
    let forget = () => {};
    const over = new Promise<undefined>((resolve) => {
      forget = thread.whileHeld(() => resolve(undefined));
    });
    // While the schema runs the turn stays held and open to everybody else: it may be answered by another resume,
    // abandoned, expire, be evicted, stopped or closed, and this client may leave. A schema that never settles is
    // waited for as long as the turn is held.
    const settled = Promise.race([reading, over]).then((read) => {
      forget();
      if (run.left) return;
      if (read !== undefined && "refusal" in read) return this.#refuse(run, read.refusal);
      // The turn may have been taken in the very moment in which the check ended; once it is taken anew, `over` has told.
      // So what is still open was judged, and some of that may have timed out. From here to `resume` nothing is awaited.
      const open = read !== undefined && this.#heldBy(thread) === turn ? turn.outstanding : [];
      // What is held now, if anything, is another question: that is for the resume to be told as any other is.
      if (read === undefined || open.length === 0) return this.#resume(run);
      turn.resume(run, new Map([...read.decisions].filter(([question]) => open.includes(question))));
    });
    settled.catch((error) => settings.report(error, { threadId, runId }));
  }

  /** The turn that is held at this instant: the deadline is the clock's, whether or not its timer has fired. */
  #heldBy(thread: Thread | undefined): Turn | undefined {
    const turn = thread?.held;
    if (turn === undefined) return undefined;
    if (turn.deadline <= this.#host.settings.clock.now()) {
      this.#host.held.delete(turn);
      turn.expire();
    } else turn.expireDue();
    return thread?.held;
  }

  #notHeld(run: Run, key: string): void {
    const [entry] = run.input.resume as NonNullable<typeof run.input.resume>;
    const cause = this.#host.spent.causeOf(entry?.interruptId as string, key);
    const message =
      cause === "other-instance"
        ? "Nothing is held here for this thread: another instance raised this interrupt, or this one before it restarted. Route by threadId, or start over with a new message."
        : `Nothing is held for this thread (${cause}). Start over with a new message.`;
    this.#refuse(run, { code: RefusalCode.INTERRUPT_NOT_HELD, message, cause });
  }

  #plain(run: Run): void {
    const { settings } = this.#host;
    // Looked at first: letting go of a question whose time is up may end, or begin, what goes on in the thread.
    const held = this.#heldBy(this.threads.find(run.identity, run.input.threadId));
    const thread = this.threads.open(run.identity, run.input.threadId);
    if (held !== undefined) {
      if (run.identity === null) {
        return this.#refuse(run, {
          code: RefusalCode.INTERRUPT_NOT_COVERED,
          message:
            "This thread waits for an answer: send `resume` with an entry for every open interrupt, or give it up with status `cancelled`.",
        });
      }
      if (settings.whenAsked === "ask-again") {
        run.start();
        run.finish({
          outcome: { type: "interrupt", interrupts: held.outstanding.map((question) => question.interrupt()) },
        });
        return;
      }
      held.stop(stops.abandoned());
      // Waits, before all others, until the old turn has unwound or was given up on.
      this.#claims.add(run);
      return this.#wait(run, thread, true);
    }
    if (thread.active !== undefined) {
      if (thread.waiting.filter((waiting) => !this.#claims.has(waiting)).length < settings.queuedRuns)
        return this.#wait(run, thread, false);
      return this.#refuse(run, {
        code: RefusalCode.THREAD_BUSY,
        message:
          "A run is active on this thread and as many as may wait already do. Send it again when one has finished.",
      });
    }
    const turn = new Turn(this.#host, thread, run);
    thread.active = turn;
    turn.start(run, createContext(turn));
  }

  #wait(run: Run, thread: Thread, first: boolean): void {
    if (first) thread.waiting.unshift(run);
    else thread.waiting.push(run);
    this.queued++;
    run.onLeft = () => {
      thread.waiting.splice(thread.waiting.indexOf(run), 1);
      this.queued--;
      this.threads.tidy(thread);
    };
  }

  /** Admits those that wait, from the start, until one of them keeps the thread busy. */
  #next(thread: Thread): void {
    while (thread.active === undefined && thread.waiting.length > 0) {
      const run = thread.waiting.shift() as Run;
      this.queued--;
      run.onLeft = undefined;
      this.admit(run);
    }
    this.threads.tidy(thread);
  }
}
