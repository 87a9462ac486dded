/** A page of the documentation under test: what it shows, and which of its blocks no test has taken up. */
import { readFileSync } from "node:fs";
import { type Block, type Page, readPage } from "./markdown.ts";

const root = new URL("../../", import.meta.url);

interface PageUnderTest extends Page {
  /** The first block of a language under a heading that was not taken yet. @throws Error when there is none. */
  take(heading: string, language: string): string;
  /** The blocks that nobody has taken, as `heading: language`. To be empty once a page's tests are over. */
  readonly left: readonly string[];
}

/** Reads a page by its path from the root: `"docs/asking.md"`. */
export function pageUnderTest(path: string): PageUnderTest {
  const page = readPage(readFileSync(new URL(path, root), "utf8"));
  const blocks = new Set<Block>(page.blocks);
  return {
    ...page,
    take(heading, language) {
      for (const block of blocks) {
        if (block.heading !== heading || block.language !== language) continue;
        blocks.delete(block);
        return block.text;
      }
      throw new Error(`${path} has no block of ${language} left under "${heading}".`);
    },
    get left() {
      return [...blocks].map(({ heading, language }) => `${heading}: ${language}`);
    },
  };
}
