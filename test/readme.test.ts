/** What README.md shows is run: its programs, its documents, its commands. Its tables are held in readme-tables.test.ts, its links in docs/pages.test.ts. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { WireEvent } from "../src/testing/index.ts";
import { codesIn } from "./support/markdown.ts";
import { pageUnderTest } from "./support/page-under-test.ts";
import { freePort, ProgramFolder, runProgram } from "./support/programs.ts";
import { type PostedInput, readRecorded } from "./support/recorded-stream.ts";

// Most tests wait for processes to start and end; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const root = fileURLToPath(new URL("../", import.meta.url));
const page = pageUnderTest("README.md");
const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** The blocks of one language under a heading. */
const blocksOf = (heading: string, language: string) =>
  page.blocks.filter((block) => block.heading === heading && block.language === language).map(({ text }) => text);
const [firstProgram = ""] = blocksOf("Holdline", "ts");
const [turnControl = ""] = blocksOf("Turn control", "ts");
const [approvals = ""] = blocksOf("Approvals", "ts");

const folder = new ProgramFolder("readme");
const PORT = "8787";

/** Starts a program on a port of its own. */
async function serve(program: string): Promise<string> {
  expect(program).toContain(PORT);
  return folder.serve(program.replaceAll(PORT, String(await freePort())));
}

async function post(url: string, input: PostedInput): Promise<WireEvent[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  return readRecorded(await response.text(), input);
}

/** What the placeholders of the documents stood for; one name stands for one value. */
type Bound = Map<string, unknown>;

/** A document with its placeholders filled: with what they stood for, else with what stands in their place. */
function filled(document: unknown, actual: unknown, bound: Bound): unknown {
  if (typeof document === "string" && /^<\w+>$/.test(document)) {
    if (!bound.has(document)) bound.set(document, actual);
    return bound.get(document);
  }
  if (typeof document !== "object" || document === null) return document;
  const at = (key: string | number) => (actual as Record<string | number, unknown> | undefined)?.[key];
  if (Array.isArray(document)) return document.map((element, index) => filled(element, at(index), bound));
  return Object.fromEntries(Object.entries(document).map(([key, value]) => [key, filled(value, at(key), bound)]));
}

beforeAll(() => {
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
});
afterAll(() => folder.dispose());

describe("README.md", () => {
  it("begins with a whole program and the two commands of a fresh clone", () => {
    expect(page.blocks.slice(0, 3)).toEqual([
      { heading: "Holdline", language: "ts", text: firstProgram },
      { heading: "Holdline", language: "sh", text: "npm ci && npm run demo\n" },
      { heading: "Holdline", language: "sh", text: "npm ci && npm test\n" },
    ]);
    expect(manifest.scripts).toMatchObject({ demo: expect.any(String), test: expect.any(String) });
    expect(page.prose.get("Holdline")).toContain(`runs on Node ${manifest.engines.node.slice(2, -2)} or later`);
    // Nobody is bitten before they have read it.
    expect(page.headings.indexOf("Limits")).toBe(1);
  });

  it("has no block that the tests below do not run", () => {
    expect(page.blocks.map(({ heading, language }) => `${heading}: ${language}`)).toEqual([
      "Holdline: ts",
      "Holdline: sh",
      "Holdline: sh",
      "How a question crosses the wire: json",
      "How a question crosses the wire: json",
      "How a question crosses the wire: json",
      "How a question crosses the wire: json",
      "How a question crosses the wire: sh",
      "Refusals: json",
      "Turn control: ts",
      "Turn control: json",
      "Approvals: ts",
      "Clients: ts",
      "Adapters: ts",
      "Testing an agent: ts",
    ]);
  });
});

