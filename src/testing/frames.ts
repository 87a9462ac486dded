/**
 * A strict reader of an answer's body. A browser's reader forgives much (CR, several data lines, a
 * last frame without its blank line); this one forgives nothing, so that what it accepts reads
 * alike everywhere. It checks bytes and framing; what the events mean is for `checkStream`.
 */
import { InvariantError } from "./invariant-error.ts";

/** An event as it stood on the wire: a JSON object that has a `type`, not checked any further. */
export interface WireEvent {
  /** Its type as spelled, the protocol's or not. */
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads off an event is up to the test.
  readonly [member: string]: any;
}

/** One event of the body. */
export interface Frame {
  /** The block as sent, blank line included. */
  readonly raw: string;
  /** What its `data:` line says. */
  readonly event: WireEvent;
}

/** One keep-alive comment. */
export interface Comment {
  /** The block as sent, blank line included. */
  readonly raw: string;
  /** How many frames came before it. */
  readonly after: number;
}

/** A whole body. */
export interface Frames {
  /** The events, in order. */
  readonly frames: Frame[];
  /** The comments, in order. */
  readonly comments: Comment[];
}

/**
 * Reads a whole body.
 * @throws InvariantError `INV-4` when the body is not what a server of events may send.
 */
export function readFrames(body: string | Uint8Array): Frames;
export function readFrames(body: ReadableStream<Uint8Array>): Promise<Frames>;
export function readFrames(body: string | Uint8Array | ReadableStream<Uint8Array>): Frames | Promise<Frames> {
  if (body instanceof ReadableStream) return readStream(body);
  const parser = createParser();
  if (typeof body === "string") parser.text(body);
  else parser.bytes(body);
  parser.end();
  if (parser.broken !== undefined) throw parser.broken;
  return { frames: parser.frames, comments: parser.comments };
}

async function readStream(body: ReadableStream<Uint8Array>): Promise<Frames> {
  const reader = frameReader(body);
  const frames = await reader.rest();
  return { frames, comments: reader.comments };
}

/** Reads a body frame by frame, for tests that act while it is open. */
export interface FrameReader extends AsyncIterableIterator<Frame> {
  /** The next frame as soon as it has arrived; `done` once the body has closed after its last one. One call at a time. */
  next(): Promise<IteratorResult<Frame, undefined>>;
  /** Every frame that is still to come. */
  rest(): Promise<Frame[]>;
  /** Leaves: the server sees its reader go. Frames that have arrived already are still given. */
  cancel(reason?: unknown): Promise<void>;
  /** What a `for await` that is left early does: the same as `cancel`. */
  return(): Promise<IteratorResult<Frame, undefined>>;
  /** The comments that have arrived by now. */
  readonly comments: Comment[];
}

/**
 * Reads a body as it arrives. Once what came before it has been given, a body that turned out to be wrong
 * rejects every further `next` with its `INV-4` `InvariantError`, and is left; a stream that failed, with its error.
 */
