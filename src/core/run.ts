/**
 * One run on one exchange: RUN_STARTED to its terminating event, or a lone RUN_ERROR. It owns the
 * outlet and hears when the client leaves; which turn it carries, if any, is the turn's business.
 */
import { contentToText, PROTOCOL_VERSION, type RunAgentInput, type TokenUsage } from "@ag-ui/core";
import { type Ending, failure, lastEvent } from "./ending.ts";
import type { InterruptCause, RefusalCode, RequestErrorCode } from "./errors.ts";
import { frame, isTooLong, KEEP_ALIVE } from "./frames.ts";
import type { WireEvent } from "./items.ts";
import type { KeepAlive, Quiet } from "./keep-alive.ts";
import { nobody, type Sink } from "./kept-events.ts";
import type { Warning } from "./options.ts";
import { type ExchangeRequest, type Outlet, webRequest } from "./outlet.ts";
import { countable, summed } from "./usage.ts";

export class Run implements Sink, Quiet {
  readonly input: RunAgentInput;
  readonly identity: string | null;
  readonly locals: unknown;
  /** What is odd about its request, until it was told. */
  readonly doubts: Warning[];
  /** Called at most once, if the client leaves while this run is not over. Set by whoever the run is with. */
  onLeft: (() => void) | undefined;
  /** Whether the client has left. */
  left = false;
  active = false;
  readonly #keepAlive: KeepAlive;
  #outlet: Outlet | undefined;
  #request: ExchangeRequest | undefined;
  #webRequest: Request | undefined;
  #shown: RunAgentInput | undefined;
  #usage: TokenUsage[] | undefined;
  /** What was written and does not leave yet. */
  #held: string[] | undefined;
  /** Hears the request's signal, where there is one. */
  #onAbort: (() => void) | undefined;

  constructor(
    input: RunAgentInput,
    from: {
      request: ExchangeRequest;
      outlet: Outlet;
      identity: string | null;
      doubts: readonly Warning[];
      locals: unknown;
      keepAlive: KeepAlive;
    },
  ) {
    this.input = input;
    this.identity = from.identity;
    this.locals = from.locals;
    this.doubts = [...from.doubts];
    this.#request = from.request;
    this.#outlet = from.outlet;
    this.#keepAlive = from.keepAlive;
    this.#keepAlive.add(this);
    const { signal } = from.request;
    const heardLeaving = () => this.#heardLeaving();
    // Any of the outlet and the signal may be the one that tells; some runtimes have only one of them.
    if (signal !== undefined) {
      signal.addEventListener("abort", heardLeaving, { once: true });
      this.#onAbort = heardLeaving;
    }
    from.outlet.left(heardLeaving);
    if (signal?.aborted) heardLeaving();
  }

  /** The last user message as text, `""` without one. */
  get userText(): string {
    const { messages } = this.input;
    for (let i = messages.length - 1; i >= 0; i--) {
      const message = messages[i];
      if (message?.role === "user") return contentToText(message.content);
    }
    return "";
  }

  /** The input for the agent: lists that it makes longer or shorter are its own, and the turn goes by those of the input. */
  get shown(): RunAgentInput {
    if (this.#shown === undefined) {
      const { messages, tools } = this.input;
      this.#shown = { ...this.input, messages: [...messages], tools: [...tools] };
    }
    return this.#shown;
  }

  /** The request as the web has it, made when first asked for; none once the run is over, so that nothing keeps it. */
  get request(): Request | undefined {
    this.#webRequest ??= this.#request && webRequest(this.#request);
    return this.#webRequest;
  }

  write(text: string): void {
    if (this.#held !== undefined) {
      this.#held.push(text);
      return;
    }
    this.active = true;
    this.#outlet?.write(text);
  }

  get full(): boolean {
    return this.#outlet?.full ?? false;
  }

  room(): Promise<void> {
    return (this.#outlet ?? nobody).room();
  }

  keepAlive(): void {
    if (!this.full) this.#outlet?.write(KEEP_ALIVE);
  }

  /**
   * Says that the run has started. The version is this producer's own, never an echo (AG-UI versioning). Nothing
   * leaves before `begin`: earlier runs may have to go before it.
   */
  start(): void {
    const { threadId, runId, parentRunId } = this.input;
    this.#held = [frame({ type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION, parentRunId })];
  }

  /** Whether something could still go before the run: it has not begun, and nothing waits to go out but its start. */
  get isFresh(): boolean {
    return this.#held?.length === 1;
  }

  /** Lets out what is held back, behind `earlier`. */
  begin(earlier: readonly string[] = []): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    for (const text of [...earlier, ...held]) this.write(text);
  }

  /** Counts what a model used, for this run's terminating event. */
  addUsage(entry: TokenUsage): void {
    this.#usage ??= [];
    this.#usage.push(countable(entry));
  }

  /** Writes the terminating event and closes. Nothing follows it but, where `late` comes to one, a RUN_ERROR. */
  finish(ending: Ending, late?: Promise<Ending | undefined>): void {
    const { threadId, runId } = this.input;
    const usage = this.#usage && summed(this.#usage);
    this.#end({ ...lastEvent(ending, { threadId, runId }), usage }, "error" in ending ? undefined : late);
  }

  /** Ends as a stream of one RUN_ERROR: nothing was started. */
  refuse(code: RefusalCode | typeof RequestErrorCode.SERVER_CLOSING, message: string, cause?: InterruptCause): void {
    this.#end({
      type: "RUN_ERROR",
      message,
      code,
      ...(cause === undefined ? {} : { metadata: { holdline: { cause } } }),
    });
  }

  #end(event: WireEvent, late?: Promise<Ending | undefined>): void {
    this.begin();
    this.write(lastFrame(event));
    if (late === undefined) return this.#shut();
    this.onLeft = undefined;
    // Meanwhile the client may leave; then nothing is written.
    void late.then((failed) => {
      if (failed !== undefined && "error" in failed) this.write(lastFrame({ type: "RUN_ERROR", ...failed.error }));
      this.#shut();
    });
  }

  #shut(): void {
    const outlet = this.#outlet;
    if (outlet === undefined) return;
    this.#close();
    outlet.end();
  }

  #heardLeaving(): void {
    const outlet = this.#outlet;
    if (outlet === undefined) return;
    const { onLeft } = this;
    this.left = true;
    this.#close();
    // Where only a signal told, the body is still open: whoever reads on finds its end.
    outlet.end();
    onLeft?.();
  }

  /** From here on the run is over: leaving is not heard, and nothing of the exchange is kept. */
  #close(): void {
    if (this.#onAbort !== undefined) this.#request?.signal?.removeEventListener("abort", this.#onAbort);
    this.#onAbort = undefined;
    this.onLeft = undefined;
    this.#keepAlive.delete(this);
    this.#outlet = undefined;
    this.#request = undefined;
    this.#webRequest = undefined;
  }
}

const FAILED = frame(lastEvent(failure(undefined), { threadId: "", runId: "" }));

/** What was tried before may still be nested too deeply for the stack as it stands now, or be too long: the run ends all the same. */
function lastFrame(event: WireEvent): string {
  try {
    const last = frame(event);
    return isTooLong(last) ? FAILED : last;
  } catch {
    return FAILED;
  }
}
