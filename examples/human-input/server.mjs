/**
 * The demo: `npm run demo` serves the agent of `agent.mjs`, and a page to talk to it with, and prints what to
 * type in another terminal; `npm run demo -- --once` drives it from start to end and checks what comes back. Its model
 * is scripted, unless HOLDLINE_MODEL, HOLDLINE_BASE_URL and HOLDLINE_API_KEY name a real one.
 */
import { createHandler } from "holdline";
import { serve } from "holdline/node";
import { createAgent } from "./agent.mjs";
import { identify, withConsole } from "./console.mjs";
import { chooseModel } from "./model.mjs";
import { createNarrator } from "./narrate.mjs";

if (process.argv.includes("--once")) {
  const { runOnce } = await import("./once.mjs");
  process.exitCode = await runOnce();
} else {
  await start(Number(process.env.PORT ?? 8787));
}

/** @param {number} port */
async function start(port) {
  const narrator = createNarrator();
  const choice = chooseModel(process.env);
  if ("missing" in choice) {
    console.error(`For a real model ${choice.missing.join(" and ")} must be set, too.`);
    process.exitCode = 1;
    return;
  }
  const handler = createHandler({ agent: createAgent(narrator.tell, choice.model), identify, validate: true });
  try {
    const { url } = await serve(withConsole(narrator.watch(handler)), { port, signals: true });
    narrator.begin(url);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EADDRINUSE") throw error;
    console.error(`Port ${port} is taken. Choose another one: PORT=${port + 1} npm run demo`);
    process.exitCode = 1;
  }
}
