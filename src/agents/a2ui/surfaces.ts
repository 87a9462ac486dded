/** What the blocks of one turn come to: one activity message, which grows with each block. */
import { type AgentContext, type AgentEvent, EventRefusedError } from "../../index.ts";
import { BlockError, Operations, readOperations } from "./operations.ts";

/** Where events go. Its promise counts as handled. */
export type Send = (event: AgentEvent) => Promise<void>;

export class Surfaces {
  readonly #send: Send;
  readonly #warn: AgentContext["warn"];
  readonly #messageId = `a2ui_${crypto.randomUUID()}`;
  readonly #operations = new Operations();

  /** @param send puts an event under no subagent: the message is the turn's. */
  constructor(send: Send, warn: AgentContext["warn"]) {
    this.#send = send;
    this.#warn = warn;
  }

  /** Shows what the blocks hold, after what was shown before. Resolves when the stream has room; never rejects. */
  async show(blocks: readonly string[]): Promise<void> {
    const operations = blocks.flatMap((block) => this.#read(block));
    if (operations.length === 0) return;
    for (const operation of operations) this.#operations.add(operation);
    try {
      await this.#send({
        type: "ACTIVITY_SNAPSHOT",
        messageId: this.#messageId,
        activityType: "a2ui-surface",
        content: { a2ui_operations: this.#operations.list },
      });
    } catch (error) {
      // A turn that is over shows nothing any more; that is told to whoever emits.
      if (error instanceof EventRefusedError || error instanceof RangeError) this.leftOut("it could not go out");
    }
  }

  /** Says that something was taken out of the text and is not shown. */
  leftOut(why: string): void {
    this.#warn("A2UI_BLOCK_DROPPED", `An <a2ui-json> block was taken out of the text and is not shown: ${why}.`);
  }

  #read(block: string): ReturnType<typeof readOperations> {
    try {
      return readOperations(block);
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      this.leftOut(error.message);
      return [];
    }
  }
}
