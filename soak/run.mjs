/**
 * `npm run soak [-- --seconds 600 --people 24 --seed 1 --report]`: people of all kinds against one server process over
 * real sockets; then what was done is held against what was accepted, and the process against what it was before.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Accounts } from "./accounts.mjs";
import { exchange, sockets } from "./exchange.mjs";
import { person } from "./people.mjs";
import { writeReport } from "./report.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    people: { type: "string", default: "24" },
    seed: { type: "string", default: `${Date.now() % 1_000_000}` },
    report: { type: "boolean", default: false },
  },
});
const [seconds, people, seed] = [Number(values.seconds), Number(values.people), Number(values.seed)];

const RETENTION = { ttlMs: 2_000, maxHeld: 150, maxHeldPerIdentity: 20 };
const LIMITS = { queuedRuns: 4 };
/** What the heap may have grown by: the memory of spent interrupts is filled by then, and nothing else may stay. */
const MAY_GROW_MB = 12;

/** A small generator of its own (mulberry32), so that a seed says what people do. */
function randomOf(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const accounts = new Accounts();
const server = fork(fileURLToPath(new URL("server.mjs", import.meta.url)), {
  execArgv: ["--expose-gc"],
  env: { ...process.env, SOAK_RETENTION: JSON.stringify(RETENTION), SOAK_LIMITS: JSON.stringify(LIMITS) },
});
const told = { url: undefined, measured: undefined };
server.on("message", (message) => {
  if (message.did !== undefined) accounts.did(message.did);
  if (message.url !== undefined) told.url(message.url);
  if (message.measured !== undefined) told.measured(message.measured);
});
const hear = (what) =>
  new Promise((resolve) => {
    told[what] = resolve;
  });
const url = await hear("url");

/** Nobody is there, what was held has expired, connections are closed. */
async function measureAtRest(word) {
  sockets.destroy();
  await pause(RETENTION.ttlMs + 1_500);
  const heard = hear("measured");
  server.send(word);
  return heard;
}

async function live(forSeconds, who) {
  const end = Date.now() + forSeconds * 1_000;
  const send = (run, how) => exchange(url, run, how);
  const lives = Array.from({ length: people }, (_, i) => {
    const name = `${who}${i}`;
    return person({ send, accounts, random: randomOf(seed + i), name, ttlMs: RETENTION.ttlMs })(() => Date.now() > end);
  });
  await Promise.all(lives);
}

const began = Date.now();
await live(Math.min(20, seconds / 4), "early");
const before = await measureAtRest("measure");
await live(seconds, "person");
const after = await measureAtRest("measure");
const closed = await measureAtRest("close");
if (server.exitCode === null) await once(server, "exit");

const grew = (after.heap - before.heap) / 2 ** 20;
const { held, running, queued } = after.stats;
const checks = [
  ["every guarded action was done exactly as often as its approval was accepted", accounts.wrong],
  ["no client was cut off", ["cut", "ECONNRESET"].filter((end) => accounts.ends[end] !== undefined)],
  ["no rejection was unhandled, no exception uncaught", closed.unheard],
  ["the agent never failed", closed.errors],
  ["nothing is held, running or queued at rest", held + running + queued === 0 ? [] : [JSON.stringify(after.stats)]],
  [
    `the heap is within ${MAY_GROW_MB} MB of what it was`,
    grew <= MAY_GROW_MB ? [] : [`it grew by ${grew.toFixed(1)} MB`],
  ],
  ["handles and timers are as many as before", differences(before.resources, after.resources)],
  [
    "listeners are as many as before",
    before.listeners === after.listeners ? [] : [`${before.listeners}, ${after.listeners}`],
  ],
  ["the process ends by itself once it is closed", server.exitCode === 0 ? [] : [`exit code ${server.exitCode}`]],
];

function differences(one, other) {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((kind) => (other[kind] ?? 0) > (one[kind] ?? 0))
    .map((kind) => `${kind}: ${one[kind] ?? 0} before, ${other[kind] ?? 0} after`);
}

const report = {
  seconds: Math.round((Date.now() - began) / 1_000),
  people,
  seed,
  node: process.version,
  cores: cpus().length,
  totals: accounts.totals,
  ends: accounts.ends,
  stats: closed.stats,
  warnings: closed.warnings,
  heapMb: { before: before.heap / 2 ** 20, after: after.heap / 2 ** 20 },
  checks,
};
console.log(writeReport(report, values.report));
process.exitCode = checks.every(([, wrong]) => wrong.length === 0) ? 0 : 1;
