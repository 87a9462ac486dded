/**
 * The chunk form: a message or call whose START, contents and END are folded into chunks that need
 * not repeat the id. It belongs to a lane, one for each owner, and ends with the next event of its
 * lane that is something else; so which item an id-less chunk continues is worked out here.
 */
import type { WireEvent } from "./frames.ts";
import { type FailItem, type Owner, ownerName, type Streamed, type Traits } from "./streamed.ts";

interface Lane {
  readonly items: Streamed;
  readonly id: string;
  readonly traits: Traits;
}

export class ChunkLanes {
  readonly #fail: FailItem;
  readonly #lanes = new Map<Owner, Lane>();

  constructor(fail: FailItem) {
    this.#fail = fail;
  }

  /** Takes one chunk. `traits` are the members that a repeat may not change; those in `needed` the first chunk must have. */
  take(
    items: Streamed,
    id: string | undefined,
    tag: Owner,
    event: WireEvent,
    traits: Traits,
    needed: readonly string[],
  ): void {
    const owner = this.#ownerOf(items, id, tag);
    const lane = this.#lanes.get(owner);
    if (lane?.items === items && (id === undefined || id === lane.id)) {
      for (const [trait, value] of Object.entries(lane.traits)) {
        if (event[trait] === undefined || event[trait] === value) continue;
        this.#fail(`a chunk gives the ${items.kind} ${JSON.stringify(lane.id)} another ${trait}`);
      }
      return;
    }
    this.close(owner);
    if (id === undefined) this.#fail(`the first chunk of a ${items.kind} has no id`);
    for (const member of needed)
      if (event[member] === undefined) this.#fail(`the first chunk of a ${items.kind} has no ${member}`);
    items.start(id, owner, traits);
    this.#lanes.set(owner, { items, id, traits });
  }

  /** Something else happened in the lane: what its chunks opened has ended. */
  close(owner: Owner): void {
    const lane = this.#lanes.get(owner);
    this.#lanes.delete(owner);
    lane?.items.closeChunks(lane.id);
  }

  closeAll(): void {
    for (const owner of [...this.#lanes.keys()]) this.close(owner);
  }

  #ownerOf(items: Streamed, id: string | undefined, tag: Owner): Owner {
    const candidates = [...this.#lanes].filter(
      ([, lane]) => lane.items === items && (id === undefined || lane.id === id),
    );
    if (id !== undefined) {
      const holder = candidates[0];
      if (holder === undefined) return tag;
      if (tag !== undefined && tag !== holder[0]) {
        this.#fail(
          `a chunk of ${ownerName(tag)} continues the ${items.kind} ${JSON.stringify(id)} of ${ownerName(holder[0])}`,
        );
      }
      return holder[0];
    }
    if (tag !== undefined || candidates.some(([owner]) => owner === undefined)) return tag;
    if (candidates.length > 1) this.#fail(`a chunk names neither a ${items.kind} nor an owner while several are open`);
    return candidates[0]?.[0];
  }
}
