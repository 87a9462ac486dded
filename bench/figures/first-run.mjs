/** Imports the package, serves one run, and prints what both took, in milliseconds since the process began. */
import { performance } from "node:perf_hooks";
import { runInput } from "../source.mjs";
import { importInstalled } from "../variants/ours.mjs";

const begun = performance.now();
const { createHandler } = await importInstalled("holdline");
const imported = performance.now();
const handler = createHandler({ agent: (context) => context.text("Hello.") });
const request = new Request("http://localhost/", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(runInput("first")),
});
const text = await (await handler.handle(request)).text();
if (!text.includes("Hello.") || !text.includes("RUN_FINISHED")) throw new Error(text);
console.log(JSON.stringify({ import: imported - begun, run: performance.now() - imported }));
