/**
 * One variant in a process of its own: `node server.mjs VARIANT`. Prints one line of JSON,
 * `{ port, admin }`; the admin port is apart from the measured one, so that it touches no variant's path.
 */
import { createServer } from "node:http";
import { gate, settings, stats } from "./source.mjs";
import { variants } from "./variants/index.mjs";
import { serving } from "./variants/ours.mjs";

const port = await variants[process.argv[2]]();

const admin = createServer((request, response) => {
  const orders = new URL(request.url, "http://admin").searchParams;
  for (const [name, value] of orders) if (name in settings) settings[name] = JSON.parse(value);
  if (orders.has("shut")) gate(orders.get("shut") === "true");
  if (orders.has("gc")) for (let i = 0; i < 3; i++) globalThis.gc();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const held = serving.handler?.stats().held;
  // All threads, garbage collection included, in seconds.
  const cpu = (user + system) / 1e6;
  response.end(JSON.stringify({ cpu, rss, heap: heapUsed + external, held, ...stats }));
});
admin.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port, admin: admin.address().port })));

// Never outlives the bench, whatever happens to it.
process.on("disconnect", () => process.exit());
