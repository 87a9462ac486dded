/**
 * The server under load: one process, held by nothing but its parent. Every guarded action is told to the parent,
 * which counts it; what the parent asks for is measured here.
 */
import { createHandler } from "holdline";
import { serve } from "holdline/node";

const [retention, limits] = [JSON.parse(process.env.SOAK_RETENTION), JSON.parse(process.env.SOAK_LIMITS)];
/** What nobody expected. */
const unheard = [];
process.on("unhandledRejection", (error) => unheard.push(`${error?.stack ?? error}`));
process.on("uncaughtException", (error) => unheard.push(`${error?.stack ?? error}`));

const errors = [];
const warnings = {};

/** @type {import("holdline").Agent} */
async function agent(context) {
  const { kind, tokens = [], pieces = 0 } = JSON.parse(context.userText);
  if (kind === "delete") {
    const erase = (token) =>
      context.toolCall(
        "delete",
        { token },
        () => {
          process.send({ did: token });
          return "deleted";
        },
        { approval: true },
      );
    return { deleted: await Promise.all(tokens.map(erase)) };
  }
  if (kind === "slow") await new Promise((resolve) => setTimeout(resolve, 20));
  for (let piece = 0; piece < pieces; piece++) await context.text("x".repeat(2_000));
  if (pieces === 0) await context.text("Hello.");
  return undefined;
}

const handler = createHandler({
  agent,
  identify: (request) => request.headers.get("x-user"),
  retention,
  limits,
  onWarning: ({ code }) => {
    warnings[code] = (warnings[code] ?? 0) + 1;
  },
  onError: (error) => errors.push(`${error?.stack ?? error}`),
});
const { url, close } = await serve(handler, { port: 0, hostname: "127.0.0.1", signals: false });

/** Counts of the process's own, after a collection. */
function measure() {
  for (let i = 0; i < 4; i++) globalThis.gc();
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  return {
    heap: process.memoryUsage().heapUsed,
    resources,
    listeners,
    stats: handler.stats(),
    warnings,
    errors,
    unheard,
  };
}

process.on("message", async (asked) => {
  if (asked === "measure") return process.send({ measured: measure() });
  await close();
  process.send({ measured: measure() }, () => process.disconnect());
});
process.send({ url });
