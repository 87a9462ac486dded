/** One TCP connection that speaks HTTP by hand: for what a well-behaved client never does. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { closeAfterTest } from "./listen.ts";
import { inputOf } from "./open-exchange.ts";
import { defer, within } from "./promises.ts";

export interface RawConnection {
  readonly socket: Socket;
  /** Everything that has arrived. */
  readonly text: string;
  /** Everything up to where `what` has come for the `times`-th time; fails when it does not come or the server closes. */
  until(what: string, times?: number): Promise<string>;
  /** Everything, once the server has closed. */
  closed(): Promise<string>;
}

export async function rawConnection(port: number, hostname = "127.0.0.1"): Promise<RawConnection> {
  const socket = connect(port, hostname);
  let text = "";
  let ended = false;
  let wake = () => {};
  socket.setEncoding("utf8");
  socket.on("data", (chunk) => {
    text += chunk;
    wake();
  });
  socket.on("close", () => {
    ended = true;
    wake();
  });
  // A server that closes on a client that is still sending resets it; what arrived before counts.
  socket.on("error", () => {});
  closeAfterTest(async () => void socket.destroy());
  await once(socket, "connect");

  async function waitFor(holds: () => boolean, what: string): Promise<string> {
    while (!holds()) {
      if (ended) throw new Error(`The server closed before ${what}: ${text.slice(-500)}`);
      const more = defer();
      wake = () => more.resolve();
      await within(5_000, more.promise, what);
    }
    return text;
  }

  return {
    socket,
    get text() {
      return text;
    },
    until: (what, times = 1) => waitFor(() => text.split(what).length > times, JSON.stringify(what)),
    closed: async () => {
      if (!ended) await within(5_000, once(socket, "close"), "the server's close");
      return text;
    },
  };
}

/** A chunked body's last chunk: what a whole stream ends with. */
export const LAST_CHUNK = "\r\n0\r\n\r\n";

/** A run as bytes, its body with it. */
export function rawRun(partial: Parameters<typeof inputOf>[0] = {}, headers = ""): string {
  const body = JSON.stringify(inputOf(partial));
  return `${rawHead(`${headers}content-length: ${Buffer.byteLength(body)}\r\n`)}${body}`;
}

export const rawHead = (headers: string): string =>
  `POST / HTTP/1.1\r\nhost: agent.test\r\ncontent-type: application/json\r\n${headers}\r\n`;
