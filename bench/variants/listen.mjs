/** The two ways a variant is listened to. Both resolve to the port. */
import { createServer } from "node:http";

const HOST = "127.0.0.1";
const KEEP_ALIVE = { keepAliveTimeout: 60_000 };

/** @param {import("node:http").RequestListener} listener @returns {Promise<number>} */
export function listenNode(listener) {
  const server = createServer(KEEP_ALIVE, listener);
  return new Promise((resolve) => {
    server.listen(0, HOST, () => resolve(server.address().port));
  });
}

/** A fetch handler over @hono/node-server. @param {(request: Request) => Promise<Response>} fetch @returns {Promise<number>} */
export async function listenFetch(fetch) {
  const { serve } = await import("@hono/node-server");
  return new Promise((resolve) => {
    serve({ fetch, port: 0, hostname: HOST, serverOptions: KEEP_ALIVE }, ({ port }) => resolve(port));
  });
}
