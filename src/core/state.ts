/**
 * The agent's state as the client knows it: the input's until the turn sets it, changed by
 * snapshots and patches only. Values are never changed in place.
 */
import type { JsonPatchOperation } from "@ag-ui/core";
import { EventRefusedError } from "./errors.ts";
import type { WireEvent } from "./items.ts";
import { patched } from "./json-patch.ts";

/** The states of inputs that had none: their clients may hold `null`, which theirs does not say. */
const assumed = new WeakSet<object>();

/** What an input without a state counts as. */
export function assumeState(): object {
  const state = {};
  assumed.add(state);
  return state;
}

export class TurnState {
  #value: unknown;
  /** What the agent was given to look at, and of which value it is a copy. */
  #shown: { readonly of: unknown; readonly copy: unknown } | undefined;
  /** Whether the turn changed the state in the run that is open. */
  #changed = false;
  /** The state as the last run left it with its client. */
  #left: unknown;
  /** Whether patches went out, or were kept, since then. */
  #patched = false;
  /** Whether a client left: what it was told since its run began may not have reached it. */
  #lost = false;
  /** What the client of the open run says it holds, until it has been told the whole. */
  #claimed: { readonly state: unknown } | undefined;

  constructor(value: unknown) {
    this.#value = value;
    this.#left = value;
  }

  get value(): unknown {
    return this.#value;
  }

  /** A copy for the agent: what it changes in place its client is not told of, so nothing here may change with it. */
  get shown(): unknown {
    if (this.#shown === undefined || this.#shown.of !== this.#value) {
      let shown = this.#value;
      try {
        shown = copy(shown);
      } catch {
        // Nested too deeply to be said again: a client may have sent it, and the agent is to see it all the same.
      }
      this.#shown = { of: this.#value, copy: shown };
    }
    return this.#shown.copy;
  }

  /**
   * What goes out for a state event, and what to do once it has; `undefined` for another event. A patch that does
   * not apply, or meets a client whose own state is another one, goes out as the whole.
   * @param unapplied is told of a patch that does not apply; it may throw to have it refused.
   */
  take(event: WireEvent, unapplied: (cause: unknown) => void): { event: WireEvent; commit: () => void } | undefined {
    if (event.type === "STATE_SNAPSHOT") {
      const next = copy(event.snapshot);
      return { event, commit: () => this.#set(next, true) };
    }
    if (event.type !== "STATE_DELTA") return undefined;
    let next = this.#value;
    let whole = this.#isAstray();
    try {
      next = patched(next, copy(event.delta) as JsonPatchOperation[]);
    } catch (cause) {
      unapplied(cause);
      whole = true;
    }
    const { delta: _delta, ...rest } = event;
    return {
      event: whole ? { ...rest, type: "STATE_SNAPSHOT", snapshot: next } : event,
      commit: () => this.#set(next, whole),
    };
  }

  #set(next: unknown, whole: boolean): void {
    this.#value = next;
    this.#changed = true;
    if (whole) this.#claimed = undefined;
    else this.#patched = true;
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

  /** The client left, and the turn goes on. */
  lose(): void {
    this.#lost = true;
  }

  /** The next run opens. Gives what its client must be told before kept patches reach it, or since another one left. */
  beginRun(claimed: unknown): WireEvent | undefined {
    this.#claimed = { state: claimed };
    const mustAgree = this.#patched || this.#lost;
    this.#lost = false;
    if (!mustAgree || !this.#isAstray()) return undefined;
    this.#claimed = undefined;
    return { type: "STATE_SNAPSHOT", snapshot: this.#left };
  }

  /** Whether the client holds another state than it was left with. One that does not is not asked about again. */
  #isAstray(): boolean {
    if (this.#claimed === undefined) return false;
    if (assumed.has(this.#claimed.state as object)) return true;
    try {
      if (this.#claimed.state !== this.#left && JSON.stringify(this.#claimed.state) !== JSON.stringify(this.#left))
        return true;
    } catch {
      // Nested too deeply to compare: a client is told the whole.
      return true;
    }
    this.#claimed = undefined;
    return false;
  }
}

function copy(value: unknown): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch (cause) {
    throw new EventRefusedError("The state cannot be said in JSON.", { cause });
  }
}
