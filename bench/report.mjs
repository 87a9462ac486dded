/** The results as a page of tables. */
import os from "node:os";
import { WORKLOADS } from "./figures/streams.mjs";
import { count, goals, isMet, kb, ms, us, wanted, x } from "./goals.mjs";
import { tried } from "./tried.mjs";

const NAMES = {
  bare: "bare `node:http`, one `res.write` an event",
  "bare-joined": "the same, joined per tick",
  "web-bare": "bare fetch handler over @hono/node-server",
  "web-joined": "the same, joined per tick",
  "agui-encoder": "@ag-ui/encoder on `node:http`",
  "hono-sse": "hono `streamSSE`",
  tanstack: "TanStack AI",
  "ai-sdk": "AI SDK (its own protocol)",
  copilotkit: "CopilotKit runtime",
  holdline: "**holdline, web path** over @hono/node-server",
  "holdline-node": "**holdline, Node adapter**",
};

const row = (...cells) => `| ${cells.join(" | ")} |`;
const head = (...cells) => [row(...cells), row(...cells.map((_, i) => (i === 0 ? "---" : "---:")))];

/** @param {any} results @returns {string} */
export function report(results) {
  const { about } = results;
  const missed = goals.filter((goal) => isMet(goal, results) === false);
  return [
    "# Bench",
    "",
    `Made by \`npm run bench\` on ${about.date}, in ${about.seconds} s: ${about.machine}, Node ${about.node}, load average ${about.load} at the end.`,
    `The package as packed, default options; the agent awaits each \`context.text(delta)\`, ${about.burst} deltas per turn of the event loop.`,
    "Servers and the client are processes of their own, variants are interleaved round by round, and the client compares every delta of",
    "every answer. Ratios are medians of each round's ratio. CPU is the server's, all threads; it is what to trust on a shared machine.",
    "",
    "## Goals",
    "",
    ...head("figure", "goal", "measured", ""),
    ...goals.map((goal) => {
      const met = isMet(goal, results);
      return row(
        goal.figure,
        wanted(goal),
        goal.show(goal.of(results)),
        met === undefined ? "" : met ? "met" : "**missed**",
      );
    }),
    "",
    ...(missed.length === 0
      ? []
      : [
          "### Missed, and what was tried",
          "",
          ...missed.map(({ id, figure }) => `- ${figure}: ${tried[id] ?? "nothing yet."}`),
          "",
        ]),
    ...Object.entries(WORKLOADS).flatMap(([name, { title }]) => streams(title, results.streams[name])),
    ...rest(results),
  ].join("\n");
}

const streams = (title, figures) => [
  `## ${title}`,
  "",
  ...head(
    "variant",
    "runs/s",
    "× bare",
    "CPU / event",
    "× bare",
    "CPU / run",
    "first byte p50",
    "p99",
    "peak RSS",
    "server cores",
    "client cores",
  ),
  ...Object.entries(figures).map(([name, f]) =>
    row(
      NAMES[name],
      count(Math.round(f.runsPerSecond)),
      x(f.ratio.runsPerSecond),
      us(f.cpuPerEvent),
      x(f.ratio.cpuPerEvent),
      ms(f.cpuPerRun),
      ms(f.firstByte50),
      ms(f.firstByte99),
      f.peakMiB === undefined ? "–" : `${f.peakMiB.toFixed(0)} MiB`,
      f.serverCores.toFixed(2),
      f.clientCores.toFixed(2),
    ),
  ),
  "",
];

