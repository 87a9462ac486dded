/** What clients saw accepted against what was done: the two lists that have to agree, kept in a process of their own. */
export class Accounts {
  #last = 0;
  /** Per guarded action: how often a client saw its approval accepted, and how often it was done. */
  #actions = new Map();
  /** How runs ended. */
  ends = {};

  token() {
    const token = `t${++this.#last}`;
    this.#actions.set(token, { accepted: 0, done: 0, unsure: false });
    return token;
  }

  ended(end) {
    this.ends[end] = (this.ends[end] ?? 0) + 1;
  }

  accepted(token) {
    this.#actions.get(token).accepted++;
  }

  /** Its approval was sent and the client left before it knew. */
  unsure(token) {
    this.#actions.get(token).unsure = true;
  }

  did(token) {
    this.#actions.get(token).done++;
  }

  /** Every action where the two disagree. */
  get wrong() {
    return [...this.#actions]
      .filter(([, { accepted, done, unsure }]) => done > 1 || (unsure ? done < accepted : done !== accepted))
      .map(([token, account]) => `${token}: ${JSON.stringify(account)}`);
  }

  get totals() {
    const all = [...this.#actions.values()];
    return {
      guarded: all.length,
      accepted: all.filter(({ accepted }) => accepted > 0).length,
      done: all.filter(({ done }) => done > 0).length,
      unsure: all.filter(({ unsure }) => unsure).length,
    };
  }
}
