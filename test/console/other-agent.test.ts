/** The console before an agent it was not written against: other tools, other schemas, other scripts, long words. */
import axe from "axe-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Agent } from "../../src/index.ts";
import { ConsoleTab, useBrowser } from "../support/browser.ts";
import { build } from "../support/child.ts";
import { type ConsoleServer, serveConsole } from "../support/console-server.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });
useBrowser();

const nested = z.object({
  shipper: z.object({
    name: z.string().min(2).describe("As it stands on the label."),
    address: z.object({ city: z.string(), country: z.enum(["NL", "DE", "EG"]) }),
  }),
  parcels: z.array(z.object({ kilograms: z.number().positive(), fragile: z.boolean().optional() })).min(1),
});
const fields = Array.from({ length: 40 }, (_, index) => [`field_${index + 1}`, z.string().optional()] as const);
const forty = z.object({ ...Object.fromEntries(fields), field_40: z.number().int() });
/** 2 000 characters, without a place to break a line at. */
const LONG = `Which? ${"ab".repeat(997)}`.slice(0, 2_000);
const ARABIC = "هل تريد إرسال الطرد إلى القاهرة؟ (نعم أو لا)";
/** A list without an end of its own. */
const link = {
  type: "object",
  properties: { value: { type: "number" }, next: { $ref: "#/$defs/node" } },
  required: ["value", "next"],
};
const recursive = { $ref: "#/$defs/node", $defs: { node: { anyOf: [{ type: "null" }, link] } } };

/** What the agent's own code was told, last. */
let told: unknown;

