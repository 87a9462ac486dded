/** From `holdline create` to the admin view, as a person goes through it, in a real browser. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ConsoleTab, useBrowser } from "../support/browser.ts";
import { build } from "../support/child.ts";
import { type RunningProject, runProject } from "../support/command.ts";
import { addImpatientTool, createProject } from "../support/console-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 300_000 });
useBrowser();

describe("the console of a created project", () => {
  let project: RunningProject;
  let tab: ConsoleTab;

  beforeAll(async () => {
    await build();
    const folder = await createProject();
    addImpatientTool(folder, 1_500);
    project = await runProject(folder);
    tab = await ConsoleTab.open(project.url);
  });
  afterAll(async () => {
    await tab?.close();
    await project?.stop();
  });

  it("opens on an empty conversation, with the word where one writes", async () => {
    expect(await tab.page.title()).toBe("demo");
    expect(await tab.page.locator("h1").innerText()).toBe("demo");
    expect(await tab.composer.evaluate((box) => box === document.activeElement)).toBe(true);
    await tab.picture("console-1-open");
  });

  it("streams what the agent says", async () => {
    await tab.say("Hello");
    await tab.idle();
    expect(await tab.page.locator(".item.agent li").allInnerTexts()).toEqual([
      "Deploy — I ask which service you mean",
      "Deploy api-west — I need your approval",
      "Restart api-east — my tool asks you in the middle of its work",
      "Restart both — two questions at once",
    ]);
    await tab.picture("console-2-answer-of-the-agent");
  });

  it("answers a question that a tool asks", async () => {
    await tab.sayUntilAsked("Restart api-east");
    expect(await tab.questions.locator("legend").innerText()).toBe(
      "api-east is serving 85 requests a second. Restart it now? (yes/no)",
    );
    expect(await tab.questions.getByRole("timer").innerText()).toMatch(/^expires in (15 min 0 s|14 min 5\d s)$/);
    expect(await tab.page.locator(".tool .state").last().innerText()).toBe("asks you");
    expect(await tab.composer.isDisabled()).toBe(true);
    const box = tab.questions.getByRole("textbox", { name: "Answer" });
    expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    await tab.picture("console-3-question");
    await box.fill("yes");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(await tab.last.innerText()).toBe("api-east was restarted; 85 requests a second moved over meanwhile.");
    expect(await tab.page.locator(".timeline figcaption").innerText()).toMatch(
      /^One turn, 2 runs, held once for [\d.]+ m?s\.$/,
    );
    await tab.picture("console-4-answered");
  });

  it("denies an approval, and nothing runs", async () => {
    await tab.sayUntilAsked("Deploy api-west");
    expect(await tab.questions.locator("legend").innerText()).toBe(
      'Approve deploy_service({"service":"api-west","version":"4.2.0"})?',
    );
    const choices = tab.questions.locator(".choices button");
    expect(await choices.allInnerTexts()).toEqual(["Approve", "Deny", "Always approve", "Edit the arguments"]);
    await tab.picture("console-5-approval");
    await tab.button("Deny").click();
    await tab.idle();
    expect(await tab.page.locator(".tool .result").last().innerText()).toContain("User denied the tool call request");
    await tab.picture("console-6-denied");
  });

  it("edits the arguments of a call before it approves it", async () => {
    await tab.sayUntilAsked("Deploy api-west");
    await tab.button("Edit the arguments").click();
    const version = tab.questions.getByRole("textbox", { name: "version" });
    expect(await version.inputValue()).toBe("4.2.0");
    await version.fill("4.1.9");
    await tab.picture("console-7-edit");
    await tab.button("Approve with these arguments").click();
    await tab.idle();
    // Denied a moment ago: it still had its first version.
    expect(await tab.last.innerText()).toBe("api-west went from 4.1.0 to 4.1.9.");
    await tab.picture("console-8-edited");
  });

  it("answers several questions at once", async () => {
    await tab.sayUntilAsked("Restart both");
    expect(await tab.questions.locator("legend").allInnerTexts()).toEqual([
      "api-west is serving 120 requests a second. Restart it now? (yes/no)",
      "api-east is serving 85 requests a second. Restart it now? (yes/no)",
    ]);
    const [first, second] = await tab.questions.getByRole("textbox").all();
    await first?.fill("yes");
    await tab.button("Send answers").click();
    // Both are asked for: one without an answer is pointed at, and nothing is sent.
    expect(await tab.questions.locator(".field-error").allInnerTexts()).toEqual(["An answer is missing."]);
    expect(await second?.evaluate((element) => element === document.activeElement)).toBe(true);
    await second?.fill("no");
    await tab.picture("console-9-several");
    await tab.button("Send answers").click();
    await tab.idle();
    expect(await tab.last.innerText()).toBe(
      "api-west was restarted; 120 requests a second moved over meanwhile. api-east was left running.",
    );
  });

  it("sees a question expire", async () => {
    await tab.sayUntilAsked("Page somebody");
    await tab.idle();
    expect(await tab.last.innerText()).toBe("The question expired.\n\nSend a new message to go on.");
    expect(await tab.page.locator(".item.answers").last().innerText()).toBe(
      "Is anyone there about api-west?\nnot answered",
    );
    await tab.picture("console-10-expired");
  });

  it("gets its question back after a reload, and answers it", async () => {
    await tab.sayUntilAsked("Restart api-west");
    const kept = await tab.page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(kept).not.toContain("proof");
    await tab.page.reload();
    await tab.questions.waitFor();
    expect(await tab.questions.locator("legend").innerText()).toBe(
      "api-west is serving 120 requests a second. Restart it now? (yes/no)",
    );
    expect(await tab.page.locator(".item.user").count()).toBeGreaterThan(5);
    await tab.picture("console-11-reloaded");
    await tab.questions.getByRole("textbox").fill("yes");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(await tab.last.innerText()).toBe("api-west was restarted; 120 requests a second moved over meanwhile.");
  });

  it("gives a question up", async () => {
    await tab.sayUntilAsked("Restart api-west");
    await tab.button("Give up").click();
    await tab.idle();
    expect(await tab.last.innerText()).toBe("The turn was cancelled.");
  });

  it("waits for a reply to a turn that ended with a question", async () => {
    await tab.say("Deploy");
    await tab.button("Reply").waitFor();
    expect(await tab.last.innerText()).toBe("Which production service should I deploy: api-west or api-east?");
    expect(await tab.page.locator(".waits").innerText()).toContain("Waiting for your reply.");
    await tab.picture("console-12-input-required");
    // Nothing is held: another page sees no held turn of it, and this one may be loaded anew.
    await tab.page.reload();
    await tab.button("Reply").waitFor();
    await tab.sayUntilAsked("api-east");
    await tab.button("Approve").click();
    await tab.idle();
    expect(await tab.last.innerText()).toBe("api-east went from 4.1.0 to 4.2.0.");
    expect(await tab.page.locator(".waits").count()).toBe(0);
    await tab.picture("console-13-replied");
  });

  it("shows what went over the wire, to be copied without proofs", async () => {
    await tab.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await tab.sayUntilAsked("Restart api-west");
    await tab.page.getByRole("tab", { name: "Events" }).click();
    await tab.button("Copy all").click();
    await tab.page.getByText("Copied, without proofs.").waitFor();
    const copied = await tab.page.evaluate(() => navigator.clipboard.readText());
    const lines = copied.split("\n").map((line) => /^\S+ ([→←]) (\{.*\})$/.exec(line));
    const events = lines.map((line) => ({ direction: line?.[1], event: JSON.parse(line?.[2] ?? "") }));
    expect(events.at(-1)?.event).toMatchObject({
      type: "RUN_FINISHED",
      outcome: { type: "interrupt", interrupts: [{ metadata: { holdline: { proof: "(left out of the log)" } } }] },
    });
    const { event: sent } = events.find(({ direction, event }) => direction === "→" && "resume" in event) ?? {};
    expect(sent.resume).toEqual([
      {
        interruptId: expect.stringMatching(/^int_/),
        status: "resolved",
        payload: true,
        metadata: { holdline: { proof: "(left out of the log)" } },
      },
    ]);
    await tab.picture("console-14-events");
    await tab.button("Give up").click();
    await tab.idle();
  });

  it("shows the held turns, tools, numbers and options to whoever is on this machine", async () => {
    await tab.sayUntilAsked("Restart api-west");
    await tab.page.getByRole("link", { name: "Admin" }).click();
    const row = tab.page.locator("#held-turns ~ table tbody tr");
    await row.waitFor();
    expect(await row.count()).toBe(1);
    expect(await row.innerText()).toMatch(/browser-[\da-f]{8}…\s+api-west is serving 120 requests a second/);
    expect(await tab.page.locator(".tools dt").allInnerTexts()).toEqual([
      "deploy_service",
      "restart_service",
      "page_on_call",
      "request_input\ndefault description",
    ]);
    expect(await tab.page.locator(".tools .behaviour").first().innerText()).toBe(
      "needs approval; arguments may be edited; “always” approves later calls in the same turn",
    );
    const facts = await tab.page.locator(".facts").allInnerTexts();
    expect(facts.join("\n")).toMatch(/engine\s+scripted[\s\S]*retention\.ttlMs\s+900000[\s\S]*humanInTheLoop/);
    await tab.picture("console-15-admin");
    await tab.page.getByRole("link", { name: "Chat" }).click();
    await tab.button("Give up").click();
    await tab.idle();
  });

  it("spoke to its own server only, and nothing was complained of", () => {
    tab.expectQuiet(project.url);
    expect(project.said()).not.toMatch(/warn|error/i);
  });
});