export function frameReader(stream: ReadableStream<Uint8Array>): FrameReader {
  const reader = stream.getReader();
  const parser = createParser();
  let given = 0;
  let closed = false;

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    while (given === parser.frames.length && !closed && parser.broken === undefined) {
      const { done, value } = await reader.read();
      if (!done) parser.bytes(value);
      else if (!closed) {
        closed = true;
        parser.end();
      }
      // Whoever serves a body that nobody will read on must not be left waiting for room.
      if (parser.broken !== undefined) reader.cancel(parser.broken).catch(() => {});
    }
    const frame = parser.frames[given];
    if (frame !== undefined) {
      given += 1;
      return { done: false, value: frame };
    }
    if (parser.broken !== undefined) throw parser.broken;
    return { done: true, value: undefined };
  }

  async function cancel(reason?: unknown): Promise<void> {
    // Before the await: the read that this cancel ends must not take the cut for the end of the body.
    closed = true;
    await reader.cancel(reason);
  }

  return {
    next,
    cancel,
    async rest() {
      const frames: Frame[] = [];
      for (let step = await next(); !step.done; step = await next()) frames.push(step.value);
      return frames;
    },
    async return() {
      await cancel();
      return { done: true, value: undefined };
    },
    comments: parser.comments,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Takes a body piece by piece. It never throws: what is wrong is in `broken`, and nothing is taken after it. */
interface Parser {
  readonly frames: Frame[];
  readonly comments: Comment[];
  readonly broken: InvariantError | undefined;
  bytes(chunk: Uint8Array): void;
  text(chunk: string): void;
  end(): void;
}

function createParser(): Parser {
  // `ignoreBOM` keeps a byte order mark in the text, where it is found to be no field name.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const frames: Frame[] = [];
  const comments: Comment[] = [];
  let buffer = "";
  let broken: InvariantError | undefined;

  function fail(problem: string, block: string): never {
    const types = frames.map((frame) => frame.event.type);
    const shown = block.length > 200 ? `${block.slice(0, 200)}…` : block;
    throw new InvariantError("INV-4", frames.length + comments.length, `${problem}: ${JSON.stringify(shown)}`, types);
  }

  function decode(chunk?: Uint8Array): string {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      return fail("the body is not UTF-8", buffer);
    }
  }

  function take(text: string): void {
    // One character back: the first half of a blank line may have come with the piece before.
    let searchFrom = Math.max(buffer.length - 1, 0);
    buffer += text;
    let start = 0;
    for (;;) {
      const end = buffer.indexOf("\n\n", searchFrom);
      if (end === -1) break;
      const block = buffer.slice(start, end);
      start = end + 2;
      searchFrom = start;
      if (block.startsWith(":")) comments.push({ raw: readComment(block, fail), after: frames.length });
      else frames.push({ raw: `${block}\n\n`, event: readEvent(block, fail) });
    }
    buffer = buffer.slice(start);
  }

  function attempt(step: () => void): void {
    if (broken !== undefined) return;
    try {
      step();
    } catch (error) {
      broken = error as InvariantError;
    }
  }

  return {
    frames,
    comments,
    get broken() {
      return broken;
    },
    bytes: (chunk) => attempt(() => take(decode(chunk))),
    text: (chunk) =>
      attempt(() => {
        if (loneSurrogate.test(chunk)) fail("the body cannot be written as UTF-8", chunk);
        take(chunk);
      }),
    end: () =>
      attempt(() => {
        take(decode());
        if (buffer !== "") fail("the last block has no blank line after it", buffer);
      }),
  };
}

type FailBlock = (problem: string, block: string) => never;

// Under the `u` flag a surrogate that has its other half is one character and no surrogate.
const loneSurrogate = /\p{Surrogate}/u;
const readAsNewline = /[\u0085\u2028\u2029]/;
const carriesText = new Set([
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_CHUNK",
  "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_CHUNK",
]);

function readComment(block: string, fail: FailBlock): string {
  if (block.includes("\r")) fail("a line ends in CR", block);
  for (const line of block.split("\n"))
    if (!line.startsWith(":")) fail("a comment and something else share a block", block);
  return `${block}\n\n`;
}

function readEvent(block: string, fail: FailBlock): WireEvent {
  if (block.includes("\r")) fail("a line ends in CR", block);
  if (!block.startsWith("data: ")) fail("a block is neither a comment nor one data line", block);
  if (block.includes("\n")) fail("a block has more than one line", block);
  if (readAsNewline.test(block))
    fail("a frame holds U+0085, U+2028 or U+2029, which some readers take for a line's end", block);
  const json = block.slice("data: ".length);
  // Whitespace around the object is JSON as well, and a sign that something else wrote it.
  if (!json.startsWith("{") || !json.endsWith("}")) fail("the data is not a JSON object", block);
  const event = parseObject(json, block, fail);
  if (typeof event.type !== "string") fail("the event has no type", block);
  checkDelta(event as WireEvent, block, fail);
  return event as WireEvent;
}

function parseObject(json: string, block: string, fail: FailBlock): { type?: unknown } {
  try {
    return JSON.parse(json);
  } catch {
    return fail("the data is not JSON", block);
  }
}

function checkDelta(event: WireEvent, block: string, fail: FailBlock): void {
  if (typeof event.delta !== "string") return;
  if (loneSurrogate.test(event.delta)) fail("a delta holds half of a surrogate pair", block);
  if (event.delta !== "" || !carriesText.has(event.type)) return;
  // What stands beside it is a reason to send it (AG-UI metadata).
  if (event.metadata === undefined && event.rawEvent === undefined) fail("a text delta is empty", block);
}