const agent: Agent = async (context) => {
  const words = context.userText;
  if (words === "nested") told = await context.input("What is sent?", { schema: nested });
  if (words === "forty") told = await context.input("Fill it in.", { schema: forty });
  if (words === "long") told = await context.input(LONG);
  if (words === "arabic") told = await context.input(ARABIC);
  if (words === "recursive") told = await context.input("Which links?", { jsonSchema: recursive });
  if (words === "odd") {
    await context.emit({ type: "CUSTOM", name: "acme:unheard-of", value: { deep: [1] } });
    await context.activity({ activityType: "MAP", content: { at: [52.1, 4.3] } });
    await context.setState({ route: ["Delft", "Cairo"] });
    await context.subagent({ name: "Customs clerk" }, (clerk) => clerk.text("Cleared."));
    await context.text(
      '<img src="http://elsewhere.test/x.png"> ![x](http://elsewhere.test/y.png) [z](javascript:alert(1))',
    );
    return { cleared: true };
  }
  if (words === "mixed") {
    told = await Promise.all([
      context.toolCall("weigh", { parcel: 7 }, (_args, tool) =>
        tool.input("How heavy?", { jsonSchema: { type: "number", minimum: 0 } }),
      ),
      context.toolCall("dispatch", { parcel: 7, to: "Cairo" }, ({ to }) => `gone to ${to}`, {
        approval: { message: "Dispatch parcel 7?", allowEdits: true },
        argsSchema: { type: "object", properties: { parcel: { type: "integer" }, to: { type: "string" } } },
      }),
    ]);
  }
  if (words === "once") {
    told = await context.toolCall("label", { parcel: { name: "Box" } }, ({ parcel }) => `labelled ${parcel.name}`, {
      approval: { message: "Print the label?", allowEdits: true, allowAlways: false },
      argsSchema: {
        type: "object",
        properties: { parcel: { $ref: "#/$defs/parcel" } },
        required: ["parcel"],
        $defs: { parcel: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
      },
    });
  }
  if (words === "no") throw new Error("a secret");
  await context.text(`told: ${JSON.stringify(told)}`);
  return undefined;
};

describe("the console of another agent", () => {
  let server: ConsoleServer;
  let tab: ConsoleTab;

  beforeAll(async () => {
    await build();
    server = await serveConsole(agent, { onError: () => {} });
    tab = await ConsoleTab.open(server.url);
  });
  afterAll(async () => {
    await tab?.close();
    await server?.close();
  });
  beforeEach(() => tab.button("New thread").click());

  it("makes a form of a nested schema, and says where it is wrong before it sends", async () => {
    await tab.sayUntilAsked("nested");
    // At least one parcel is asked for, so there is one to begin with.
    await tab.questions.getByLabel("name").fill("x");
    await tab.button("Send answer").click();
    const errors = await tab.questions.locator(".field-error").allInnerTexts();
    expect(errors).toEqual([
      "String is too short (1 < 2).",
      "This is required.",
      "This is required.",
      "This is required.",
    ]);
    await tab.questions.getByLabel("name").fill("Anna");
    await tab.questions.getByLabel("city").fill("Delft");
    await tab.questions.getByLabel("country").selectOption({ label: "NL" });
    await tab.questions.getByLabel("kilograms").fill("2.5");
    await tab.questions.getByLabel("fragile").check();
    await tab.picture("console-16-form");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toEqual({
      shipper: { name: "Anna", address: { city: "Delft", country: "NL" } },
      parcels: [{ kilograms: 2.5, fragile: true }],
    });
  });

  it("shows a refusal by its code and what to do, keeps what was typed, and sends it again", async () => {
    await tab.sayUntilAsked("nested");
    await tab.button("Write JSON instead").click();
    const json = tab.questions.getByLabel("Answer as JSON");
    await json.fill('{ "shipper": {} }');
    await tab.button("Send answer").click();
    const refusal = tab.questions.locator(".notice.error");
    await refusal.waitFor();
    expect(await refusal.locator("code").innerText()).toBe("INTERRUPT_PAYLOAD_REFUSED");
    expect(await refusal.locator(".advice").innerText()).toBe(
      "Nothing was delivered and the question is still open: change the answer and send it again.",
    );
    await tab.picture("console-17-refusal");
    expect(await json.inputValue()).toBe('{ "shipper": {} }');
    await json.fill("not json");
    await tab.button("Send answer").click();
    expect(await tab.questions.locator(".field-error").innerText()).toBe("This is not JSON.");
    const answer = { shipper: { name: "Bo", address: { city: "Bonn", country: "DE" } }, parcels: [{ kilograms: 1 }] };
    await json.fill(JSON.stringify(answer));
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toEqual(answer);
  });

  it("makes a form of forty fields", async () => {
    await tab.sayUntilAsked("forty");
    expect(await tab.questions.locator("input").count()).toBe(40);
    await tab.questions.getByLabel("field_1", { exact: true }).fill("first");
    await tab.questions.getByLabel("field_40").fill("40");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toEqual({ field_1: "first", field_40: 40 });
  });

  it("shows a prompt of 2000 characters without a word break, and nothing overflows", async () => {
    await tab.sayUntilAsked("long");
    expect(await tab.questions.locator("legend").innerText()).toBe(LONG);
    expect(await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await tab.questions.getByRole("textbox").fill("that one");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toBe("that one");
  });

  it("writes from right to left what is written so", async () => {
    await tab.sayUntilAsked("arabic");
    const directionOf = (selector: string) =>
      tab.page
        .locator(selector)
        .last()
        .evaluate((element) => getComputedStyle(element).direction);
    expect(await directionOf("legend")).toBe("rtl");
    await tab.questions.getByRole("textbox").fill("نعم");
    expect(await directionOf("textarea.answer")).toBe("rtl");
    await tab.picture("console-18-right-to-left");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toBe("نعم");
    expect(await directionOf(".answers dd")).toBe("rtl");
  });

  it("takes JSON for what is easier to write than to click", async () => {
    await tab.sayUntilAsked("recursive");
    await tab.button("Write JSON instead").click();
    const links = { value: 1, next: { value: 2, next: null } };
    await tab.questions.getByLabel("Answer as JSON").fill(JSON.stringify(links));
    await tab.button("Send answer").click();
    await tab.idle();
    expect(told).toEqual(links);
  });

  it("answers a form and an approval with edits in one run", async () => {
    await tab.sayUntilAsked("mixed");
    await tab.questions.locator("fieldset").first().getByRole("spinbutton").fill("3.2");
    await tab.questions.getByRole("radio", { name: "Edit the arguments" }).check();
    await tab.questions.getByLabel("to", { exact: true }).fill("Luxor");
    await tab.button("Send answers").click();
    await tab.idle();
    expect(told).toEqual([3.2, "gone to Luxor"]);
  });

  it("offers consent to one call only where that is all it can be, and a form of arguments whose schema refers to itself", async () => {
    await tab.sayUntilAsked("once");
    const choices = tab.questions.locator(".choices button");
    expect(await choices.allInnerTexts()).toEqual(["Approve", "Deny", "Edit the arguments"]);
    await tab.button("Edit the arguments").click();
    await tab.questions.getByLabel("name").fill("Crate");
    await tab.button("Approve with these arguments").click();
    await tab.idle();
    expect(told).toBe("labelled Crate");
  });

  it("shows what it does not know without breaking, and fetches nothing that the agent names", async () => {
    await tab.say("odd");
    await tab.idle();
    const texts = await tab.page.locator(".items > .item").allInnerTexts();
    expect(texts.slice(-5)).toEqual([
      `Activity: MAP\n${JSON.stringify({ at: [52.1, 4.3] }, undefined, 2)}`,
      "Customs clerk has finished",
      "Cleared.",
      '<img src="http://elsewhere.test/x.png"> x z',
      'Result\n{\n  "cleared": true\n}',
    ]);
    expect(await tab.page.locator(".prose img").count()).toBe(0);
    expect(await tab.page.locator('.prose a[href^="javascript"]').count()).toBe(0);
    expect(await tab.page.locator(".shared pre").innerText()).toContain('"Delft"');
  });

  it("tells of an agent that failed, in words that give nothing away", async () => {
    await tab.say("no");
    await tab.idle();
    expect(await tab.page.locator(".notice.error").last().innerText()).toMatch(/^AGENT_FAILED[\s\S]*server's log/);
    expect(await tab.page.content()).not.toContain("a secret");
    expect(await tab.button("Send again").isVisible()).toBe(true);
  });

  it("spoke to its own server only, and nothing was complained of", () => {
    tab.expectQuiet(server.url);
  });
});

describe("the console without a mouse, and for those who do not see it", () => {
  let server: ConsoleServer;

  beforeAll(async () => {
    await build();
    server = await serveConsole(agent, { onError: () => {} });
  });
  afterAll(() => server?.close());

  /** What axe finds wrong on the page as it is. */
  async function violations(tab: ConsoleTab): Promise<string[]> {
    await tab.page.evaluate(axe.source);
    const { violations: found } = await tab.page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({
        runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"],
      }),
    );
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  }

  it.each([
    ["light", 1180],
    ["dark", 390],
  ] as const)("has no barrier that axe knows of, %s and %d pixels wide", async (colorScheme, width) => {
    const tab = await ConsoleTab.open(server.url, { colorScheme, viewport: { width, height: 780 } });
    expect(await violations(tab)).toEqual([]);
    await tab.sayUntilAsked("nested");
    await tab.button("Send answer").click();
    await tab.questions.locator(".field-error").first().waitFor();
    expect(await violations(tab)).toEqual([]);
    expect(await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    if (width === 390) await tab.picture("console-19-phone");
    await tab.button("Give up").click();
    await tab.idle();
    await tab.sayUntilAsked("mixed");
    expect(await violations(tab)).toEqual([]);
    await tab.close();
  });

  it("is used by the keyboard alone", async () => {
    const tab = await ConsoleTab.open(server.url);
    const { keyboard } = tab.page;
    const focused = () => tab.page.evaluate(() => document.activeElement?.textContent ?? "");
    await keyboard.type("mixed");
    await keyboard.press("Enter");
    await tab.questions.waitFor();
    // The form itself has the focus: a stray Enter decides nothing.
    expect(await tab.questions.evaluate((form) => form === document.activeElement)).toBe(true);
    await keyboard.press("Enter");
    await keyboard.press("Tab");
    await keyboard.type("3");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Write JSON instead");
    await keyboard.press("Tab");
    await keyboard.press("Space");
    await keyboard.press("Tab");
    expect(await focused()).toBe("Send answers");
    await keyboard.press("Enter");
    await tab.idle();
    expect(told).toEqual([3, "gone to Cairo"]);
    // The word is back where one writes.
    await keyboard.type("arabic");
    await keyboard.press("Enter");
    await tab.questions.waitFor();
    await keyboard.type("نعم");
    await keyboard.press("Enter");
    await tab.idle();
    expect(told).toBe("نعم");
    await tab.close();
  });

  it("says what happens to those who listen", async () => {
    const tab = await ConsoleTab.open(server.url);
    const status = tab.page.locator("main > [role=status]");
    await tab.sayUntilAsked("mixed");
    expect(await status.innerText()).toBe("The agent asks 2 questions.");
    await tab.button("Give up").click();
    await tab.idle();
    expect(await status.innerText()).toBe("The turn was cancelled.");
    await tab.close();
  });
});
