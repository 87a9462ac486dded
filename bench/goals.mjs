/**
 * The goals, as data: what is measured, what it ought to be, and how to read it off the results. A goal with
 * `atMost` or `atLeast` is met or missed; one without is only reported.
 */
const KB = 1024;

const x = (value) => `${value.toFixed(2)} ×`;
const us = (value) => `${value.toFixed(1)} µs`;
const ms = (value) => `${value.toFixed(2)} ms`;
const kb = (bytes) => `${(bytes / KB).toFixed(1)} KB`;
const count = (value) => value.toLocaleString("en-US");

/** @typedef {{ id: string, figure: string, of: (results: any) => number | boolean, atMost?: number, atLeast?: number, is?: boolean, show: (value: any) => string }} Goal */

/** @type {Goal[]} */
export const goals = [
  {
    id: "long-runs-node",
    figure: "Long streams, runs/s against bare: Node adapter",
    of: ({ streams }) => streams.long["holdline-node"].ratio.runsPerSecond,
    atLeast: 1.25,
    show: x,
  },
  {
    id: "long-runs-web",
    figure: "Long streams, runs/s against the joined bare-web: web path",
    of: ({ streams }) => streams.long.holdline.toWebJoined.runsPerSecond,
    atLeast: 1,
    show: x,
  },
  {
    id: "long-cpu-node",
    figure: "Long streams, server CPU per event against bare: Node adapter",
    of: ({ streams }) => streams.long["holdline-node"].ratio.cpuPerEvent,
    atMost: 0.85,
    show: x,
  },
  {
    id: "long-cpu-web",
    figure: "Long streams, server CPU per event against the joined bare-web: web path",
    of: ({ streams }) => streams.long.holdline.toWebJoined.cpuPerEvent,
    atMost: 1.1,
    show: x,
  },
  {
    id: "short-runs-node",
    figure: "Short runs, runs/s against bare: Node adapter",
    of: ({ streams }) => streams.short["holdline-node"].ratio.runsPerSecond,
    atLeast: 1,
    show: x,
  },
  {
    id: "short-runs-web",
    figure: "Short runs, runs/s against bare: web path",
    of: ({ streams }) => streams.short.holdline.ratio.runsPerSecond,
    atLeast: 0.6,
    show: x,
  },
  {
    id: "first-byte-early",
    figure: "First byte before the agent's first event, both paths",
    of: ({ firstByte }) => firstByte.holdline.early && firstByte["holdline-node"].early,
    is: true,
    show: (early) => (early ? "yes" : "no"),
  },
  {
    id: "first-byte-node",
    figure: "First byte against bare, one client at a time: Node adapter",
    of: ({ firstByte }) => firstByte["holdline-node"].ratio,
    atMost: 1.3,
    show: x,
  },
  {
    id: "length",
    figure: "CPU per event at 8,000 deltas against 1,000: the worse of both paths",
    of: ({ length }) => Math.max(length.holdline.growth, length["holdline-node"].growth),
    atMost: 1.1,
    show: x,
  },
  {
    id: "stall-stops",
    figure: "A reader that stops: the agent stops within the buffers, both paths",
    of: ({ stall }) =>
      [stall.holdline, stall["holdline-node"]].every(({ stops, ends, produced }) => stops && ends && produced < 3_000),
    is: true,
    show: (stops) => (stops ? "yes" : "no"),
  },
  {
    id: "stall-memory",
    figure: "A reader that stops: memory grows by, the worse of both paths",
    of: ({ stall }) => Math.max(stall.holdline.grewMiB, stall["holdline-node"].grewMiB),
    atMost: 16,
    show: (value) => `${value.toFixed(0)} MiB`,
  },
  {
    id: "ask-node",
    figure: "One ask and its answer against two plain runs, CPU: Node adapter",
    of: ({ asking }) => asking["holdline-node-asks"].cpu,
    atMost: 1.5,
    show: x,
  },
  {
    id: "ask-web",
    figure: "One ask and its answer against two plain runs, CPU: web path",
    of: ({ asking }) => asking["holdline-asks"].cpu,
    atMost: 1.5,
    show: x,
  },
  {
    id: "ask-held",
    figure: "The same beside 100,000 held turns against beside 100, CPU",
    of: ({ held }) => held.ask.cpu,
    atMost: 1.2,
    show: x,
  },
  {
    id: "held-10000",
    figure: "A held turn beyond what the agent's closure keeps, 10,000 held",
    of: ({ held }) => held.perTurn[10_000] - held.closure,
    atMost: 4.5 * KB,
    show: kb,
  },
  {
    id: "held-100000",
    figure: "The same, 100,000 held",
    of: ({ held }) => held.perTurn[100_000] - held.closure,
    atMost: 4.5 * KB,
    show: kb,
  },
  {
    id: "held-all",
    figure: "A process with 100,000 held turns, resident",
    of: ({ held }) => held.rssOfMany,
    atMost: 0.7e9,
    show: (bytes) => `${(bytes / 1e9).toFixed(2)} GB`,
  },
  {
    id: "size",
    figure: "The core, minified and gzipped, without the validators",
    of: ({ size }) => size.atOnce,
    atMost: 16 * KB,
    show: kb,
  },
  {
    id: "size-all",
    figure: "The core with the validators, zod included",
    of: ({ size }) => size.withValidators,
    atMost: 75 * KB,
    show: kb,
  },
  {
    id: "latency-50",
    figure: "From `await context.text()` to the client's read, 50th percentile: Node adapter",
    of: ({ latency }) => latency["holdline-node"].p50,
    show: ms,
  },
  {
    id: "latency-99",
    figure: "The same, 99th percentile",
    of: ({ latency }) => latency["holdline-node"].p99,
    show: ms,
  },
  {
    id: "start-node",
    figure: "Import and first run in a fresh Node process",
    of: ({ start }) => start.node.import + start.node.run,
    show: ms,
  },
  {
    id: "start-workerd",
    figure: "First request to a fresh workerd isolate, beyond a Worker that answers by hand",
    of: ({ start }) => start.workerd.ours.first - start.workerd.byHand.first,
    show: ms,
  },
];

/** "at most 0.85 ×" @param {Goal} goal */
export function wanted({ atMost, atLeast, is, show }) {
  if (atMost !== undefined) return `at most ${show(atMost)}`;
  if (atLeast !== undefined) return `at least ${show(atLeast)}`;
  return is === undefined ? "reported" : show(is);
}

/** @param {Goal} goal @param {any} results @returns {boolean | undefined} `undefined` where nothing was wanted */
export function isMet({ atMost, atLeast, is, of }, results) {
  const value = of(results);
  if (atMost !== undefined) return value <= atMost;
  if (atLeast !== undefined) return value >= atLeast;
  return is === undefined ? undefined : value === is;
}

export { count, kb, ms, us, x };
