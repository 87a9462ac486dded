/** Pages in a real browser: headless Chromium, watched for everything it asks for and complains of. */
import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";

const images = new URL("../../docs/images/", import.meta.url);
const EXECUTABLE = process.env.HOLDLINE_CHROMIUM ?? "/usr/bin/chromium";

/** Set to take the pictures of the documentation anew. */
const TAKES_PICTURES = process.env.HOLDLINE_PICTURES !== undefined;

let browser: Browser;

/** One browser for the tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: EXECUTABLE,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
  }, 60_000);
  afterAll(() => browser?.close());
}

/** Any page in a tab. */
export class Tab {
  readonly page: Page;
  /** Of every request the page made. */
  readonly hosts = new Set<string>();
  /** What the browser complained of: errors of the page's, refused requests, policy violations. */
  readonly complaints: string[] = [];

  protected constructor(page: Page) {
    this.page = page;
    page.on("request", (request) => {
      if (!request.url().startsWith("data:")) this.hosts.add(new URL(request.url()).host);
    });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.setDefaultTimeout(15_000);
  }

  static async open(url: string, options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width: 1180, height: 760 }, ...options });
    const tab = new Tab(await context.newPage());
    await tab.page.goto(url);
    return tab;
  }

  /** It spoke to its own server and to nobody else, and nothing was complained of. */
  expectQuiet(url: string): void {
    expect([...this.hosts]).toEqual([new URL(url).host]);
    expect(this.complaints).toEqual([]);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** The console in a tab, as a person uses it. */
export class ConsoleTab extends Tab {
  static override async open(url: string, options: BrowserContextOptions = {}): Promise<ConsoleTab> {
    const context = await browser.newContext({ viewport: { width: 1180, height: 760 }, ...options });
    const tab = new ConsoleTab(await context.newPage());
    await tab.page.goto(url);
    await tab.composer.waitFor();
    return tab;
  }

  get composer(): Locator {
    return this.page.locator("#compose");
  }

  /** The form of the open questions. */
  get questions(): Locator {
    return this.page.locator("form.questions:not([inert])");
  }

  /** What was said and shown last in the conversation. */
  get last(): Locator {
    return this.page.locator(".items > .item").last();
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  async say(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  /** Says something and waits for the question that comes of it. */
  async sayUntilAsked(text: string): Promise<void> {
    await this.say(text);
    await this.questions.waitFor();
  }

  /** Waits until the human may write again. */
  async idle(): Promise<void> {
    await this.page.locator(".composer button[type=submit]").waitFor();
    await this.page.locator("#compose:not([disabled])").waitFor();
  }

  /** A picture for the documentation; taken when asked for, and known to be there otherwise. */
  async picture(name: string): Promise<void> {
    const path = fileURLToPath(new URL(`${name}.png`, images));
    if (TAKES_PICTURES) {
      mkdirSync(fileURLToPath(images), { recursive: true });
      await this.page.screenshot({ path, animations: "disabled" });
    }
    expect(existsSync(path), `docs/images/${name}.png is missing: npm run pictures`).toBe(true);
  }
}