function rest({ firstByte, latency, length, stall, asking, held, size, start, runtimes }) {
  return [
    "## First byte (one client at a time), and from the agent's `await` to the client's read (8 streams, a delta a millisecond)",
    "",
    ...head("variant", "first byte p50", "× bare", "delta p50", "delta p99"),
    ...Object.keys(latency).map((name) => {
      const { p50, ratio } = firstByte[name];
      return row(NAMES[name], ms(p50), x(ratio), ms(latency[name].p50), ms(latency[name].p99));
    }),
    "",
    "## One long message: CPU per event",
    "",
    ...head("variant", "1,000 deltas", "8,000 deltas", "ratio"),
    ...Object.entries(length).map(([name, { cpuPerEvent, growth }]) =>
      row(NAMES[name], us(cpuPerEvent[1_000]), us(cpuPerEvent[8_000]), x(growth)),
    ),
    "",
    "## A reader that stops (deltas of 2,000 characters, 40,000 offered)",
    "",
    ...head("variant", "handed over", "RSS grew", "source ends when the reader leaves"),
    ...Object.entries(stall).map(([name, { produced, grewMiB, ends }]) =>
      row(NAMES[name], count(produced), `${grewMiB.toFixed(0)} MiB`, ends ? "yes" : "no"),
    ),
    "",
    "## A question and its answer",
    "",
    ...head("path", "CPU, two plain runs", "CPU, ask and answer", "×", "time ×"),
    ...Object.entries(asking).map(([name, { plain, ask, cpu, time }]) =>
      row(NAMES[name.replace("-asks", "")], ms(2 * plain.cpuPerRun), ms(2 * ask.cpuPerRun), x(cpu), x(time)),
    ),
    row(
      "beside 100 and 100,000 held",
      ms(2 * held.ask.few.cpuPerRun),
      ms(2 * held.ask.many.cpuPerRun),
      x(held.ask.cpu),
      x(held.ask.time),
    ),
    "",
    "## Memory of held turns (heap after a forced collection, fresh process)",
    "",
    ...head("what", "each"),
    row("a held turn, 10,000 held", kb(held.perTurn[10_000])),
    row("a held turn, 100,000 held", kb(held.perTurn[100_000])),
    row("of which the agent's own suspended function and its context", kb(held.closure)),
    row("of which the run's input, which the agent may still read", kb(held.input)),
    row("the whole process with 100,000 held: heap", `${(held.heapOfMany / 1e9).toFixed(2)} GB`),
    row("the whole process with 100,000 held: resident", `${(held.rssOfMany / 1e9).toFixed(2)} GB`),
    "",
    "## Size and start",
    "",
    ...head("what", ""),
    row("core, minified and gzipped", kb(size.atOnce)),
    row("with every validator, zod included", kb(size.withValidators)),
    row("import in a fresh Node process", ms(start.node.import)),
    row("first run after it", ms(start.node.run)),
    row(
      "workerd, first request to a fresh isolate: by hand / ours",
      `${ms(start.workerd.byHand.first)} / ${ms(start.workerd.ours.first)}`,
    ),
    row(
      "workerd, second request: by hand / ours",
      `${ms(start.workerd.byHand.second)} / ${ms(start.workerd.ours.second)}`,
    ),
    "",
    "## Bun and Deno: ours against each one's own bare stream (N = 2,000, 8 clients)",
    "",
    ...head("runtime", "bare runs/s", "ours runs/s", "×", "CPU / event: bare", "ours", "×"),
    ...Object.entries(runtimes).map(([name, { bare, ours }]) =>
      row(
        name,
        count(Math.round(bare.runsPerSecond)),
        count(Math.round(ours.runsPerSecond)),
        x(ours.ratio.runsPerSecond),
        us(bare.cpuPerEvent),
        us(ours.cpuPerEvent),
        x(ours.ratio.cpuPerEvent),
      ),
    ),
    "",
  ];
}

/** What the figures were made on. */
export const about = (began, burst) => ({
  date: new Date().toISOString().slice(0, 10),
  seconds: Math.round((Date.now() - began) / 1000),
  machine: `${os.cpus().length} cores (${os.cpus()[0].model.trim()}), ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.platform()}`,
  node: process.version,
  load: os.loadavg()[0].toFixed(1),
  burst,
});
