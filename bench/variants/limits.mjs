/** The limits: no library, the least that streams a run. `bare` is what every ratio is to. */
import { once } from "node:events";
import { frame, handWritten, readJson, SSE } from "./hand-written.mjs";
import { listenFetch, listenNode } from "./listen.mjs";

export const limits = {
  /** node:http, one res.write per event. */
  bare: () =>
    listenNode(async (request, response) => {
      const input = await readJson(request);
      response.writeHead(200, SSE);
      for await (const event of handWritten(input)) {
        if (!response.write(frame(event))) await once(response, "drain");
      }
      response.end();
    }),

  /** As bare, but what one turn of the event loop brings leaves in one write. */
  "bare-joined": () =>
    listenNode(async (request, response) => {
      const input = await readJson(request);
      response.writeHead(200, SSE);
      let pending = "";
      let due = false;
      const flush = () => {
        due = false;
        if (pending !== "") response.write(pending);
        pending = "";
      };
      for await (const event of handWritten(input)) {
        pending += frame(event);
        if (!due) {
          due = true;
          setImmediate(flush);
        }
        if (response.writableNeedDrain) await once(response, "drain");
      }
      flush();
      response.end();
    }),

  /** A fetch handler: a pulled ReadableStream, one chunk per event. */
  "web-bare": () => listenFetch(serveWebBare),

  /** A fetch handler that joins per turn: the practical limit for a Web-standard library. */
  "web-joined": () => listenFetch(serveWebJoined),
};

const encoder = new TextEncoder();

/** @param {Request} request */
export async function serveWebBare(request) {
  const events = handWritten(await request.json());
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(frame(value)));
    },
    cancel: () => void events.return(),
  });
  return new Response(body, { headers: SSE });
}

async function serveWebJoined(request) {
  const events = handWritten(await request.json());
  let pending = "";
  let due = false;
  let pulled;
  let cancelled = false;
  let controller;
  const flush = () => {
    due = false;
    if (pending === "" || cancelled) return;
    controller.enqueue(encoder.encode(pending));
    pending = "";
  };
  const pump = async () => {
    for await (const event of events) {
      pending += frame(event);
      if (!due) {
        due = true;
        setImmediate(flush);
      }
      if (cancelled) return;
      if (controller.desiredSize <= 0) {
        await new Promise((resolve) => {
          pulled = resolve;
        });
      }
    }
    flush();
    if (!cancelled) controller.close();
  };
  const source = {
    start(given) {
      controller = given;
      void pump();
    },
    pull() {
      pulled?.();
      pulled = undefined;
    },
    cancel() {
      cancelled = true;
      pulled?.();
    },
  };
  const body = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: 16_384 }));
  return new Response(body, { headers: SSE });
}
