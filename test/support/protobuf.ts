/** The protobuf binding read as strictly as SSE is: length, event, length, event, and nothing left over. */
import { decode } from "@ag-ui/proto";
import type { WireEvent } from "../../src/testing/index.ts";

export const MEDIA_TYPE = "application/vnd.ag-ui.event+proto";

export function readProtobuf(body: Uint8Array): WireEvent[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const events: WireEvent[] = [];
  let at = 0;
  while (at < body.byteLength) {
    const length = view.getUint32(at);
    at += 4;
    if (at + length > body.byteLength) throw new Error("The body ends in the middle of a frame.");
    events.push(decode(body.subarray(at, at + length)) as WireEvent);
    at += length;
  }
  return events;
}

/** The same events as the other binding has them, for the checks that read that one. */
export async function asServerSentEvents(response: Response): Promise<string> {
  const events = readProtobuf(new Uint8Array(await response.arrayBuffer()));
  return events.map((event) => `data: ${JSON.stringify(event).replace(/[\u0085\u2028\u2029]/g, escaped)}\n\n`).join("");
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
