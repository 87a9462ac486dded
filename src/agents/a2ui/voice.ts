/** What one context says with `text`: its open message, as far as that must be known here. */
import type { AgentContext } from "../../index.ts";
import { BlockFilter } from "./blocks.ts";
import { behind, type Speech } from "./speech.ts";

type TextOptions = Parameters<AgentContext["text"]>[1];

/** What `text` resolves to before anything was said. */
const NOTHING = Promise.resolve("");

export class Voice {
  readonly #inner: Pick<AgentContext, "text">;
  readonly #speech: Speech;
  readonly #filter = new BlockFilter();
  /** Of the open message; without one, what a delta that shows nothing resolves to. */
  #messageId = NOTHING;
  /** The next words open a message, whatever is open. */
  #fresh = false;

  constructor(inner: Pick<AgentContext, "text">, speech: Speech) {
    this.#inner = inner;
    this.#speech = speech;
  }

  readonly text = (delta: string | AsyncIterable<string>, options?: TextOptions): Promise<string> => {
    if (typeof delta !== "string") {
      const said = this.#each(delta, options);
      said.catch(() => {});
      return said;
    }
    if (options?.newMessage) {
      this.endMessage();
      this.#fresh = true;
    }
    const piece = this.#filter.take(delta);
    // An empty delta opens a message, as it does elsewhere; one that shows nothing opens none.
    const said = piece.text === "" && delta !== "" ? this.#messageId : this.#say(piece.text);
    return behind(said, this.#speech.complete(piece));
  };

  /** The open message goes on no more: what was held back of it goes out. */
  endMessage(): void {
    const rest = this.#speech.end(this.#filter);
    if (rest !== "") void this.#say(rest);
    if (this.#messageId === NOTHING) return;
    this.#messageId.then((id) => this.#speech.leave(id)).catch(() => {});
    this.#messageId = NOTHING;
  }

  #say(text: string): Promise<string> {
    const said = this.#inner.text(text, this.#fresh ? { newMessage: true } : {});
    this.#fresh = false;
    if (said !== this.#messageId) {
      this.#messageId = said;
      // Its words may also be emitted, under its id.
      said.then((id) => this.#speech.adopt(id, this.#filter)).catch(() => {});
    }
    return said;
  }

  async #each(deltas: AsyncIterable<string>, options: TextOptions): Promise<string> {
    let first = true;
    let id = "";
    for await (const delta of deltas) {
      id = (await this.text(delta, first ? options : {})) || id;
      first = false;
    }
    return first ? this.text("", {}) : id;
  }
}
