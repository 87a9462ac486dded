/**
 * The protocol's other HTTP binding, protobuf: each event's frame of text becomes a frame of bytes at the last
 * moment, in the outlet. So both bindings carry the same events, and nothing before the outlet knows which it is.
 * The encoder is an optional peer, loaded when it is asked for.
 */
import type { EventEncoder } from "@ag-ui/encoder";
import { LONGEST_FRAME } from "./frames.ts";
import type { ExchangeRequest, Outlet } from "./outlet.ts";

/** How one answer is written in bytes. */
export interface Encoding {
  readonly contentType: string;
  /** Frames of text, whole ones, as bytes. Never throws. */
  encode(frames: string): Uint8Array;
}

/** Asks an exchange which encoding it gets; `undefined` is SSE. */
export type Negotiate = (request: ExchangeRequest, outlet: Outlet) => Promise<Encoding | undefined>;

/** Negotiates for a handler's exchanges. The encoder loads at the first; where it cannot, that is reported and everybody gets SSE. */
export function createNegotiation(report: (error: unknown) => void): Negotiate {
  let tried: { readonly encoder: typeof EventEncoder | undefined } | undefined;
  let isTold = false;
  const tell = (error: unknown): undefined => {
    if (!isTold) report(error);
    isTold = true;
  };
  return async ({ headers }, outlet) => {
    // What has loaded is kept, not the promise: on Workers no request may wait for what another has begun.
    tried ??= { encoder: await load().catch(tell) };
    const { encoder } = tried;
    const accept = headers.get("accept");
    // Without the header anything may be sent; what everybody reads is SSE.
    const encoding =
      accept === null || encoder === undefined ? undefined : encodingFor(new encoder({ accept }), report);
    if (encoding === undefined || outlet.encode === undefined) return undefined;
    outlet.encode(encoding.encode);
    return encoding;
  };
}

let loaded: typeof EventEncoder | undefined;

/** Loads it once for all handlers. */
async function load(): Promise<typeof EventEncoder> {
  // In a `try`, so that bundlers let the package be absent.
  try {
    loaded ??= (await import("@ag-ui/encoder")).EventEncoder;
    return loaded;
  } catch (cause) {
    throw new Error("transports.protobuf needs the package @ag-ui/encoder: install it beside holdline.", { cause });
  }
}

function encodingFor(encoder: EventEncoder, report: (error: unknown) => void): Encoding | undefined {
  const contentType = encoder.getContentType();
  if (contentType === "text/event-stream") return undefined;
  let failed = false;
  const encodeOne = (frame: string): Uint8Array | undefined => {
    // A comment keeps SSE alive; here there is none.
    if (failed || !frame.startsWith("data: ")) return undefined;
    try {
      const bytes = encoder.encodeBinary(JSON.parse(frame.slice("data: ".length)));
      if (bytes.byteLength <= LONGEST_FRAME) return bytes;
      throw new RangeError("An event is longer in protobuf than a frame may be.");
    } catch (error) {
      report(error);
      // What would follow stands on what is missing.
      failed = true;
      return encoder.encodeBinary({
        type: "RUN_ERROR",
        message: "An event could not be encoded.",
        code: "ENCODING_FAILED",
      } as never);
    }
  };
  return {
    contentType,
    encode: (frames) => joined(frames.split("\n\n").flatMap((frame) => encodeOne(frame) ?? [])),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const whole = new Uint8Array(parts.reduce((size, { byteLength }) => size + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
