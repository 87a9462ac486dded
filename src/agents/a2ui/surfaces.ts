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

  /**
   * Shows what the blocks hold, after what was shown before. Resolves when the stream has room; rejects as every event
   * does where nothing may go out any more, and counts as handled.
   */
  show(blocks: readonly string[]): Promise<void> {
    const operations = blocks.flatMap((block) => this.#read(block));
    if (operations.length === 0) return Promise.resolve();
    for (const operation of operations) this.#operations.add(operation);
    const content = { a2ui_operations: this.#operations.list };
    const shown = this.#send({
      type: "ACTIVITY_SNAPSHOT",
      messageId: this.#messageId,
      activityType: "a2ui-surface",
      content,
    }).catch((error: unknown) => {
      if (!(error instanceof EventRefusedError || error instanceof RangeError)) throw error;
      this.leftOut("it could not go out");
    });
    shown.catch(() => {});
    return shown;
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
