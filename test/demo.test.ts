/** The demo as a newcomer meets it: the commands it prints are typed as they are, and its own check is checked. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { WireEvent } from "../src/testing/index.ts";
import { ConsoleTab, useBrowser } from "./support/browser.ts";
import { runProgram } from "./support/programs.ts";
import { type PostedInput, readRecorded } from "./support/recorded-stream.ts";

// Every test waits for processes to start and end; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const root = fileURLToPath(new URL("../", import.meta.url));
const server = "examples/human-input/server.mjs";
const preload = new URL("./fixtures/broken-handler/preload.mjs", import.meta.url);

interface Exchange {
  /** The words it was announced with. */
  readonly title: string;
  readonly input: PostedInput;
  readonly events: WireEvent[];
}

/** Every exchange that `--once` printed, its stream checked. */
async function exchangesIn(printed: string): Promise<Exchange[]> {
  const seen = new Set<string>();
  const exchanges: Exchange[] = [];
  for (const part of printed.split(/^── /m).slice(1)) {
    const title = part.slice(0, part.indexOf("\n"));
    for (const posted of part.split(/^POST /m).slice(1)) {
      const [json = "", ...blocks] = posted.split("\n\n");
      const input: PostedInput = JSON.parse(json);
      const body = blocks.filter((block) => /^(data: |:)/.test(block)).map((block) => `${block}\n\n`);
      exchanges.push({ title, input, events: await readRecorded(body.join(""), input, seen) });
    }
  }
  return exchanges;
}

/** The types of its events; a message counts the same in however many pieces it came. */
const typesOf = (exchange: Exchange | undefined) =>
  exchange?.events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

beforeAll(() => {
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
});

