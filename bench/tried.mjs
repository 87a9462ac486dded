/** What was tried for a goal, shown beside it while it is missed. */
const STREAM =
  "on Node 20 a TransformStream costs some 50 µs to make and 1.5 µs a flush more than a ReadableStream. With one of those " +
  "in its place, measured side by side, short runs came to 0.58–0.66 × bare (0.40 with the TransformStream) and long " +
  "streams to 0.97–0.99 × the CPU of the joined bare-web (1.02–1.11). The TransformStream stayed: on Workers a write that " +
  "fails is the one sign, without a flag, of a client that left. Larger high-water marks and queues counted in bytes " +
  "changed nothing that could be measured.";

const JOINED =
  "the frames of one turn already leave in one write, as in `the same, joined per tick`; the rest is the socket's. Encoding " +
  "a flush once, to a Buffer or by TextEncoder, gained nothing over handing the string on (13.8 against 13.9 and 14.9 µs a flush).";

const ONE_WRITE_MORE =
  "an ask has one write more than a plain run, since its run has begun a turn of the event loop before the question goes " +
  "out. Id and proof are drawn at once, which was the largest part of the difference.";

export const tried = {
  "long-runs-node": JOINED,
  "long-cpu-node": JOINED,
  "short-runs-node": `${JOINED} An error made at each request's end and collections that few runs need are gone.`,
  "long-runs-web": STREAM,
  "long-cpu-web": STREAM,
  "short-runs-web": STREAM,
  "first-byte-node":
    "the first write comes some 8 µs after that of bare, spent on reading the input in full and entering the agent. " +
    "Writing the first frames in the same tick, before `setImmediate`, gained nothing.",
  "ask-node": ONE_WRITE_MORE,
  "ask-web": ONE_WRITE_MORE,
  "ask-held": "nothing scans; that collections of the larger heap make the difference is likely, and was not shown.",
  size:
    "fast-json-patch gave way to a patch of our own, and the validators, the protobuf binding and zod load when they are " +
    "asked for. Some 4 KB of what is left are words; the rest is spread evenly, and the ledger that no event may break is the most of it.",
  "size-all":
    'the protocol\'s own schemas import `{ z } from "zod/v4"`, of which the bundler drops nothing: 264 KB of the 472 KB ' +
    "minified are zod's locales. They load with `validate: true` only.",
};
