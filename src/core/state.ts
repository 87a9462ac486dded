/**
 * The agent's state as the client knows it: the input's until the turn sets it, changed by
 * snapshots and patches only. Values are never changed in place.
 */
import jsonPatch from "fast-json-patch";
import { EventRefusedError } from "./errors.ts";
import type { WireEvent } from "./ledger.ts";

/** What patches are applied with: the library the protocol's own client uses, so both sides agree. */
const apply = jsonPatch.applyPatch;

export class TurnState {
  #value: unknown;
  /** Whether the turn changed the state in the run that is open. */
  #changed = false;
  /** The state as the last run left it with its client. */
  #left: unknown;
  /** Whether patches went out, or were kept, since then. */
  #patched = false;
  /** What the client of the open run says it holds, until it has been told the whole. */
  #claimed: { readonly state: unknown } | undefined;

  constructor(value: unknown) {
    this.#value = value;
    this.#left = value;
  }

  get value(): unknown {
    return this.#value;
  }

  /**
   * What goes out for a state event, and what to do once it has; `undefined` for another event.
   * A patch for a client whose own state is another one goes out as the whole.
   * @throws EventRefusedError for a patch that does not apply.
   */
  take(event: WireEvent): { event: WireEvent; commit: () => void } | undefined {
    if (event.type !== "STATE_SNAPSHOT" && event.type !== "STATE_DELTA") return undefined;
    const whole = event.type === "STATE_SNAPSHOT";
    const next = whole ? copy(event.snapshot) : this.#apply(event.delta);
    const astray = !whole && this.#isAstray();
    const commit = () => {
      this.#value = next;
      this.#changed = true;
      if (whole || astray) this.#claimed = undefined;
      else this.#patched = true;
    };
    if (!astray) return { event, commit };
    const { delta: _delta, ...rest } = event;
    return { event: { ...rest, type: "STATE_SNAPSHOT", snapshot: next }, commit };
  }

  /** The run ends. Gives what its client is told before an interrupt when the turn changed the state. */
  endRun(): WireEvent | undefined {
    const told = this.#changed ? { type: "STATE_SNAPSHOT", snapshot: this.#value } : undefined;
    this.#changed = false;
    this.#patched = false;
    this.#left = this.#value;
    this.#claimed = undefined;
    return told;
  }

  /** The next run opens. Gives what its client must be told before kept patches reach it. */
  beginRun(claimed: unknown): WireEvent | undefined {
    this.#claimed = { state: claimed };
    if (!this.#patched || !this.#isAstray()) return undefined;
    this.#claimed = undefined;
    return { type: "STATE_SNAPSHOT", snapshot: this.#left };
  }

  #isAstray(): boolean {
    if (this.#claimed === undefined) return false;
    try {
      return JSON.stringify(this.#claimed.state) !== JSON.stringify(this.#left);
    } catch {
      // Nested too deeply to compare: a client is told the whole.
      return true;
    }
  }

  #apply(operations: unknown): unknown {
    try {
      return apply(copy(this.#value), operations as Parameters<typeof apply>[1], true, true).newDocument;
    } catch (cause) {
      throw new EventRefusedError("STATE_DELTA: the patch does not apply to the state as it stands.", { cause });
    }
  }
}

function copy(value: unknown): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch (cause) {
    throw new EventRefusedError("The state cannot be said in JSON.", { cause });
  }
}