describe("npm run demo -- --once", () => {
  it("drives every way of asking over a socket, prints each frame, and exits with 0", async () => {
    const { code, stdout, stderr } = await runProgram("npm", ["run", "demo", "--", "--once"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const exchanges = await exchangesIn(stdout);
    expect(exchanges.map(({ title, events }) => `${title} → ${endOf(events)}`)).toEqual([
      "Ask in the middle of a tool → interrupt",
      "Answer: the same function goes on, with the seat that it holds → success",
      "Ask for an approval → interrupt",
      "Deny it: the tool does not run → success",
      "Ask two questions at once → interrupt",
      "Answer them in the other order: each tool gets its own answer → success",
      "Ask, to be answered with a proof that is not the one issued → interrupt",
      "The answer is refused, and nothing has happened → INTERRUPT_NOT_PROVEN",
      "The answer is refused, and nothing has happened → success",
      "The right answer still works → success",
      "End the turn with a question: nothing is held → success",
      "The reply is an ordinary new turn → success",
      "What the agent counted: one turn for each question that was asked and answered → success",
    ]);
    const [ask, answer] = exchanges;
    const sentence = ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"];
    const call = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];
    const search = [...call, "TOOL_CALL_RESULT"];
    expect(typesOf(ask)).toEqual([
      "RUN_STARTED",
      ...sentence,
      ...search,
      ...sentence,
      ...call,
      ...sentence,
      "RUN_FINISHED",
    ]);
    expect(typesOf(answer)).toEqual(["RUN_STARTED", "TOOL_CALL_RESULT", ...sentence, "RUN_FINISHED"]);
  });

  it.each([
    ["flips the answer", "Answer: the same function goes on"],
    ["runs what was denied", "Deny it"],
    ["gives the answers in the order they were asked", "Answer them in the other order"],
    ["takes any proof", "The answer is refused"],
    ["keeps nothing after a refusal", "The answer is refused"],
    ["enters the agent twice", "What the agent counted"],
    ["leaves out the last event", "Ask in the middle of a tool"],
    ["says what the protocol does not know", "What the agent counted"],
  ])("fails on a handler that %s", async (fault, step) => {
    const { code, stdout, stderr } = await runBroken(fault);
    expect(code).toBe(1);
    expect(stderr).toContain("✗ AssertionError");
    // For this reason and no other: everything before it went well, by way of the same broken handler.
    const [last = ""] = stdout.match(/^── .*$/gm)?.slice(-1) ?? [];
    expect(last).toContain(step);
  });
});

const endOf = (events: readonly WireEvent[]) => events.at(-1)?.outcome?.type ?? events.at(-1)?.code;

const runBroken = (fault: string) =>
  runProgram(process.execPath, [server, "--once"], { DEMO_FAULT: fault, NODE_OPTIONS: `--import ${preload.href}` });

describe("npm run demo", () => {
  useBrowser();
  const started: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null) continue;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    }
  });

  /** Starts the server and gives what it prints: the next command that matches, whole, as soon as it is there. */
  function start(env: Record<string, string> = { PORT: "0" }) {
    const child = spawn(process.execPath, [server], { cwd: root, env: { ...process.env, ...env } });
    started.push(child);
    const exited = once(child, "exit").then(([code]) => code as number);
    let said = "";
    let heard = () => {};
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        said += chunk;
        heard();
      });
    }
    const find = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const found = pattern.exec(said);
        if (found !== null) return found[1] ?? found[0];
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    };
    return { find, exited, said: () => said };
  }

  /** Types a command as printed, in a shell. */
  async function type(command: string): Promise<WireEvent[]> {
    const { code, stdout, stderr } = await runProgram("bash", ["-c", command]);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    return readRecorded(stdout, JSON.parse(/-d '(.*)'$/s.exec(command)?.[1] ?? ""));
  }
  const startOf = (threadId: string) => new RegExp(`^curl .*"threadId":"${threadId}","runId":"run-1".*\\n`, "m");
  const nextOf = (threadId: string) => new RegExp(`^curl .*"threadId":"${threadId}","runId":"run-2".*\\n`, "m");
  const typed = async (find: Promise<string>) => type((await find).trimEnd());
  const textOf = (events: readonly WireEvent[]) => events.map(({ delta }) => delta ?? "").join("");

  it("prints the command that asks and the one that answers, and the same function goes on", async () => {
    const { find, said } = start();
    const asked = await typed(find(startOf("book")));
    expect(asked.at(-1)?.outcome.interrupts).toMatchObject([{ message: "Book LH441? (yes/no)" }]);
    const [seat = "none"] = /seat \d+C/.exec(textOf(asked)) ?? [];
    expect(said()).toContain(`book_flight holds ${seat} in a local variable, and asks`);

    const answered = await typed(find(nextOf("book")));
    expect(answered.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      toolCallId: asked.at(-1)?.outcome.interrupts[0].toolCallId,
      content: `Booked: ${seat} on LH441.`,
    });
    expect(await find(/book_flight goes on where it stopped.*/)).toContain(`with ${seat}`);
    expect(said().match(/the agent's function is entered/g)).toHaveLength(1);
  });

  it("prints commands that work for every other way of asking", async () => {
    const { find, said } = start();
    for (const [threadId, end] of [
      ["refund", "412 EUR for K7Q2MX are on their way."],
      ["trip", /^Booked: seat \d+C on LH441\. 2 nights in Frankfurt\.$/],
      ["choose", 'LH429 it is. Write "book" and I will ask once more before I do.'],
    ] as const) {
      await typed(find(startOf(threadId)));
      const after = await typed(find(nextOf(threadId)));
      expect(textOf(after)).toMatch(end);
      expect(after.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    }
    // Typed by mistake: the thread waits for its answer, and the server says whose.
    await typed(find(startOf("book")));
    await typed(find(startOf("book")));
    expect(said()).toMatch(/ book {4}run-1 is refused or has failed, INTERRUPT_NOT_COVERED: /);
    const report = await typed(find(startOf("report")));
    expect(report.at(-1)?.result).toEqual({
      turns: 6,
      seatsHeld: 2,
      flightsBooked: 1,
      nightsBooked: 2,
      refunds: 1,
      seatsHeldNow: 1,
    });
  });

  it("serves a page to talk to it with, whose reload gives the open question back", async () => {
    const { find, said } = start();
    const url = await find(/^A travel desk is served at (\S+)/m);
    const tab = await ConsoleTab.open(url);
    await tab.sayUntilAsked("Book me a flight to Frankfurt");
    await tab.page.reload();
    await tab.questions.waitFor();
    await tab.questions.getByRole("textbox").fill("yes");
    await tab.button("Send answer").click();
    await tab.idle();
    expect(await tab.last.innerText()).toMatch(/booked/i);
    expect(said().match(/is entered|asks, too|books |goes on where/g)).toEqual([
      "is entered",
      "goes on where",
      "books ",
    ]);
    tab.expectQuiet(url);
    await tab.close();
  });

  it("says which port it may have when its own is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const { exited, said } = start({ PORT: String(port) });
    expect(await exited).toBe(1);
    expect(said()).toBe(`Port ${port} is taken. Choose another one: PORT=${port + 1} npm run demo\n`);
    other.close();
  });
});