describe("the documents of README.md", () => {
  it("are what the first program sends and takes", async () => {
    const url = await serve(firstProgram);
    const [run, asks, resume, ends] = blocksOf("How a question crosses the wire", "json").map((text) =>
      JSON.parse(text),
    );
    const bound: Bound = new Map();

    const asked = await post(url, run);
    expect(asked.at(-1)).toEqual(filled(asks, asked.at(-1), bound));
    expect(bound.get("<id>")).toMatch(/^int_[\w-]{31}$/);
    expect(bound.get("<proof>")).toMatch(/^[\w-]{43}$/);
    const fifteenMinutes = Date.parse(bound.get("<date>") as string) - Date.now();
    expect(fifteenMinutes).toBeGreaterThan(890_000);
    expect(fifteenMinutes).toBeLessThanOrEqual(900_000);

    const answer = filled(resume, undefined, bound) as PostedInput;
    const answered = await post(url, answer);
    expect(answered.at(-1)).toEqual(ends);
    expect(answered.find(({ type }) => type === "TEXT_MESSAGE_CONTENT")).toMatchObject({ delta: "Booked." });

    const [refusal = ""] = blocksOf("Refusals", "json");
    expect(await post(url, answer)).toEqual([JSON.parse(refusal)]);
  });

  it("are what a turn ends with that asks by its result", async () => {
    const url = await serve(turnControl);
    const [asks = ""] = blocksOf("Turn control", "json");
    const input = { threadId: "thread-1", runId: "run-1", messages: [] };
    const asked = await post(url, input);
    expect(asked.at(-1)).toEqual(JSON.parse(asks));
    expect(asked.find(({ delta }) => delta !== undefined)).toMatchObject({ delta: JSON.parse(asks).result.message });

    const messages = [{ id: "message-1", role: "user" as const, content: "In the morning" }];
    const next = await post(url, { ...input, runId: "run-2", messages });
    expect(next.find(({ delta }) => delta !== undefined)).toMatchObject({ delta: "Let me see what flies then." });
    expect(next.at(-1)).toMatchObject({ outcome: { type: "success" } });
  });

  it("answer an approval as the table says", async () => {
    const plain = await serve(approvals);
    const editable = await serve(approvals.replace("approval: true", "approval: { allowEdits: true }"));
    let runs = 0;
    async function decide(url: string, payload: unknown): Promise<unknown> {
      const threadId = `thread-${++runs}`;
      const asked = await post(url, { threadId, runId: "run-1", messages: [] });
      const [{ id, metadata }] = asked.at(-1)?.outcome.interrupts ?? [];
      const resume = [{ interruptId: id, status: "resolved" as const, payload, metadata }];
      const answered = await post(url, {
        threadId,
        runId: "run-2",
        messages: [],
        protocolVersion: undefined as never,
        resume,
      });
      return answered.find(({ type }) => type === "TOOL_CALL_RESULT")?.content ?? answered.at(-1)?.code;
    }
    const rows = page.tables.find(({ heading }) => heading === "Approvals")?.rows ?? [];
    const payloads = rows.map(([cell = ""]) => codesIn(cell).map((code) => JSON.parse(code)));
    expect(payloads.map((row) => row.length)).toEqual([6, 3, 1, 3]);
    const [approved = [], denied = [], edited = [], unreadable = []] = payloads;
    const refused = "INTERRUPT_PAYLOAD_REFUSED";
    for (const payload of approved) expect(await decide(plain, payload)).toBe("412 EUR for K7Q2MX are on their way.");
    for (const payload of denied) expect(await decide(plain, payload)).toBe("User denied the tool call request");
    for (const payload of [...unreadable, undefined]) expect(await decide(plain, payload)).toBe(refused);
    for (const payload of edited) {
      expect(await decide(plain, payload)).toBe(refused);
      expect(await decide(editable, payload)).toBe("100 EUR for K7Q2MX are on their way.");
    }
  });
});

describe("the programs and commands of README.md", () => {
  it("ask what is typed into a shell", async () => {
    const [command = ""] = blocksOf("How a question crosses the wire", "sh");
    const url = await serve(firstProgram);
    expect(command).toContain(` http://127.0.0.1:${PORT}/ `);
    const { code, stdout } = await runProgram("bash", ["-c", command.replace(`http://127.0.0.1:${PORT}/`, url)]);
    expect(code).toBe(0);
    const events = await readRecorded(stdout, JSON.parse(/-d '(.*)'\n$/.exec(command)?.[1] ?? ""));
    expect(events.at(-1)?.outcome.interrupts).toMatchObject([{ message: "Book LH441? (yes/no)" }]);
  });

  it("are answered by the client", async () => {
    const [client = ""] = blocksOf("Clients", "ts");
    const url = await serve(firstProgram);
    expect(client).toContain(`"http://127.0.0.1:${PORT}/"`);
    const program = folder.compile(client.replace(`http://127.0.0.1:${PORT}/`, url));
    const ran = await runProgram(process.execPath, [program]);
    expect(ran).toEqual({ code: 0, stdout: "Book LH441? (yes/no)\nBooked.\n", stderr: "" });
  });

  it("serve from Express", async () => {
    const [express = ""] = blocksOf("Adapters", "ts");
    const url = await serve(express);
    expect(new URL(url).pathname).toBe("/agent");
    const asked = await post(url, { threadId: "thread-1", runId: "run-1", messages: [] });
    const [{ id, message, metadata }] = asked.at(-1)?.outcome.interrupts ?? [];
    expect(message).toBe("What is your name?");
    const resume = [{ interruptId: id, status: "resolved" as const, payload: "Ada", metadata }];
    const answered = await post(url, { threadId: "thread-1", runId: "run-2", messages: [], resume });
    expect(answered.find(({ delta }) => delta !== undefined)).toMatchObject({ delta: "Hello, Ada." });
  });

  it("test an agent", async () => {
    const [testing = ""] = blocksOf("Testing an agent", "ts");
    const { code, stdout, stderr } = await runProgram(process.execPath, [folder.compile(testing)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\bpass 2\n/);
    // The agent is what is tested: one that never books fails.
    const broken = folder.compile(testing.replace('"Booked."', '"Not booked."'));
    expect((await runProgram(process.execPath, [broken])).code).toBe(1);
  });
});
