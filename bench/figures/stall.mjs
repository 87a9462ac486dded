/**
 * A reader that stops, and then leaves. Deltas of 2,000 characters, so that the kernel's own buffers (some
 * 4 MB) count for little: of 40,000 an agent that is not told to stop hands all over.
 */
import net from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { order, startServer } from "../processes.mjs";
import { runInput } from "../source.mjs";

const OFFERED = 40_000;
const SIZE = 2_000;
const LONGEST_SECONDS = 10;

function open(server, id) {
  const body = JSON.stringify(runInput(id));
  const socket = net.connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    "POST /agent HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n" +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}

/** @returns {Promise<Record<string, { produced: number, stops: boolean, grewMiB: number, ends: boolean }>>} by variant */
export async function measureStall({ names = ["bare", "tanstack", "holdline", "holdline-node"] }) {
  const results = await Promise.all(names.map(async (name) => [name, await stall(await startServer(name))]));
  return Object.fromEntries(results);
}

async function stall(server) {
  await order(server, { n: 200, size: SIZE });
  // What the first run compiles and loads is not counted.
  await (await fetch(`http://127.0.0.1:${server.port}/agent`, request("warm"))).arrayBuffer();
  const idle = await order(server, { n: OFFERED });
  const socket = open(server, "stalled");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  let last = await order(server);
  let stops = false;
  for (let second = 0; second < LONGEST_SECONDS && !stops; second++) {
    await wait(1_000);
    const now = await order(server);
    stops = now.produced === last.produced;
    last = now;
  }
  socket.destroy();
  await wait(1_000);
  const { active } = await order(server);
  server.stop();
  const produced = last.produced - idle.produced;
  return {
    produced,
    stops: stops && produced < OFFERED,
    grewMiB: (last.rss - idle.rss) / 2 ** 20,
    ends: active === 0,
  };
}

const request = (id) => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "text/event-stream" },
  body: JSON.stringify(runInput(id)),
});
