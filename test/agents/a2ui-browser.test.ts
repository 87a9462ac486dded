/** Surfaces before the renderer they are made for, in Chromium, and the click that it produces before the agent. */
import { createServer } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { toNodeListener } from "../../adapters/node.ts";
import { a2uiAgent } from "../../src/agents/a2ui.ts";
import { type Agent, createHandler } from "../../src/index.ts";
import { block, create, label } from "../support/a2ui.ts";
import { Tab, useBrowser } from "../support/browser.ts";
import { bundle } from "../support/bundle-fixture.ts";
import { listen } from "../support/listen.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
useBrowser();

const tabs: Tab[] = [];
afterEach(() => Promise.all(tabs.splice(0).map((tab) => tab.close())));

/** The page and an agent, on one server. */
async function open(agent: Agent): Promise<{ tab: Tab; url: string; warned: string[] }> {
  const warned: string[] = [];
  const onWarning = ({ message }: { message: string }) => void warned.push(message);
  const handler = createHandler({ agent: a2uiAgent(agent), validate: true, onWarning });
  const serveAgent = toNodeListener(handler);
  const script = await bundle("test/fixtures/a2ui-page.mjs", "browser");
  const server = createServer((request, response) => {
    if (request.url === "/agent") return serveAgent(request, response);
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : '<!doctype html><link rel="icon" href="data:,"><body><script src="/page.js"></script>',
    );
  });
  const { url } = await listen(server);
  const tab = await Tab.open(url);
  tabs.push(tab);
  await tab.page.getByRole("button", { name: "Begin" }).click();
  return { tab, url, warned };
}

/** A form: a title, a field whose value is the surface's own, a button that sends it. */
const form = {
  version: "v0.9",
  updateComponents: {
    surfaceId: "flight",
    components: [
      { id: "root", component: "Column", children: ["title", "seat", "book"] },
      { id: "title", component: "Text", text: { path: "/title" }, variant: "h2" },
      { id: "seat", component: "TextField", label: "Seat", value: { path: "/seat" } },
      { id: "book", component: "Button", child: "label", action: bookAction() },
      { id: "label", component: "Text", text: "Book" },
    ],
  },
};

function bookAction() {
  return { event: { name: "book", context: { flight: "LH441", seat: { path: "/seat" } } } };
}

const fill = (value: object) => ({ version: "v0.9", updateDataModel: { surfaceId: "flight", path: "/", value } });

describe("CopilotKit's renderer", () => {
  it("renders what the agent wrote, and its click reaches the agent, which asks and goes on", async () => {
    const seen: unknown[] = [];
    const { tab, url, warned } = await open(async (context) => {
      const { name, context: chosen } = context.run.forwardedProps?.a2uiAction?.userAction ?? {};
      seen.push([context.userText, context.run.messages.map(({ role }) => role)]);
      if (name !== "book") {
        const written = `Which seat?${block(create("flight"), form, fill({ title: "LH441", seat: "" }))} Take your time.`;
        for (const letter of written) await context.text(letter);
        return;
      }
      await context.toolCall("book", chosen, async ({ seat }: { seat: string }, tool) => {
        seen.push(await tool.input(`Book seat ${seat}?`));
        await tool.text(`Done.${block(create("ticket"), label("ticket", `Ticket for ${seat}`))}`);
      });
    });
    const { page } = tab;
    await page.getByRole("heading", { name: "LH441" }).waitFor();
    expect(await page.locator("p.assistant").allTextContents()).toEqual(["Which seat? Take your time."]);
    await page.getByLabel("Seat").fill("12A");
    await page.getByRole("button", { name: "Book" }).click();

    await page.getByLabel("Book seat 12A?").fill("yes");
    await page.keyboard.press("Enter");
    await page.getByText("Ticket for 12A").waitFor();
    await page.getByText("Done.").waitFor();
    expect(seen).toEqual([
      ["Show flights", ["user"]],
      [
        `User performed action "book" on surface "flight" (component: "book"). Context: {"flight":"LH441","seat":"12A"}`,
        ["user", "assistant", "user"],
      ],
      "yes",
    ]);
    expect(await page.getByText(/a2ui|createSurface/).count()).toBe(0);
    expect(warned).toEqual([]);
    tab.expectQuiet(url);
  });

  it("takes further blocks of the turn in place: filled in, created again, deleted", async () => {
    const steps = [
      block(create("flight"), form, fill({ title: "LH441", seat: "12A" })),
      block(fill({ title: "LH442", seat: "14C" })),
      block(create("other"), label("other", "Another surface")),
      block(create("other"), label("other", "Made anew")),
      block({ version: "v0.9", deleteSurface: { surfaceId: "flight" } }),
    ];
    const { tab, url, warned } = await open(async (context) => {
      for (const step of steps) {
        await context.text(step);
        await context.input("Go on?");
      }
    });
    const { page } = tab;
    const goOn = async () => {
      await page.getByLabel("Go on?").fill("yes");
      await page.keyboard.press("Enter");
    };
    await page.getByRole("heading", { name: "LH441" }).waitFor();
    expect(await page.getByLabel("Seat").inputValue()).toBe("12A");
    await goOn();
    await page.getByRole("heading", { name: "LH442" }).waitFor();
    expect(await page.getByLabel("Seat").inputValue()).toBe("14C");
    await goOn();
    await page.getByText("Another surface").waitFor();
    await goOn();
    await page.getByText("Made anew").waitFor();
    expect(await page.getByText("Another surface").count()).toBe(0);
    expect(await page.locator("section").count()).toBe(1);
    await goOn();
    await page.getByRole("heading", { name: "LH442" }).waitFor({ state: "detached" });
    expect(await page.getByText("Made anew").count()).toBe(1);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(warned).toEqual([]);
    tab.expectQuiet(url);
  });
});
