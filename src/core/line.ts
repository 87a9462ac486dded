/**
 * A line of members in the order they joined: any may leave, the first is always at hand, and no
 * operation looks at the others. (A Set has the same order, but finding its first member again
 * after many have left walks over their places.)
 */
interface Place<T> {
  readonly member: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

export class Line<T> {
  readonly #places = new Map<T, Place<T>>();
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;

  get size(): number {
    return this.#places.size;
  }

  get first(): T | undefined {
    return this.#first?.member;
  }

  /** Joins at the end; a member must not stand in the line already. */
  add(member: T): void {
    const place: Place<T> = { member, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#places.set(member, place);
  }

  /** @returns whether it stood in the line. */
  delete(member: T): boolean {
    const place = this.#places.get(member);
    if (place === undefined) return false;
    this.#places.delete(member);
    if (place.before === undefined) this.#first = place.after;
    else place.before.after = place.after;
    if (place.after === undefined) this.#last = place.before;
    else place.after.before = place.before;
    return true;
  }

  /** The members, the first to join first. */
  members(): T[] {
    return [...this.#places.keys()];
  }
}
