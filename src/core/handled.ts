/**
 * Promises that count as handled: an agent may drop one that a context gave it without ending the
 * process. What the agent derives from one is its own.
 */
const ignore = (): void => {};

export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

/** Runs what may throw, as a promise that counts as handled. */
export function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return handled(work());
  } catch (error) {
    return handled(Promise.reject(error));
  }
}
