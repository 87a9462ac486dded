/** Every example as its reader starts it: the commands of its first comment, in a project that has installed the package. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Interrupt } from "@ag-ui/core";
import { buildSync } from "esbuild";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { WireEvent } from "../../src/testing/index.ts";
import { bundle } from "../support/bundle-fixture.ts";
import { startProcess } from "../support/child.ts";
import { commandsOf, installExample, serveExample, typeRun } from "../support/example.ts";
import { pack } from "../support/installed.ts";
import { closeAfterTest } from "../support/listen.ts";
import { startWorker } from "../support/miniflare.ts";
import { exchange, inputOf, requestOf } from "../support/open-exchange.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The questions a run ended with. */
const questionsOf = (events: readonly WireEvent[]): Interrupt[] => events.at(-1)?.outcome?.interrupts ?? [];
const soleQuestion = (events: WireEvent[]) => soleInterrupt({ interrupts: questionsOf(events), events });

/** Bounds that exist only so that a failure ends. */
const patiently = { timeout: 30_000, interval: 20 };

beforeAll(async () => {
  await pack();
});

describe("examples", () => {
  it("have a test each", () => {
    const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(root, "test", name), "utf8"));
    const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(examples.length).toBeGreaterThan(8);
    const untested = examples.filter(({ name }) => {
      const own = readdirSync(join(root, "examples", name)).some((file) => file.endsWith(".test.ts"));
      const started = new RegExp(`(?:Example\\("|["}]examples/)${name}["/]`);
      return !own && !tests.some((text) => started.test(text));
    });
    expect(untested.map(({ name }) => name)).toEqual([]);
  });
});

describe("the example for Hono", () => {
  it("asks the one who is calling, and takes nobody else's answer", async () => {
    const { url, running, ask } = await serveExample("hono/server.mjs");
    const question = soleQuestion(await ask());
    expect(question.message).toBe("A window or an aisle seat, ada?");

    const resume = [answerTo(question, "window")];
    const as = (secret: string) => ({ url, headers: { authorization: `Bearer ${secret}` } });
    expect((await fetch(url, { method: "POST", headers: as("no-secret").headers })).status).toBe(401);
    expect(endOf(await exchange(fetch, { resume }, as("bob-secret")))).toBe("INTERRUPT_NOT_HELD (unknown)");
    expect((await exchange(fetch, { resume }, as("ada-secret"))).text).toBe("It is a seat at the window then.");

    running.child.kill("SIGTERM");
    expect(await running.exited).toMatchObject({ code: 0 });
  });
});

describe("the example for Express", () => {
  it("refunds what was approved, with the arguments that its human changed", async () => {
    const { url, running, ask } = await serveExample("express/server.mjs");
    const question = soleQuestion(await ask());
    expect(question).toMatchObject({ message: "Refund 412 EUR for K7Q2MX?", reason: "tool_approval" });

    // The process has been told to end, and lets the open question be answered.
    running.child.kill("SIGTERM");
    // On the thread that waits a plain run is refused, and nothing happens; once closing, every one.
    const plain = async () => (await fetch(requestOf(inputOf(), { url }))).status;
    await expect.poll(plain, patiently).toBe(503);
    const edited = { approved: true, editedArgs: { booking: "K7Q2MX", euros: 100 } };
    const run = await exchange(fetch, { resume: [answerTo(question, edited)] }, { url });
    expect(run.text).toBe("100 EUR for K7Q2MX are on their way.");
    expect(await running.exited).toMatchObject({ code: 0 });
  });
});

