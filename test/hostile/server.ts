/** A server in a process of its own with a small heap, what it says of itself, and what is sent to it. */

import { start } from "../support/child.ts";
import { inputOf } from "../support/open-exchange.ts";

export interface Measured {
  /** Bytes on the heap after a collection. */
  readonly memory: number;
  readonly entered: number;
  readonly stats: { readonly held: number; readonly evicted: number; readonly running: number };
}

export interface HostileServer {
  readonly port: number;
  readonly url: string;
  measure(): Promise<Measured>;
  /** Sends a run as somebody; a string is sent as it is. */
  send(input: unknown, user?: string): Promise<{ status: number; text: string }>;
  /** A run like any other, which must be served whatever else goes on. */
  isWell(): Promise<boolean>;
}

let questions = 0;

export async function hostileServer(): Promise<HostileServer> {
  const running = start("hostile-server.mjs");
  const port = Number(await running.said(/port (\d+)/));
  const url = `http://127.0.0.1:${port}/`;
  let measured = 0;

  async function send(input: unknown, user?: string) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(user === undefined ? {} : { "x-user": user }) },
      body: typeof input === "string" ? input : JSON.stringify(input),
    });
    return { status: response.status, text: await response.text() };
  }

  return {
    port,
    url,
    send,
    async measure() {
      const line = ++measured;
      running.child.stdin?.write(`${line}\n`);
      return JSON.parse(await running.said(new RegExp(`measured ${line} (.*)\\n`)));
    },
    async isWell() {
      const { status, text } = await send(inputOf({ threadId: `well ${++questions}` }));
      return status === 200 && text.includes('"type":"RUN_FINISHED"');
    },
  };
}
