/**
 * Takes `<a2ui-json>` blocks out of a text that comes in pieces. What cannot be the beginning of a tag
 * goes on at once; what may be one waits for the next piece. Knows nothing of what a block holds.
 */
const CLOSE = "</a2ui-json>";
const TAG = /<(\/?)a2ui-json>/;
const TAGS = ["<a2ui-json>", CLOSE];

/** What one piece of text came to. */
export interface Piece {
  /** What is to be shown of it. */
  readonly text: string;
  /** What stood between the tags of each block that it completed. */
  readonly blocks: readonly string[];
  /** Whether a tag stood where there is nothing for it to close. */
  readonly stray: boolean;
}

const NONE: readonly string[] = [];

export class BlockFilter {
  /** Not decided on: what may be the beginning of a tag. */
  #held = "";
  /** The open block so far, in pieces: joined once, however many there are. */
  #block: string[] | undefined;

  take(delta: string): Piece {
    if (this.#block === undefined && this.#held === "" && !delta.includes("<"))
      return { text: delta, blocks: NONE, stray: false };
    let rest = this.#held + delta;
    let text = "";
    let stray = false;
    const blocks: string[] = [];
    for (;;) {
      if (this.#block === undefined) {
        const tag = TAG.exec(rest);
        if (tag === null) return { text: text + this.#hold(rest), blocks, stray };
        text += rest.slice(0, tag.index);
        rest = rest.slice(tag.index + tag[0].length);
        if (tag[1] === "") this.#block = [];
        else stray = true;
      } else {
        const end = rest.indexOf(CLOSE);
        if (end < 0) {
          this.#block.push(this.#hold(rest));
          return { text, blocks, stray };
        }
        blocks.push(this.#block.join("") + rest.slice(0, end));
        rest = rest.slice(end + CLOSE.length);
        this.#block = undefined;
      }
    }
  }

  /** The text is over. @returns what was held back of it, and whether a block was left open, which is gone. */
  end(): { readonly text: string; readonly unclosed: boolean } {
    const unclosed = this.#block !== undefined;
    const text = unclosed ? "" : this.#held;
    this.#held = "";
    this.#block = undefined;
    return { text, unclosed };
  }

  /** Keeps back what may be the beginning of a tag. @returns the rest. */
  #hold(text: string): string {
    const at = text.lastIndexOf("<");
    const last = at < 0 ? "" : text.slice(at);
    this.#held = last !== "" && TAGS.some((tag) => tag.startsWith(last)) ? last : "";
    return text.slice(0, text.length - this.#held.length);
  }
}

/** A whole text without its blocks. */
export function withoutBlocks(whole: string): Piece & { readonly unclosed: boolean } {
  const filter = new BlockFilter();
  const piece = filter.take(whole);
  const { text, unclosed } = filter.end();
  return { ...piece, text: piece.text + text, unclosed };
}
