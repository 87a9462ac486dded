/**
 * An event to the bytes of its frame, still as text: `data: <json>`, a blank line, LF.
 * No frame holds a raw U+2028, U+2029 or U+0085, which some readers take for line ends,
 * and no delta holds half of a surrogate pair.
 */

const LINE_SEPARATORS = /[\u0085\u2028\u2029]/;

const escapeSeparators = (json: string): string =>
  LINE_SEPARATORS.test(json)
    ? json.replace(/[\u0085\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : json;

/** One event as a frame. @throws TypeError for what JSON cannot say (a BigInt, a cycle) and whatever a `toJSON` throws. */
export const frame = (event: object): string => `data: ${escapeSeparators(JSON.stringify(event))}\n\n`;

/** What a frame of a delta begins with: made once for an item, since only the delta differs. */
export const deltaHead = (event: object): string =>
  `data: ${escapeSeparators(JSON.stringify(event)).slice(0, -1)},"delta":`;

// By whole code points (`u`): of the surrogates only halves that belong to no pair match, so emoji are as plain as letters.
const HALF = /[\ud800-\udfff]/u;
const HALVES = /[\ud800-\udfff]/gu;

// What needs an escape in JSON, is a line separator, or is half of a pair.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes exactly these
const NOT_PLAIN = /["\\\u0000-\u001f\u0085\u2028\u2029\ud800-\udfff]/u;

/** Whether text may stand between quotes as it is. */
export const isPlain = (text: string): boolean => !NOT_PLAIN.test(text);

/** Text as JSON. */
export const quoted = (text: string): string => escapeSeparators(JSON.stringify(text));

/** Whether text holds no half of a surrogate pair without its other half. */
export const isWhole = (delta: string): boolean => !HALF.test(delta);

/** The halves that belong to no pair become U+FFFD. */
export const wellFormed = (text: string): string => text.replace(HALVES, "\ufffd");

/** A comment, for streams that would otherwise be silent. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/** Readers of the protocol give up on a frame of 10 MiB; none of ours is longer than this, in bytes. */
export const LONGEST_FRAME = 8 * 1024 * 1024;

/** Whether a frame, or what goes into one, is too long to be read. Most are so short that nobody has to count their bytes. */
export const isTooLong = (text: string): boolean =>
  text.length * 3 > LONGEST_FRAME && new TextEncoder().encode(text).byteLength > LONGEST_FRAME;
