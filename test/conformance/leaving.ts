/** What is promised to an agent whose client leaves. */
import { expect } from "vitest";
import { answerTo, soleInterrupt } from "../support/runs.ts";
import { Conversation } from "./instance.ts";
import type { Cases } from "./suite.ts";

/** How soon the agent has to hear of it, in milliseconds. */
const SOON = 1_000;

export const leaving = {
  async leaving({ at }) {
    const thread = new Conversation(at);
    const exchange = await thread.open("stream");
    await exchange.read(4);
    await exchange.leave();
    await thread.sees({ aborted: true }, SOON);
    await thread.sees({ ended: 1 });
  },

  async "leaving-in-silence"({ at }) {
    const thread = new Conversation(at);
    const exchange = await thread.open("each");
    await exchange.read(1);
    await exchange.leave();
    await thread.sees({ aborted: true }, SOON);
    await thread.sees({ ended: 1 });
  },

  async "leaving-after-answer"({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask then stream"));
    const exchange = await thread.open("", { resume: [answerTo(interrupt, "yes")] });
    await exchange.read(4);
    await exchange.leave();
    await thread.sees({ aborted: true }, SOON);
    await thread.sees({ ended: 1, answers: ["yes"] });
    expect((await thread.run("say: Again")).text).toBe("Again");
  },
} satisfies Cases;
