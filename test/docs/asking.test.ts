/** docs/asking.md: its agents are run, and every way in which an ask may end is brought about. */
import { afterAll, describe, expect, it } from "vitest";
import { settle } from "../../src/core/settings.ts";
import { type AgentContext, HoldlineError } from "../../src/index.ts";
import type { TestAgent } from "../../src/testing/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { membersOf } from "../support/declarations.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { answerTo, endOf, giveUp, soleInterrupt } from "../support/runs.ts";

const page = pageUnderTest("docs/asking.md");
const folder = new ProgramFolder("asking");
afterAll(() => folder.dispose());
const load = (heading: string) => folder.load(page.take(heading, "ts"));
const rowsOf = (heading: string) => page.tables.find((table) => table.heading === heading)?.rows ?? [];

describe("docs/asking.md", () => {
  it("asks, in a tool too", async () => {
    const tested = agentUnderTest((await load("A question")).agent);
    const named = await tested.answer(soleInterrupt(await tested.run("Book")), "Ada");
    const seat = soleInterrupt(named);
    expect(seat).toMatchObject({ message: "Window or aisle, Ada?", reason: "human_input" });
    expect(seat.toolCallId).toBe(named.events.find(({ type }) => type === "TOOL_CALL_START")?.toolCallId);
    expect((await tested.answer(seat, "aisle")).text).toBe("Ada sits at the aisle.");
  });

  it("holds answers to schemas", async () => {
    const tested = agentUnderTest((await load("Schemas")).agent);
    const booking = soleInterrupt(await tested.run("Book"));
    const shown = JSON.parse(page.take("Schemas", "json"));
    expect(shown.properties.day.pattern).toBe("<pattern>");
    shown.properties.day.pattern = expect.any(String);
    expect(booking.responseSchema).toEqual(shown);
    const wrong = await tested.answer(booking, { day: "soon" });
    expect(endOf(wrong)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(wrong.error?.message).toContain("day: ");
    const cabin = soleInterrupt(await tested.answer(booking, { day: "2027-01-31" }));
    expect(cabin.responseSchema).toEqual({ enum: ["economy", "first"] });
    expect(endOf(await tested.answer(cabin, "second"))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect((await tested.answer(cabin, "first")).result).toEqual({ seats: 1, cabin: "first" });
  });

  it("rejects schemas that cannot be shown or checked, and reports one that throws", async () => {
    const mute = { "~standard": { version: 1 as const, vendor: "mute", validate: (value: unknown) => ({ value }) } };
    const seen: unknown[] = [];
    const schemas = [{ schema: mute }, { jsonSchema: { $ref: "#/nowhere" } }, { schema: mute, jsonSchema: {} }];
    const tested = agentUnderTest(async (context) => {
      for (const each of schemas) {
        await context.input("A?", each as { schema: typeof mute }).catch((error) => seen.push(error.constructor.name));
      }
    });
    expect((await tested.run("go")).interrupts).toHaveLength(1);
    expect(seen).toEqual(["TypeError", "TypeError"]);

    const throwing = { "~standard": { ...mute["~standard"], validate: () => Promise.reject(new Error("broken")) } };
    const broken = agentUnderTest(async (context) => context.input("A?", { schema: throwing, jsonSchema: {} }));
    const question = soleInterrupt(await broken.run("go"));
    expect(endOf(await broken.answer(question, "a"))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(broken.errors).toMatchObject([{ error: { message: "broken" } }]);
    expect(broken.handler.stats().held).toBe(1);
  });

  it("asks several at once", async () => {
    const tested = agentUnderTest((await load("Several at once")).agent);
    const [name, meal, seat] = (await tested.run("Book")).interrupts;
    if (name === undefined || meal === undefined || seat === undefined) throw new Error("Three were to be asked.");
    expect(endOf(await tested.resume([answerTo(name, "Ada")]))).toBe("INTERRUPT_NOT_COVERED");
    const answered = await tested.resume([answerTo(seat, "aisle"), giveUp(meal), answerTo(name, "Ada")]);
    expect(answered.result).toEqual(["Ada", null, "aisle"]);
    const all = (await tested.run("Book")).interrupts.map(giveUp);
    expect(endOf(await tested.resume(all))).toBe("cancelled");
  });

  it("asks for approval, and takes edits and always", async () => {
    const { agent } = await load("Approvals");
    const tested = agentUnderTest(agent);
    const first = soleInterrupt(await tested.run("Refund"));
    expect(first).toMatchObject({ message: "Refund 412 EUR?", reason: "tool_approval" });
    const edit = (euros: number) => ({ approved: true, editedArgs: { booking: "K7Q2MX", euros } });
    expect(endOf(await tested.answer(first, edit(501)))).toBe("INTERRUPT_PAYLOAD_REFUSED");
    const edited = await tested.answer(first, edit(100));
    expect(edited.events[1]).toMatchObject({ metadata: { holdline: { editedArgs: { euros: 100 } } } });
    const both = await tested.answer(soleInterrupt(edited), false);
    expect(both.result).toEqual(["100 EUR for K7Q2MX.", "The traveller said no."]);

    const always = await tested.answer(soleInterrupt(await tested.run("Refund")), "Always");
    expect(always.result).toEqual(["412 EUR for K7Q2MX.", "80 EUR for P3T9ZA."]);
    const once = agentUnderTest({
      agent: (context: AgentContext) => agent(context),
      approvals: { allowAlways: false },
    });
    expect((await once.answer(soleInterrupt(await once.run("Refund")), "always")).interrupts).toHaveLength(1);
  });

  it("asks for approval inside a tool", async () => {
    const tested = agentUnderTest((await load("Approvals")).agent);
    const question = soleInterrupt(await tested.run("Pay"));
    expect(question.message).toBe("Pay 412 EUR?");
    expect((await tested.answer(question, "why?")).result).toBe("Not paid.");
  });

  it("lists the options of an approval, with their defaults", () => {
    const rows = rowsOf("Approvals");
    expect(rows.map(([name = ""]) => codesIn(name)[0])).toEqual(membersOf("src/core/agent.ts", "ApproveOptions"));
    const { approvals } = settle({ agent: async () => {} });
    for (const [name, value] of Object.entries(approvals)) {
      expect(rows.find(([cell]) => cell === `\`${name}\``)?.[1]).toBe(`\`${value}\``);
    }
  });

  it("gives a question up, and unwinds", async () => {
    const { agent, seats } = await load("What rejects, and how to catch it");
    const tested = agentUnderTest(agent);
    const question = soleInterrupt(await tested.run("Book"));
    expect(seats.reserved).toBe(1);
    const ended = await tested.resume([giveUp(question)]);
    expect([ended.text, endOf(ended), seats.reserved]).toEqual(["Then not.", "cancelled", 0]);
    expect(tested.errors).toEqual([]);
    expect((await tested.answer(soleInterrupt(await tested.run("Book")), "yes")).result).toBe("booked");
  });

  it("answers in this process", async () => {
    const { handler } = await load("Without a client");
    const body = JSON.stringify({ threadId: "T", runId: "R", messages: [] });
    const headers = { "content-type": "application/json" };
    const response = await handler.handle(new Request("http://agent.test/", { method: "POST", headers, body }));
    expect(await response.text()).toContain('"result":"economy"');
    await handler.close();
  });

  it("says what each ask rejects with, and whether the signal aborts", async () => {
    /** How it comes about, in the order of the table's rows. */
    const ways: ((tested: TestAgent) => Promise<unknown>)[] = [
      async (tested) => {
        const [a, b] = (await tested.run("two")).interrupts;
        if (a && b) await tested.resume([giveUp(a), answerTo(b, "b")]);
      },
      async (tested) => tested.resume([giveUp(soleInterrupt(await tested.run("one")))]),
      async (tested) => {
        await tested.run("brief");
        await tested.clock.advance(1_000);
      },
      async (tested) => {
        await tested.run("one");
        await tested.clock.advance(900_000);
      },
      async (tested) => {
        await tested.run("one");
        await tested.handler.stop("thread-1");
      },
      async (tested) => tested.run("one"),
      async (tested) => tested.run("decided"),
      async (tested) => tested.run("wrong"),
    ];
    const seen: unknown[][] = [];
    for (const [row, bringAbout] of ways.entries()) {
      let caught: unknown[] = [];
      const tested = agentUnderTest({
        hold: row !== 5,
        agent: async (context) => {
          if (context.userText === "decided") context.inputRequired("Which?");
          const timeoutMs = { brief: 1_000, wrong: -1 }[context.userText];
          const asked = context.input("A?", timeoutMs === undefined ? {} : { timeoutMs });
          if (context.userText === "two") context.input("B?").catch(() => {});
          await asked.catch((error: Error) => {
            const code = error instanceof HoldlineError ? error.code : "";
            caught = [error.constructor.name, code];
          });
          await new Promise((resolve) => setImmediate(resolve));
          caught.push(context.signal.aborted ? "yes" : "no");
        },
      });
      await bringAbout(tested);
      await tested.clock.advance(0);
      seen.push(caught);
    }
    const rows = rowsOf("What rejects, and how to catch it");
    const listed = rows.map(([, rejects = "", code = "", aborts]) => [
      codesIn(rejects),
      codesIn(code)[0] ?? "",
      aborts,
    ]);
    expect(listed).toHaveLength(seen.length);
    for (const [row, [rejects, code, aborts]] of listed.entries()) {
      expect([rejects?.includes(seen[row]?.[0] as string), code, aborts]).toEqual([
        true,
        seen[row]?.[1],
        seen[row]?.[2],
      ]);
    }
  });

  it("says what becomes of a turn whose deadline passes", async () => {
    const seen: unknown[] = [];
    const tested = agentUnderTest(async (context) => {
      const asked = [context.input("A?", { timeoutMs: 1_000 }), context.input("B?", { timeoutMs: 2_000 })];
      await asked[0]?.catch(() => seen.push(["A", context.heard]));
      await asked[1]?.catch(() => seen.push(["B", context.heard, context.signal.aborted]));
      seen.push(await context.text("dropped").then(() => "dropped"));
      seen.push(await context.input("C?").catch(({ code }) => code));
    });
    const [, b] = (await tested.run("go")).interrupts;
    await tested.clock.advance(1_000);
    expect(tested.handler.inspect()[0]?.interrupts.map(({ id }) => id)).toEqual([b?.id]);
    await tested.clock.advance(1_000);
    expect(seen).toEqual([["A", true], ["B", false, false], "dropped", "TURN_RELEASED"]);
    expect(tested.handler.stats()).toMatchObject({ held: 0, running: 0 });
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
