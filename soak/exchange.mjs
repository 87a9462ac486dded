/** One exchange over a socket of its own or a kept one, read event by event, that can be left at any moment. */
import http from "node:http";

export const sockets = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

let runs = 0;

/**
 * @param {string} url
 * @param {{ user?: string, threadId: string, job?: object, resume?: object[] }} run
 * @param {{ leaveAfter?: number, pauseMs?: number }} how `leaveAfter`: milliseconds; `pauseMs`: what the reader lets pass between two reads.
 * @returns {Promise<{ events: object[], end: string, accepted: boolean }>} `end`: "left", the outcome, or the code and cause of an error.
 */
export function exchange(url, run, how = {}) {
  const { user, threadId, job, resume } = run;
  const { leaveAfter, pauseMs = 0 } = how;
  const runId = `run-${++runs}`;
  const messages = job === undefined ? [] : [{ id: `m-${runId}`, role: "user", content: JSON.stringify(job) }];
  const body = JSON.stringify({
    threadId,
    runId,
    state: {},
    messages,
    tools: [],
    context: [],
    protocolVersion: "1.0",
    resume,
  });
  const headers = { "content-type": "application/json", ...(user === undefined ? {} : { "x-user": user }) };
  return new Promise((resolve) => {
    const events = [];
    let text = "";
    const settle = (end) => {
      clearTimeout(leaving);
      resolve({ events, end, accepted: events[0]?.type === "RUN_STARTED" });
    };
    const request = http.request(url, { method: "POST", headers, agent: sockets }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        text += piece;
        for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
          const frame = text.slice(0, at);
          text = text.slice(at + 2);
          if (frame.startsWith("data: ")) events.push(JSON.parse(frame.slice(6)));
        }
        if (pauseMs === 0) return;
        response.pause();
        setTimeout(() => response.resume(), pauseMs);
      });
      response.on("end", () => settle(response.statusCode === 200 ? endOf(events.at(-1)) : `${response.statusCode}`));
      response.on("error", (error) => settle(`${error.code}`));
    });
    request.on("error", (error) => {
      // A kept connection that the server closed for being idle, just as this was sent on it: nothing of it was read, and
      // it is sent again (Node: `request.reusedSocket`).
      const wasIdle = error.code === "ECONNRESET" && request.reusedSocket && events.length === 0;
      if (!wasIdle) return settle(`${error.code}`);
      clearTimeout(leaving);
      resolve(exchange(url, run, how));
    });
    const leave = () => {
      settle("left");
      request.destroy();
    };
    const leaving = leaveAfter === undefined ? undefined : setTimeout(leave, leaveAfter);
    request.end(body);
  });
}

function endOf(last) {
  if (last?.type === "RUN_FINISHED") return last.outcome?.type ?? "success";
  if (last?.type !== "RUN_ERROR") return "cut";
  const cause = last.metadata?.holdline?.cause;
  return cause === undefined ? last.code : `${last.code} (${cause})`;
}
