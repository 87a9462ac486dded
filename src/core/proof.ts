/**
 * Proofs and ids. A proof is the secret issued with an interrupt and expected back with its
 * answer: random bytes kept only beside the question they prove, so there is no key to leak or
 * rotate. This is the one file to review for that promise.
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Bytes of one draw, a proof's and the next id's: asking the system costs as much as reading a run. What is left over a proof becomes an id, which is no secret. */
const DRAW = 48;
let left = new Uint8Array(0);

function draw(bytes: number): Uint8Array {
  if (left.length < bytes) left = crypto.getRandomValues(new Uint8Array(DRAW));
  const drawn = left.subarray(0, bytes);
  left = left.subarray(bytes);
  return drawn;
}

/** `bytes` random bytes as base64url. */
function random(bytes: number): string {
  const drawn = draw(bytes);
  let text = "";
  for (let i = 0; i < bytes; i += 3) {
    const word = ((drawn[i] as number) << 16) | ((drawn[i + 1] ?? 0) << 8) | (drawn[i + 2] ?? 0);
    text += (ALPHABET[word >> 18] as string) + ALPHABET[(word >> 12) & 63];
    if (i + 1 < bytes) text += ALPHABET[(word >> 6) & 63];
    if (i + 2 < bytes) text += ALPHABET[word & 63];
  }
  return text;
}

/** A fresh proof: 32 random bytes. */
export const issueProof = (): string => random(32);

/**
 * Whether `given` is the proof `issued`. Every byte is looked at whatever the first ones are, so that the
 * time taken says nothing about how much was right; only the length, which is no secret, ends it early.
 */
export function proves(given: string, issued: string): boolean {
  if (given.length !== issued.length) return false;
  let difference = 0;
  for (let i = 0; i < issued.length; i++) difference |= given.charCodeAt(i) ^ issued.charCodeAt(i);
  return difference === 0;
}

/** Interrupt ids of one instance: `int_<mark>_<128 random bits>`, URL-safe. */
export interface InterruptIds {
  issue(): string;
  /** Whether another instance, or this one before it restarted, has issued an id. */
  isForeign(id: string): boolean;
}

export function createInterruptIds(): InterruptIds {
  // Drawn at the first use: some runtimes allow no random bytes while a module is loading.
  let mark: string | undefined;
  const own = () => {
    mark ??= random(6);
    return mark;
  };
  return {
    issue: () => `int_${own()}_${random(16)}`,
    isForeign: (id) => /^int_[\w-]{8}_[\w-]{22}$/.test(id) && id.slice(4, 12) !== own(),
  };
}
