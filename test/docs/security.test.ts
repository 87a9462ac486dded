/** docs/security.md and SECURITY.md: what they say of callers, origins and limits is tried; logs are searched in test/cases/leaks.test.ts. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { serve } from "../../adapters/node.ts";
import { settle } from "../../src/core/settings.ts";
import { createHandler, type HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { closeAfterTest } from "../support/listen.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { answerTo, endOf, proofOf, soleInterrupt } from "../support/runs.ts";

const page = pageUnderTest("docs/security.md");
const reporting = pageUnderTest("SECURITY.md");
const folder = new ProgramFolder("security");
afterAll(() => folder.dispose());

const body = JSON.stringify({ threadId: "T", runId: "R", messages: [] });
const post = (headers: Record<string, string> = {}) =>
  new Request("http://agent.test/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

describe("docs/security.md", () => {
  it("refuses whom it does not know, and asks whom it does", async () => {
    const { handler } = await folder.load(page.take("Who is calling", "ts"));
    const refused = await handler.handle(post());
    expect([refused.status, await refused.text()]).toEqual([401, "Who are you?"]);
    const asked = await handler.handle(post({ authorization: "Bearer token-of-ada" }));
    expect(await asked.text()).toContain("Shall I, ada?");
    expect(handler.inspect()).toMatchObject([{ identity: "ada" }]);
    await handler.close();
  });

  it("keeps what is of a thread under its identity", async () => {
    const heard: unknown[] = [];
    const tested = agentUnderTest(async (context) => heard.push([context.identity, await context.input("A?")]));
    const interrupt = soleInterrupt(await tested.run("go", { identity: "ada" }));
    const eve = { identity: "eve" };
    const stolen = await tested.resume([answerTo(interrupt, "stolen")], {}, eve);
    expect(endOf(stolen)).toBe("INTERRUPT_NOT_HELD (unknown)");
    const own = soleInterrupt(await tested.run("go", eve));
    expect(own.id).not.toBe(interrupt.id);
    // A proof is of one question: another one's is none.
    const swapped = { ...interrupt, metadata: own.metadata ?? {} };
    expect(endOf(await tested.resume([answerTo(swapped, "swapped")]))).toBe("INTERRUPT_NOT_PROVEN");
    expect(Buffer.from(proofOf(interrupt), "base64url")).toHaveLength(32);
    await tested.answer(interrupt, "mine");
    expect(endOf(await tested.answer(interrupt, "again"))).toBe("INTERRUPT_NOT_HELD (answered)");
    expect(heard).toEqual([["ada", "mine"]]);
  });

  it("lets the identity stand for the proof where it says so", async () => {
    const tested = agentUnderTest({
      agent: async (context) => (context.userText === "ask" ? context.input("A?") : "new"),
      whenAsked: "abandon",
    });
    await tested.run("ask", { identity: "ada" });
    expect((await tested.run("go", { identity: "ada" })).result).toBe("new");
    expect(tested.handler.stats()).toMatchObject({ abandoned: 1, held: 0 });
  });

  it("adds what it says for origins, and takes no form", async () => {
    const headersFor = async (cors: HandlerOptions["cors"], origin: string) => {
      const handler = createHandler({ agent: async () => {}, ...(cors === undefined ? {} : { cors }) });
      const { headers } = await handler.handle(post({ origin }));
      return ["access-control-allow-origin", "access-control-allow-credentials", "vary"].map((name) =>
        headers.get(name),
      );
    };
    const ours = "https://ours.test";
    expect(await headersFor(undefined, ours)).toEqual([null, null, null]);
    expect(await headersFor("*", ours)).toEqual(["*", null, "Origin"]);
    expect(await headersFor([ours], ours)).toEqual([ours, "true", "Origin"]);
    expect(await headersFor((origin) => origin === ours, ours)).toEqual([ours, "true", "Origin"]);
    expect(await headersFor([ours], "https://theirs.test")).toEqual([null, null, "Origin"]);
    const handler = createHandler({ agent: async () => {} });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      expect((await handler.handle(post({ "content-type": type }))).status).toBe(415);
    }
  });

  it("serves whatever name it is called by", async () => {
    const serving = await serve(createHandler({ agent: async (context) => context.text("Hi") }));
    closeAfterTest(serving.close);
    expect(serving.url).toContain("http://127.0.0.1:");
    const headers = { host: "elsewhere.test", "content-type": "application/json" };
    const sent = request(serving.url, { method: "POST", headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('"delta":"Hi"')]);
  });

  it("names limits that are in force", () => {
    const { bodyBytes, queuedRuns, keptEvents, maxHeld, ttlMs, closeTimeoutMs } = settle({ agent: async () => {} });
    const inForce = {
      "limits.bodyBytes": `${bodyBytes / 1024 ** 2} MiB`,
      "limits.queuedRuns": String(queuedRuns),
      "limits.keptEvents": String(keptEvents),
      "retention.maxHeld": String(maxHeld),
      "retention.ttlMs": `${ttlMs / 60_000} minutes`,
      closeTimeoutMs: `${closeTimeoutMs / 1_000} seconds`,
    };
    const rows = page.tables.find(({ heading }) => heading === "Limits")?.rows ?? [];
    const listed = rows.flatMap(([, cell = ""]) => {
      const [, name, value] = /^`([\w.]+)`, (\d+(?: \w+)?)/.exec(cell) ?? [];
      return name === undefined ? [] : [[name, value]];
    });
    expect(Object.fromEntries(listed)).toEqual(inForce);
  });

  it("names every hook that is told something", () => {
    const rows = page.tables.find(({ heading }) => heading === "What is logged")?.rows ?? [];
    const named = rows.flatMap(([cell = ""]) => codesIn(cell));
    expect(named).toEqual(["onWarning", "onError", "onTrace", "stats()", "inspect()"]);
  });

  it("is reported where nobody else reads it", () => {
    const words = [...reporting.prose.values()].join("\n");
    expect(words).toContain("Report a vulnerability");
    expect(words).not.toMatch(/\S@\S/);
  });

  it("shows nothing that was not run here", () => expect([...page.left, ...reporting.left]).toEqual([]));
});
