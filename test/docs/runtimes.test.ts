/** docs/runtimes.md: its programs answer. What its table says is what the conformance suite saw. */
import { afterAll, describe, expect, it } from "vitest";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { readRecorded } from "../support/recorded-stream.ts";

const page = pageUnderTest("docs/runtimes.md");
const folder = new ProgramFolder("runtimes");
afterAll(() => folder.dispose());

const input = { threadId: "thread-1", runId: "run-1", messages: [] };
const post = (path: string) =>
  new Request(`http://agent.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });

describe("docs/runtimes.md", () => {
  it("has a Worker that asks by turn control", async () => {
    const { default: worker } = await folder.load(page.take("Workers", "ts"));
    const waited: Promise<unknown>[] = [];
    const context = { waitUntil: (work: Promise<unknown>) => void waited.push(work) };
    const events = await readRecorded(await (await worker.fetch(post("/"), {}, context)).text(), input);
    expect(events.at(-1)?.result).toEqual({
      status: "input-required",
      message: "In the morning or in the evening?",
    });
    await Promise.all(waited);
  });

  it("has a Hono app that asks", async () => {
    const { default: app } = await folder.load(page.take("Hono", "ts"));
    const events = await readRecorded(await (await app.request(post("/agent"))).text(), input);
    expect(events.at(-1)?.outcome.interrupts).toMatchObject([{ message: "Book LH441? (yes/no)" }]);
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
