/** The Worker as it is deployed, on Cloudflare's own engine, over real HTTP. */
import { fileURLToPath } from "node:url";
import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import { build } from "esbuild";
import { abandon, answer } from "holdline/client";
import { readFrames } from "holdline/testing";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let miniflare: Miniflare;
let url: URL;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
  });
  miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    modules: [{ type: "ESModule", path: "worker.mjs", contents: outputFiles[0]?.text ?? "" }],
    // As in wrangler.toml, but for the flag that the engine of this miniflare may be too old for: the heart-beat does without.
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: { AGENT_THREADS: { className: "AgentThread", useSQLite: true } },
  });
  url = await miniflare.ready;
}, 60_000);
afterAll(() => miniflare.dispose());

let runs = 0;

/** Sends a run and reads its events. */
async function run(threadId: string, resume: ResumeEntry[] = []) {
  const messages = [{ id: "message-1", role: "user", content: "Book me a flight to Frankfurt" }];
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ threadId, runId: `run-${++runs}`, messages, ...(resume.length > 0 && { resume }) }),
  });
  const events = readFrames(await response.text()).frames.map(({ event }) => event);
  const last = events.at(-1);
  return {
    text: events.map(({ delta, type }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : "")).join(""),
    interrupts: (last?.outcome?.interrupts ?? []) as Interrupt[],
    outcome: last?.outcome?.type as string | undefined,
    code: last?.code as string | undefined,
    cause: last?.metadata?.holdline?.cause as string | undefined,
  };
}

/** Asks, and gives the one question back. */
async function ask(threadId: string): Promise<Interrupt> {
  const { interrupts, text } = await run(threadId);
  expect(text).toBe("There is a seat on LH441. ");
  expect(interrupts).toMatchObject([{ message: "Book LH441 from OSL to FRA?", reason: "tool_approval" }]);
  return interrupts[0] as Interrupt;
}

describe("the flight agent on Durable Objects", () => {
  it("asks for consent, asks for the seat in the middle of the tool, and books", async () => {
    const consent = await ask("thread-1");
    const [seat] = (await run("thread-1", [answer(consent, true)])).interrupts;
    expect(seat).toMatchObject({ message: "Window or aisle?", toolCallId: consent.toolCallId });
    const booked = await run("thread-1", [answer(seat as Interrupt, "window")]);
    expect([booked.text, booked.outcome]).toEqual(["LH441 is booked, window seat.", "success"]);
  });

  it("books nothing on a no", async () => {
    const { text, interrupts } = await run("thread-2", [answer(await ask("thread-2"), false)]);
    expect([text, interrupts]).toEqual(["User denied the tool call request", []]);
  });

  it("lets go of a question that is given up", async () => {
    expect((await run("thread-3", [abandon(await ask("thread-3"))])).outcome).toBe("cancelled");
  });

  it("refuses an answer without the proof, and one that was given already", async () => {
    const consent = await ask("thread-4");
    expect((await run("thread-4", [answer({ id: consent.id }, true)])).code).toBe("INTERRUPT_NOT_PROVEN");
    expect((await run("thread-4", [answer(consent, false)])).outcome).toBe("success");
    expect(await run("thread-4", [answer(consent, true)])).toMatchObject({
      code: "INTERRUPT_NOT_HELD",
      cause: "answered",
    });
  });

  it("refuses an answer on another thread, whose object never asked", async () => {
    const consent = await ask("thread-5");
    const elsewhere = await run("thread-6", [answer(consent, true)]);
    expect(elsewhere).toMatchObject({ code: "INTERRUPT_NOT_HELD", cause: "other-instance" });
    expect((await run("thread-5", [answer(consent, false)])).outcome).toBe("success");
  });

  it("says what it can do", async () => {
    expect(await (await fetch(url)).json()).toMatchObject({ humanInTheLoop: { interrupts: true } });
  });
});
