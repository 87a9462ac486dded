/** Small words for what tests wait on: promises that a test settles, and the real event loop. */

/** A promise and what settles it. */
export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export function defer<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // A test may give up on it.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** The next turn of the real event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A bound that exists only so that a failure ends: rejects when `promise` has not settled in time. */
export function within<T>(ms: number, promise: PromiseLike<T>, what = "it"): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`After ${ms} ms ${what} had not come.`)), ms);
    promise.then(
      (value) => {
        clearTimeout(late);
        resolve(value);
      },
      (error) => {
        clearTimeout(late);
        reject(error);
      },
    );
  });
}

/** Whether a promise has settled by the time the event loop has turned a few times. */
export async function isSettled(promise: PromiseLike<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 10 && !settled; turn += 1) await nextTurn();
  return settled;
}

/** Turns the event loop until something holds; fails when it does not within `ms` of real time. */
export async function until(holds: () => boolean, what: string, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`After ${ms} ms ${what} had not come about.`);
    await nextTurn();
  }
}
