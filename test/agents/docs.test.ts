/** What docs/ai-sdk.md shows is run or compiled, and its tables are held to the sources. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { httpClient } from "../support/http-client.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { freePort, ProgramFolder } from "../support/programs.ts";
import { soleInterrupt } from "../support/runs.ts";
import { content, end, type OpenAiServer, openAiServer, toolCall } from "./openai-server.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = pageUnderTest("docs/ai-sdk.md");
const programs = page.blocks.map(({ text }) => text);
const folder = new ProgramFolder("ai-sdk");

const sources = [
  "src/agents/ai-sdk.ts",
  ...readdirSync(`${root}src/agents/ai-sdk`).map((name) => `src/agents/ai-sdk/${name}`),
]
  .map((path) => readFileSync(root + path, "utf8"))
  .join("\n");

/** The codes in the first cells of the table under a heading that has this first column. */
function firstCells(heading: string, column: string): string[] {
  const table = page.tables.find((one) => one.heading === heading && one.columns[0] === column);
  return (table?.rows ?? []).flatMap(([cell = ""]) => codesIn(cell));
}

let llm: OpenAiServer;
beforeAll(async () => {
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
  llm = await openAiServer();
});
afterAll(async () => {
  await folder.dispose();
  await llm?.close();
});

describe("docs/ai-sdk.md", () => {
  it("has no program that is not compiled or run", () => {
    expect(page.blocks.map(({ heading, language }) => `${heading}: ${language}`)).toEqual([
      "An agent with a model: ts",
      "Turn control: ts",
      "Limits and ends: ts",
      "Any AG-UI agent: ts",
    ]);
  });

  it("begins with a program that does what it says", async () => {
    const [first = ""] = programs;
    expect(first).toContain("http://127.0.0.1:11434/v1");
    const program = first.replace("http://127.0.0.1:11434/v1", llm.url).replace("8787", String(await freePort()));
    const client = httpClient({ url: await folder.serve(program) });

    llm.reply(
      [...toolCall(0, "a", "book_flight", '{"flight":"LH441"}'), ...end("tool_calls")],
      [...content("All set."), ...end("stop")],
    );
    const asked = await client.say("Book LH441");
    const booked = await client.answer(soleInterrupt(asked), "yes");
    expect(booked.events[1]).toMatchObject({ type: "TOOL_CALL_RESULT", content: "Booked." });
    expect(booked.text).toBe("All set.");
    expect(llm.requests[0]?.messages[0]).toMatchObject({ role: "system", content: "You book flights." });

    llm.reply(
      [...toolCall(0, "b", "send_email", '{"to":"ada","text":"hi"}'), ...end("tool_calls")],
      [...content("Mailed."), ...end("stop")],
    );
    const edits = { approved: true, editedArgs: { to: "bob", text: "hi" } };
    const mailed = await client.answer(soleInterrupt(await client.say("Mail Ada")), edits);
    expect(mailed.events[1]).toMatchObject({
      content: "Sent to bob.",
      metadata: { holdline: edits.approved && { editedArgs: edits.editedArgs } },
    });

    llm.reply([...toolCall(0, "c", "request_input", '{"prompt":"Which?","reason":"two fit"}'), ...end("tool_calls")]);
    expect((await client.say("Another")).result).toEqual({ status: "input-required", message: "Which?" });
  });

  it("lists the options and the warnings there are", () => {
    const declared = /export type AiAgentOptions[\s\S]*?\n};/.exec(sources)?.[0] ?? "";
    const options = [...declared.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name);
    expect(firstCells("Limits and ends", "option")).toEqual(options);
    const warned = [...sources.matchAll(/\bwarn\(\s*"([A-Z_]+)"/g)].map(([, code]) => code);
    expect(firstCells("Limits and ends", "warning")).toEqual([...new Set(warned)].sort());
    expect(firstCells("Approvals", "option").sort()).toEqual([
      "allowAlways",
      "allowEdits",
      "deniedMessage",
      "message",
      "timeoutMs",
    ]);
  });
});
