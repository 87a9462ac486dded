/**
 * The header by which a proxy that cannot read a body finds the instance of a thread. It routes and does
 * nothing else: who sends it says nothing about who may answer, and the body's `threadId` decides.
 */

/** Its name. */
export const THREAD_HEADER = "x-holdline-thread";

/** So that an id of any length fits into what servers take for a header. */
const LONGEST = 512;

/** Its value: the thread's id percent-encoded, since a header holds no more than ASCII, and cut where it is very long. */
export const threadHeader = (threadId: string): string =>
  encodeURIComponent(threadId.replace(/\p{Surrogate}/gu, "\ufffd")).slice(0, LONGEST);
