/**
 * Whose the parts of a run are (AG-UI subagents): an id names one invocation, from its announcement on, and
 * what is attributed to it stands between its start and its end. Attribution to one whom nobody announces is legal.
 */
import { refuse } from "./errors.ts";
import type { Item, WireEvent } from "./items.ts";

export class Owners {
  // Made when first needed, like all that most turns do without: what a turn has while it is held, it keeps.
  /** The subagents that were announced in this run. */
  #announced: Set<string> | undefined;
  /** Those that events of this run name and nobody announced. */
  #attributed: Set<string> | undefined;

  announce(subagentRunId: string): void {
    this.#announced ??= new Set();
    this.#announced.add(subagentRunId);
  }

  /** An event has gone out that names this owner. */
  attribute(subagentRunId: string): void {
    if (this.#announced?.has(subagentRunId)) return;
    this.#attributed ??= new Set();
    this.#attributed.add(subagentRunId);
  }

  /** An announcement as this run may have it: one whose parent has ended in an earlier run stands by itself. */
  parented(announcement: WireEvent): WireEvent {
    const { parentSubagentRunId, ...alone } = announcement;
    const isThere = parentSubagentRunId === undefined || this.#announced?.has(parentSubagentRunId as string);
    return isThere ? announcement : (alone as WireEvent);
  }

  endRun(): void {
    this.#announced = undefined;
    this.#attributed = undefined;
  }

  /** `known` and `parent` are the subagents of the event's ids, where there are any. @throws EventRefusedError */
  checkAnnouncement(event: WireEvent, known: Item | undefined, parent: Item | undefined): void {
    const id = event.subagentRunId as string;
    const parentId = event.parentSubagentRunId as string | undefined;
    const goesOn = known?.waits === true && known.state === "closed" && !this.#announced?.has(id);
    if ((known !== undefined && !goesOn) || this.#attributed?.has(id))
      refuse(`SUBAGENT_STARTED: ${JSON.stringify(id)} was used; it names one invocation, from its announcement on.`);
    if (parentId === undefined || this.#announced?.has(parentId)) return;
    // One that an interrupt closed is announced again before this event goes out.
    if (parent?.state !== "suspended")
      refuse(`SUBAGENT_STARTED: its parent ${JSON.stringify(parentId)} was not announced in this run.`);
  }
}

/**
 * What begins belongs to a subagent that has not ended, or to one that nobody announces; opened again, to the same as
 * `earlier`, what was opened under its id. `subagent` is the owner's own item, where there is one. @throws EventRefusedError
 */
export function checkOwner(
  event: WireEvent,
  owner: string | undefined,
  subagent: Item | undefined,
  earlier: readonly (Item | undefined)[],
): void {
  for (const item of earlier) {
    if (item !== undefined && item.owner !== owner)
      refuse(`${event.type}: ${JSON.stringify(item.id)} was opened by another owner.`);
  }
  if (subagent?.state === "closed") refuse(`${event.type}: the subagent ${JSON.stringify(owner)} has finished.`);
}
