/**
 * What one kind of streamed item (text message, tool call, reasoning message, reasoning span) has
 * open in a run, and whose each item is. An item belongs to the subagent its START names, or to the
 * run's own agent; AG-UI lets what follows leave the name out, never name another.
 */

/** A subagent's id; `undefined` is the run's own agent, which owns as much as any subagent. */
export type Owner = string | undefined;

/** How an owner is spelled in a message. */
export const ownerName = (owner: Owner): string =>
  owner === undefined ? "the run's own agent" : `subagent ${JSON.stringify(owner)}`;

/** What an item was started with and has to be reopened with. */
export type Traits = Readonly<Record<string, string | undefined>>;

export type FailItem = (problem: string) => never;

/** The items of one kind. Ids of two kinds never meet, but owners may be shared: a reasoning span and its message often have one id. */
export class Streamed {
  readonly kind: string;
  readonly #fail: FailItem;
  readonly #open = new Set<string>();
  readonly #traits = new Map<string, Traits>();
  readonly #owners: Map<string, Owner>;

  constructor(kind: string, fail: FailItem, owners: Map<string, Owner> = new Map()) {
    this.kind = kind;
    this.#fail = fail;
    this.#owners = owners;
  }

  /** The ids that are open, in the order they were opened. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  /** Whether this run started it. */
  started(id: string): boolean {
    return this.#traits.has(id);
  }

  known(id: string): boolean {
    return this.#owners.has(id);
  }

  ownerOf(id: string): Owner {
    return this.#owners.get(id);
  }

  /** Takes note of an item that is not streamed: from the history, or one that a result makes. */
  record(id: string, owner: Owner, traits?: Traits): void {
    this.#owners.set(id, owner);
    if (traits !== undefined) this.#traits.set(id, traits);
  }

  start(id: string, owner: Owner, traits: Traits): void {
    if (this.#open.has(id)) this.#fail(`the ${this.kind} ${JSON.stringify(id)} is open already`);
    if (this.#owners.has(id) && this.#owners.get(id) !== owner) {
      this.#fail(
        `the ${this.kind} ${JSON.stringify(id)} of ${ownerName(this.#owners.get(id))} is reopened by ${ownerName(owner)}`,
      );
    }
    for (const [trait, value] of Object.entries(this.#traits.get(id) ?? {})) {
      if (traits[trait] === value) continue;
      this.#fail(
        `the ${this.kind} ${JSON.stringify(id)} is reopened with ${trait} ${traits[trait]} instead of ${value}`,
      );
    }
    this.#open.add(id);
    this.record(id, owner, traits);
  }

  /** Something that goes on with an open item. */
  proceed(id: string, tag: Owner): void {
    if (!this.#open.has(id)) this.#fail(`no ${this.kind} ${JSON.stringify(id)} is open in this run`);
    this.agree(id, tag);
  }

  end(id: string, tag: Owner): void {
    this.proceed(id, tag);
    this.#open.delete(id);
  }

  /** Ends what chunks opened, which have no END of their own. */
  closeChunks(id: string): void {
    this.#open.delete(id);
  }

  /** An event may leave the owner out, but not name another; of an item that nobody has heard of nothing is known. */
  agree(id: string, tag: Owner): void {
    if (tag === undefined || !this.#owners.has(id) || this.#owners.get(id) === tag) return;
    this.#fail(
      `the ${this.kind} ${JSON.stringify(id)} belongs to ${ownerName(this.#owners.get(id))}, not to ${ownerName(tag)}`,
    );
  }
}
