/**
 * For clients that answer by id alone and leave an interrupt's metadata behind: a middleware of `@ag-ui/client` that
 * keeps the metadata, and with it the proof, and puts it into the answers that come without.
 */

/** Options of `echoProofs`. */
export interface EchoProofsOptions {
  /** Of how many threads the open questions are kept; past it those of the thread heard from longest ago go. Default 1 000. */
  maxThreads?: number;
}

/** What the middleware is given beside an input, by its members: any version of `@ag-ui/client`, none of which is imported. */
interface Next<Input, Stream> {
  run(input: Input): Stream;
}

/** A stream of events as rxjs has it, as far as it is used. */
interface Observed {
  subscribe(observer: { next(event: unknown): void; error(error: unknown): void; complete(): void }): unknown;
}

type Metadata = Record<string, unknown>;
type Entry = { interruptId?: unknown; metadata?: Metadata };

/**
 * Makes the middleware: `agent.use(echoProofs())`. It remembers the metadata of a thread's open interrupts, and adds it
 * to resume entries that carry no proof; what an entry says itself stays. In memory only: after a reload nothing is
 * known, and the identified owner of the thread asks for the question again with a plain run.
 *
 * It vouches for no more than its own process. In a browser that is the person the question was shown to. In a runtime
 * on a server that many people share (CopilotKit's, say) the proof then says only that the answer came through that
 * runtime: whoever it lets name a thread and an interrupt id can answer. Authenticate them there, and hand the identity on to `identify`.
 */
export function echoProofs({
  maxThreads = 1_000,
}: EchoProofsOptions = {}): <Input extends { threadId: string }, Stream>(
  input: Input,
  next: Next<Input, Stream>,
) => Stream {
  const threads = new Map<string, Map<string, Metadata>>();

  function remember(threadId: string, event: unknown): void {
    const { type, outcome } = event as { type?: unknown; outcome?: { type?: unknown; interrupts?: unknown } };
    if (type !== "RUN_FINISHED") return;
    // However the run finished, what was open before it is settled; a refusal settles nothing, and is a RUN_ERROR.
    threads.delete(threadId);
    if (outcome?.type !== "interrupt" || !Array.isArray(outcome.interrupts)) return;
    const open = outcome.interrupts.filter(({ metadata }) => typeof metadata === "object" && metadata !== null);
    threads.set(threadId, new Map(open.map(({ id, metadata }) => [id, metadata])));
    const [oldest] = threads.keys();
    if (threads.size > maxThreads && oldest !== undefined) threads.delete(oldest);
  }

  function proven(threadId: string, entry: Entry): Entry {
    const known = threads.get(threadId)?.get(entry.interruptId as string);
    if (known === undefined || Object.hasOwn(entry.metadata ?? {}, "holdline")) return entry;
    return { ...entry, metadata: { ...known, ...entry.metadata } };
  }

  return (input, next) => {
    const { threadId, resume } = input as { threadId: string; resume?: Entry[] };
    const sent = Array.isArray(resume) ? { ...input, resume: resume.map((entry) => proven(threadId, entry)) } : input;
    return observed(next.run(sent), (event) => remember(threadId, event));
  };
}

/** The same stream, whose events are shown to `see` on their way. */
function observed<Stream>(stream: Stream, see: (event: unknown) => void): Stream {
  // The base class of whatever stream it is: a Subject's own constructor takes no source.
  let base = Object.getPrototypeOf(stream) as { constructor: unknown };
  for (let up = base; up !== Object.prototype && up !== null; up = Object.getPrototypeOf(up)) base = up;
  const Observable = base.constructor as new (
    subscribe: (to: Parameters<Observed["subscribe"]>[0]) => unknown,
  ) => Stream;
  return new Observable((to) =>
    (stream as Observed).subscribe({
      next(event) {
        see(event);
        to.next(event);
      },
      error: (error) => to.error(error),
      complete: () => to.complete(),
    }),
  );
}
