/**
 * What every variant shares: the text, how many deltas, and the pace at which a "model" hands them
 * over. A variant only differs in how it turns them into the body of an answer.
 */
import { setImmediate, setTimeout } from "node:timers";

/** Set through a server's admin port. */
export const settings = {
  /** Deltas in one assistant message. */
  n: 20,
  /** Deltas handed over per turn of the event loop: a model's socket delivers one or a few tokens a read. */
  burst: Number(process.env.BENCH_BURST ?? 4),
  /** Characters a delta is padded to; 0: as it is, about 20. */
  size: 0,
  /** Milliseconds between two bursts; 0: the next turn of the event loop. */
  paceMs: 0,
  /** Whether a delta is the instant at which it was handed over, instead of text. */
  stamped: false,
};

/** Deltas handed over so far, and sources not yet ended. */
export const stats = { produced: 0, active: 0 };

const WORDS = ["the quick brown fox ", "jumps over lazy dogs", 'and "quotes" \\ back', "ünïcode — 字 emoji 🙂 "];

/** @param {number} i */
export const delta = (i, size = settings.size) => (size > 0 ? WORDS[i & 3].padEnd(size, ".") : WORDS[i & 3]);

/** Microseconds on a clock that the processes of one machine share. */
export function microseconds() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1e3;
}

const pause = () =>
  new Promise((resolve) => {
    if (settings.paceMs > 0) setTimeout(resolve, settings.paceMs);
    else setImmediate(resolve);
  });

let opened = Promise.resolve();
let open = () => {};

/** While it is shut, no source hands its first delta over. */
export function gate(shut) {
  open();
  if (!shut) return;
  opened = new Promise((resolve) => {
    open = resolve;
  });
}

/** The fake model: `n` deltas, `burst` of them per turn of the event loop. */
export async function* deltas() {
  const { n, burst } = settings;
  await opened;
  stats.active++;
  try {
    for (let i = 0; i < n; i++) {
      if (i % burst === 0) await pause();
      stats.produced++;
      yield settings.stamped ? String(microseconds()) : delta(i);
    }
  } finally {
    stats.active--;
  }
}

/** The body of one AG-UI run, on a thread of its own. @param {string} id @param {object} [more] */
export const runInput = (id, more) => ({
  threadId: `thread-${id}`,
  runId: `run-${id}`,
  state: {},
  messages: [{ id: `user-${id}`, role: "user", content: "Tell me about flight LH441, please." }],
  tools: [],
  context: [],
  forwardedProps: {},
  ...more,
});