describe("the example for Next.js", () => {
  /** The route's module as Next has it: compiled, beside the package as it is installed. */
  async function load() {
    const commands = commandsOf("examples/next/app/agent/route.ts");
    const folder = await installExample("next", commands);
    const outfile = join(folder, "app/agent/route.mjs");
    buildSync({ entryPoints: [join(folder, "app/agent/route.ts")], outfile, format: "esm", platform: "node" });
    type Route = Record<"GET" | "POST" | "OPTIONS", (request: Request, context: unknown) => Promise<Response>>;
    const context = { params: Promise.resolve({}) };
    return async (edit = "") => {
      const route: Route = await import(/* @vite-ignore */ `${pathToFileURL(outfile)}${edit}`);
      return {
        curl: commands.curl,
        exported: Object.keys(route).sort(),
        call: (request: Request) => route[request.method as keyof Route](request, context),
      };
    };
  }

  it("asks with a form, by the functions that Next calls, and goes on when its file was loaded anew", async () => {
    const loaded = await load();
    const { call, curl, exported } = await loaded();
    expect(exported).toEqual(["GET", "OPTIONS", "POST", "dynamic", "runtime"]);
    const { pathname, href } = new URL(/http:\S+/.exec(curl)?.[0] ?? "");
    // The folder is the route.
    expect(existsSync(join(root, `examples/next/app${pathname}/route.ts`))).toBe(true);
    const capabilities = await call(new Request(href));
    expect(await capabilities.json()).toMatchObject({ humanInTheLoop: { interrupts: true } });
    expect((await call(new Request(href, { method: "OPTIONS" }))).status).toBe(204);

    const asked = await exchange(call, JSON.parse(/-d '(.*)'$/.exec(curl)?.[1] ?? ""), { url: href });
    const question = soleInterrupt(asked);
    expect(question.responseSchema).toMatchObject({ type: "integer", maximum: 30 });
    const { call: callAnew } = await loaded("?edited");
    const refused = await exchange(callAnew, { resume: [answerTo(question, 31)] }, { url: href });
    expect(endOf(refused)).toBe("INTERRUPT_PAYLOAD_REFUSED");
    const answered = await exchange(callAnew, { resume: [answerTo(question, 2)] }, { url: href });
    expect(answered.text).toBe("2 nights are 190 EUR.");
  });
});

describe("the example for Bun", () => {
  it("asks twice at once, and tells its health until it has ended", async () => {
    const { url, running, ask } = await serveExample("bun/server.ts");
    const questions = questionsOf(await ask());
    expect(questions.map(({ message }) => message)).toEqual(["When to FRA?", "When back to OSL?"]);
    const health = async () => (await fetch(new URL("/health", url))).status;
    expect(await health()).toBe(200);
    running.child.kill("SIGTERM");
    await expect.poll(health, patiently).toBe(503);
    const [there, back] = questions as [Interrupt, Interrupt];
    const resume = [answerTo(back, "on Friday"), answerTo(there, "on Monday")];
    expect((await exchange(fetch, { resume }, { url })).text).toBe("There on Monday, back on Friday.");
    expect(await running.exited).toMatchObject({ code: 0 });
  });
});

describe("the example for Deno", () => {
  it("asks, and goes on with the answer, with no permission but the network", async () => {
    const { url, running, ask } = await serveExample("deno/server.ts");
    const question = soleQuestion(await ask());
    const seconds = (Date.parse(String(question.expiresAt)) - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await exchange(fetch, { resume: [answerTo(question, "yes")] }, { url })).text).toBe("Booked.");
    running.child.kill("SIGTERM");
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(running.output).toBe(`The agent is at ${url}\n`);
  });
});

describe("the example for Workers", () => {
  it("ends its turn with the question, and takes the next message for the answer", async () => {
    const commands = commandsOf("examples/workers/worker.ts");
    const folder = await installExample("workers", commands);
    const settings = readFileSync(join(folder, "wrangler.toml"), "utf8");
    const [, main = ""] = /^main = "(.*)"$/m.exec(settings) ?? [];
    const [, flags = ""] = /^compatibility_flags = (\[.*\])$/m.exec(settings) ?? [];
    const miniflare = startWorker(await bundle(join(folder, main), "worker"), {
      compatibilityFlags: JSON.parse(flags),
    });
    closeAfterTest(() => miniflare.dispose());
    const { href: url } = await miniflare.ready;

    const asked = await typeRun(commands.curl, url);
    const message = "Which one do you mean, api-west or api-east?";
    expect(asked.at(-1)).toMatchObject({ result: { status: "input-required", message }, outcome: { type: "success" } });
    const messages = [{ id: "message-2", role: "user" as const, content: "api-east" }];
    expect((await exchange(fetch, { messages }, { url })).text).toBe("api-east it is.");
  });
});

describe("the example of a process among several", () => {
  it("asks, and lets its questions be answered while it drains", async () => {
    const folder = await installExample("deploy", { packages: [] });
    const env = { ...process.env, PORT: "0" };
    const running = startProcess(process.execPath, ["server.mjs"], { cwd: folder, env });
    const url = await running.said(/^An agent is at (http:\S+)$/m);
    const question = soleInterrupt(await exchange(fetch, {}, { url }));
    const health = async () => (await fetch(new URL("/health", url))).status;
    expect(await health()).toBe(200);
    running.child.kill("SIGTERM");
    await expect.poll(health, patiently).toBe(503);
    expect((await exchange(fetch, { resume: [answerTo(question, "yes")] }, { url })).text).toBe("Booked.");
    // A second signal ends it at once: its drain takes ten seconds.
    running.child.kill("SIGTERM");
    expect(await running.exited).toMatchObject({ code: 1 });
  });
});
