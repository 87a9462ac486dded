/** What is promised of held turns. */
import { expect } from "vitest";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts, typesOf } from "../support/runs.ts";
import { Conversation } from "./instance.ts";
import type { Cases } from "./suite.ts";

export const holding = {
  async ask({ at }) {
    const thread = new Conversation(at);
    const asked = await thread.run("ask");
    const interrupt = soleInterrupt(asked);
    expect(asked.outcome).toMatchObject({ type: "interrupt" });
    expect(interrupt).toMatchObject({ reason: "human_input", message: "Book LH441?" });
    const answered = await thread.answer(interrupt, "yes");
    expect(typesOf(answered)).toEqual([
      "RUN_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "RUN_FINISHED",
    ]);
    expect(answered.text).toBe("yes, kept");
    expect(await thread.seen()).toMatchObject({ entered: 1, ended: 1, answers: ["yes"] });
  },

  async "held-outlives-response"({ at }) {
    const thread = new Conversation(at);
    const asking = await thread.open("ask", {}, { connection: "close" });
    const interrupt = soleInterrupt(await asking.rest());
    // Once more, after the end: some runtimes report a response that was delivered as a client that left.
    await asking.leave();
    for (let other = 0; other < 3; other++) await new Conversation(at).run("say: Between");
    expect(await thread.seen()).toMatchObject({ aborted: false, ended: 0, rejections: [] });
    expect((await thread.answer(interrupt, "yes")).text).toBe("yes, kept");
  },

  async "work-after-answer"({ at }) {
    const thread = new Conversation(at);
    const run = await thread.answer(soleInterrupt(await thread.run("work")), at.pingUrl ?? `data:,"pong"`);
    expect([run.text, run.result]).toEqual([`"pong"`, 200]);
  },

  async "ask-again-and-again"({ at }) {
    const thread = new Conversation(at);
    const first = soleInterrupt(await thread.run("twice"));
    const second = soleInterrupt(await thread.answer(first, "one"));
    expect(second).toMatchObject({ message: "Second?" });
    expect(second.id).not.toBe(first.id);
    expect((await thread.answer(second, "two")).result).toBe("one, two");
  },

  async together({ at }) {
    const thread = new Conversation(at);
    const [outbound, inbound] = twoInterrupts(await thread.run("together"));
    expect(outbound.toolCallId).not.toBe(inbound.toolCallId);
    expect(endOf(await thread.answer(outbound, "A"))).toBe("INTERRUPT_NOT_COVERED");
    expect(await thread.seen()).toMatchObject({ answers: [] });
    const { result } = await thread.resume([answerTo(inbound, "B"), answerTo(outbound, "A")]);
    expect(result).toEqual(["A", "B"]);
  },

  async schemas({ at }) {
    const thread = new Conversation(at);
    const seat = soleInterrupt(await thread.run("schemas"));
    expect(seat.responseSchema).toMatchObject({ type: "object", required: ["row"] });
    for (const payload of [{ row: 0 }, { row: "1" }, {}, [], "1"]) {
      expect(endOf(await thread.answer(seat, payload))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    }
    const days = soleInterrupt(await thread.answer(seat, { row: 12 }));
    expect(days.responseSchema).toMatchObject({ type: "object", required: ["days"] });
    expect(endOf(await thread.answer(days, { days: "soon" }))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await thread.answer(days, { days: "2" })).result).toBe(48);
    expect(await thread.seen()).toMatchObject({ answers: [{ row: 12 }, { days: 2 }] });
  },

  async proof({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    const other = soleInterrupt(await new Conversation(at).run("ask"));
    const { metadata: _, ...bare } = answerTo(interrupt, "yes");
    for (const entry of [bare, { ...bare, metadata: {} }, { ...bare, metadata: other.metadata ?? {} }]) {
      expect(endOf(await thread.resume([entry]))).toBe("INTERRUPT_NOT_PROVEN");
    }
    expect((await thread.answer(interrupt, "yes")).text).toBe("yes, kept");
  },

  async once({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    const runs = await Promise.all(Array.from({ length: 30 }, () => thread.answer(interrupt, "yes")));
    const ends = runs.map(endOf).toSorted();
    expect(ends).toEqual([...Array(29).fill("INTERRUPT_NOT_HELD (answered)"), "success"]);
    expect(await thread.seen()).toMatchObject({ entered: 1, answers: ["yes"] });
  },

  async abandon({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    expect(endOf(await thread.resume([giveUp(interrupt)]))).toBe("cancelled");
    expect(await thread.seen()).toMatchObject({ rejections: ["InterruptCancelledError"], answers: [] });
    expect(endOf(await thread.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (abandoned)");
  },

  async approval({ at }) {
    const thread = new Conversation(at);
    const first = soleInterrupt(await thread.run("approve"));
    const second = soleInterrupt(await thread.answer(first, false));
    expect((await thread.answer(second, "yes")).result).toEqual(["User denied the tool call request", "paid 2"]);
    expect(await thread.seen()).toMatchObject({ answers: ["paid 2"] });
  },

  async "waiting-thread"({ at }) {
    const nameless = new Conversation(at);
    const interrupt = soleInterrupt(await nameless.run("ask"));
    expect(endOf(await nameless.run("say: Hi"))).toBe("INTERRUPT_NOT_COVERED");
    expect((await nameless.answer(interrupt, "yes")).text).toBe("yes, kept");
    const known = new Conversation(at);
    const ada = { "x-user": "Ada" };
    const asked = soleInterrupt(await known.run("ask", {}, ada));
    expect(soleInterrupt(await known.run("say: I lost it", {}, ada))).toEqual(asked);
    expect((await known.answer(asked, "yes", ada)).text).toBe("yes, kept");
  },

  async strangers({ at }) {
    const thread = new Conversation(at);
    const ada = { "x-user": "Ada" };
    const interrupt = soleInterrupt(await thread.run("ask", {}, ada));
    // Names that would meet if identity and thread were merely joined, and a name that no header holds as it is.
    for (const headers of [{ "x-user": "Eve" }, { "x-user": `Ada"` }, {} as Record<string, string>]) {
      expect((await thread.run("say: Mine", {}, headers)).text).toBe("Mine");
      expect(endOf(await thread.answer(interrupt, "no", headers))).toMatch(
        /^INTERRUPT_NOT_HELD \((unknown|other-instance)\)$/,
      );
    }
    expect((await thread.answer(interrupt, "yes", ada)).text).toBe("yes, kept");
  },

  async queue({ at }) {
    const thread = new Conversation(at);
    const first = await thread.open("each");
    await first.read(1);
    const second = thread.open("say: Second");
    await thread.release();
    await first.read(2);
    expect(await thread.seen()).toMatchObject({ entered: 1 });
    await thread.release();
    expect((await first.rest()).text).toBe("onetwo");
    expect((await (await second).rest()).text).toBe("Second");
  },

  async restart({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    await at.restart?.();
    expect(endOf(await thread.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (other-instance)");
    expect((await thread.run("say: Anew")).text).toBe("Anew");
  },

  async deadline({ at }) {
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    await at.advance?.(900_000);
    expect(await thread.seen()).toMatchObject({ rejections: ["InputTimeoutError"], aborted: true });
    expect(endOf(await thread.answer(interrupt, "yes"))).toBe("INTERRUPT_NOT_HELD (expired)");
  },
} satisfies Cases;
