/** Ours, as installed from the packed tarball, default options: the agent awaits each `context.text(delta)`. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deltas } from "../source.mjs";
import { listenFetch, listenNode } from "./listen.mjs";

/** Imports an entry of the installed package. @param {string} specifier */
export function importInstalled(specifier) {
  const { resolve } = createRequire(join(process.env.BENCH_HOME, "anywhere.js"));
  return import(pathToFileURL(resolve(specifier)).href);
}

/** One assistant message. */
export const speaker = async (context) => {
  for await (const delta of deltas()) await context.text(delta);
};

export const QUESTION = "Book LH441? (yes/no)";
export const BOOKED = "Booked LH441.";

/** Asks, or does not: two plain runs say what an asking one says in its two exchanges. */
const asker = async (context) => {
  const answer = context.userText === "plain" ? "yes" : await context.input(QUESTION);
  await context.text(answer === "yes" ? BOOKED : "Cancelled.");
};

/** More than any figure holds. */
const ROOM = { retention: { maxHeld: 1_000_000, ttlMs: 3_600_000 } };

/** The handler of the process, for its admin port. */
export const serving = { handler: undefined };

async function handler(agent, options) {
  const { createHandler } = await importInstalled("holdline");
  serving.handler = createHandler({ agent, ...options });
  return serving.handler;
}

async function nodeListener(agent, options) {
  const { toNodeListener } = await importInstalled("holdline/node");
  return toNodeListener(await handler(agent, options));
}

export const ours = {
  /** The web path: a Response, over @hono/node-server. */
  holdline: async () => listenFetch((await handler(speaker)).fetch),
  /** `holdline/node`. */
  "holdline-node": async () => listenNode(await nodeListener(speaker)),
  "holdline-asks": async () => listenFetch((await handler(asker, ROOM)).fetch),
  "holdline-node-asks": async () => listenNode(await nodeListener(asker, ROOM)),
};
