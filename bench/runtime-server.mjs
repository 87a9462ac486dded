/** For Bun and Deno: `runtime-server.mjs bare|ours`, on the runtime's own server. Prints `{ port }`. */
import process from "node:process";
import { settings } from "./source.mjs";
import { serveWebBare } from "./variants/limits.mjs";
import { importInstalled, speaker } from "./variants/ours.mjs";

settings.n = 2_000;

const fetch =
  process.argv[2] === "bare"
    ? serveWebBare
    : (await importInstalled("holdline")).createHandler({ agent: speaker }).fetch;

const onListen = ({ port }) => console.log(JSON.stringify({ port }));
if (globalThis.Bun !== undefined)
  onListen(globalThis.Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch }));
else globalThis.Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, (request) => fetch(request));
