/** docs/clients.md: its commands are typed into a shell, its programs run against a server, with both versions of the client. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { serve } from "../../adapters/node.ts";
import { createHandler, type HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { build } from "../support/child.ts";
import { temporaryFolder } from "../support/command.ts";
import { closeAfterTest } from "../support/listen.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder, runProgram } from "../support/programs.ts";
import { readRecorded } from "../support/recorded-stream.ts";
import { answerTo, endOf, giveUp, soleInterrupt, twoInterrupts } from "../support/runs.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const page = pageUnderTest("docs/clients.md");
const folder = new ProgramFolder("clients");
afterAll(() => folder.dispose());
beforeAll(build);
const ADDRESS = "http://127.0.0.1:8787/";
const OLD = "@ag-ui/client 0.0";
const NEW = "@ag-ui/client 1.0";
const programs = {
  helpers: page.take(NEW, "ts"),
  echoing: page.take(OLD, "ts"),
  routing: page.take("Several processes", "ts"),
};

/** A server of an agent that asks one question, and what the agent heard. */
async function served(options: Partial<HandlerOptions> = {}) {
  const heard: unknown[] = [];
  const handler = createHandler({
    agent: async (context) => {
      const answer = await context.input("Book LH441? (yes/no)");
      heard.push(answer);
      await context.text(answer === "yes" ? "Booked." : "Not booked.");
    },
    ...options,
  });
  const { url, close } = await serve(handler);
  closeAfterTest(close);
  return { url, handler, heard };
}

/** Runs a program of the page as it stands, against a server of the test's own. */
function ran(program: string, url: string, client = "@ag-ui/client") {
  expect(program).toContain(`"${ADDRESS}"`);
  return runProgram(process.execPath, [
    folder.compile(program.replaceAll(ADDRESS, url).replace('from "@ag-ui/client"', `from "${client}"`)),
  ]);
}

describe("docs/clients.md", () => {
  it("asks and answers from a shell", async () => {
    const { url, heard } = await served();
    const commands = [page.take("curl", "sh"), page.take("curl", "sh")].map((text) => text.replaceAll(ADDRESS, url));
    const shell = temporaryFolder("clients");
    const { code, stdout, stderr } = await runProgram("bash", ["-c", `cd ${shell} && ${commands.join("\n")}`]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const asked = JSON.parse(/-d '(.*)' >/.exec(commands[0] ?? "")?.[1] ?? "");
    const seen = new Set<string>();
    const first = await readRecorded(readFileSync(join(shell, "asked.txt")), asked, seen);
    expect(first.at(-1)?.outcome.interrupts).toHaveLength(1);
    const second = await readRecorded(stdout, { threadId: "thread-1", runId: "run-2", messages: [] }, seen);
    expect(second.find(({ delta }) => delta !== undefined)).toMatchObject({ delta: "Booked." });
    expect(heard).toEqual(["yes"]);
  });

  it.each(["@ag-ui/client", "ag-ui-client-0"])("answers with the helpers: %s", async (client) => {
    const { url, heard } = await served();
    expect(await ran(programs.helpers, url, client)).toEqual({ code: 0, stdout: "Booked.\n", stderr: "" });
    expect(heard).toEqual(["yes"]);
  });

  it("gives up with the helpers, and is told of a refusal", async () => {
    const other = await served({ agent: async (context) => context.input("Cancel?") });
    expect((await ran(programs.helpers, other.url)).stdout).toBe("Book me a flight\n");
    expect(other.handler.stats()).toMatchObject({ abandoned: 1, answered: 0 });
    const strict = await served({
      agent: async (context) => context.input("Book it?", { jsonSchema: { type: "number" } }),
    });
    expect((await ran(programs.helpers, strict.url)).stdout).toBe("INTERRUPT_PAYLOAD_REFUSED\n");
  });

  it.each(["@ag-ui/client", "ag-ui-client-0"])("answers by id alone with echoProofs(): %s", async (client) => {
    const { url, heard } = await served();
    expect(await ran(programs.echoing, url, client)).toEqual({ code: 0, stdout: "Booked.\n", stderr: "" });
    expect(heard).toEqual(["yes"]);
    const bare = programs.echoing.replace("client.use(echoProofs());\n", "");
    expect((await ran(bare, url, client)).stdout).not.toBe("Booked.\n");
    expect(heard).toEqual(["yes"]);
    const lenient = await served({ proof: "when-present", onWarning: () => {} });
    expect((await ran(bare, lenient.url, client)).stdout).toBe("Booked.\n");
  });

  it("says what the client does by itself", async () => {
    const { url, handler } = await served({
      agent: async (context) => {
        const all = [context.input("A?", { jsonSchema: {} }), context.input("B?", { jsonSchema: {} })];
        return Promise.all(all);
      },
    });
    const client = new HttpAgent({ url, threadId: "thread-1" });
    await client.runAgent();
    const [first, second] = client.pendingInterrupts;
    if (first === undefined || second === undefined) throw new Error("Two were to be asked.");
    await expect(client.runAgent({ resume: [answerTo(first, "a")] })).rejects.toThrow();
    expect(handler.stats().refused).toEqual({});
    // Left out on the way, as the server sees.
    await client.runAgent({ resume: [answerTo(first, "a"), answerTo(second, null)] });
    expect(handler.stats().refused).toEqual({ INTERRUPT_PAYLOAD_REFUSED: 1 });
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_000_000 });
    await expect(client.runAgent({ resume: [answerTo(first, "a"), answerTo(second, "b")] })).rejects.toThrow();

    expect(handler.stats().refused).toEqual({ INTERRUPT_PAYLOAD_REFUSED: 1 });
  });

  it("names the thread in a header", async () => {
    const seen: (string | null)[] = [];
    const { url } = await served({
      identify: (request) => {
        seen.push(request.headers.get("x-holdline-thread"));
        return null;
      },
    });
    const { client } = await folder.load(programs.routing.replace(ADDRESS, url));
    await client.runAgent();
    expect(seen).toEqual(["thread-1"]);
  });

  it("reads what an older client sends", async () => {
    const tested = agentUnderTest(async (context) => context.input("A?", { jsonSchema: {} }));
    const asked = soleInterrupt(await tested.run("go"));
    const old = { protocolVersion: undefined as never, forwardedProps: null as never };
    expect(endOf(await tested.answer(asked, null, old))).toBe("success");
    expect(tested.warnings.map(({ code }) => code)).toEqual(["INPUT_LEGACY"]);
  });

  it("says what a deadline and a reload come to", async () => {
    const tested = agentUnderTest(async (context) =>
      Promise.allSettled([context.input("A?"), context.input("B?", { timeoutMs: 1_000 })]),
    );
    const anna = { identity: "anna" };
    const [a, b] = twoInterrupts(await tested.run("go", anna));
    await tested.clock.advance(1_000);
    expect(soleInterrupt(await tested.run("hello?", anna))).toEqual(a);
    expect(endOf(await tested.resume([giveUp({ ...a, metadata: {} })], {}, anna))).toBe("INTERRUPT_NOT_PROVEN");
    await tested.resume([answerTo(a, "a"), answerTo(b, "b")], {}, anna);
    expect(tested.warnings.map(({ code }) => code)).toEqual(["RESUME_ENTRY_IGNORED"]);

    // Nobody in particular has to wait.
    twoInterrupts(await tested.run({ threadId: "thread-2" }));
    expect(endOf(await tested.run({ threadId: "thread-2" }))).toBe("INTERRUPT_NOT_COVERED");
    await tested.clock.advance(900_000);
    expect(endOf(await tested.run({ threadId: "thread-2" }))).toBe("interrupt");
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
