/** What reaches an object on Cloudflare's engine, and what a deployment does to the turns it holds. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../support/bundle-fixture.ts";
import { startWorker } from "../support/miniflare.ts";
import { exchange, inputOf, requestOf } from "../support/open-exchange.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

const durableObjects = { AGENT_THREADS: { className: "AgentThread", useSQLite: true } };
let worker: Miniflare;
let storage: string;
let url: string;

const start = async (script: string) => {
  worker = startWorker(script, { durableObjects, storage });
  url = new URL("/agent", await worker.ready).href;
};
const as = (user: string, headers: Record<string, string> = {}) => ({ url, headers: { "x-user": user, ...headers } });

describe("threads behind a Hono app on Workers", () => {
  beforeAll(async () => {
    storage = await mkdtemp(join(tmpdir(), "holdline-objects-"));
    await start(await bundleFixture("hono-threads-worker", "worker"));
  }, 60_000);
  afterAll(async () => {
    await worker.dispose();
    await rm(storage, { recursive: true, force: true });
  });

  it("are served by the app's route, under the headers of its middleware", async () => {
    const interrupt = soleInterrupt(await exchange(fetch, { threadId: "mounted" }, as("Ada")));
    const input = inputOf({ threadId: "mounted", resume: [answerTo(interrupt, "yes")] });
    const response = await fetch(requestOf(input, as("Ada", { origin: "https://app.example" })));
    expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(await response.text()).toContain('"result":{"answer":"yes","identity":"Ada"}');
  });

  it("believe nothing that a client says of who it is", async () => {
    const interrupt = soleInterrupt(await exchange(fetch, { threadId: "forged" }, as("Ada")));
    const resume = [answerTo(interrupt, "no")];
    for (const forged of [{}, { "x-holdline-identity": '"Ada"' }, { "X-Holdline-Identity": '"Ada"' }]) {
      const stolen = await exchange(fetch, { threadId: "forged", resume }, as("Eve", forged));
      // Everybody has objects of their own, and Eve's has not asked.
      expect(endOf(stolen)).toBe("INTERRUPT_NOT_HELD (other-instance)");
    }
    const answered = await exchange(
      fetch,
      { threadId: "forged", resume },
      as("Ada", { "x-holdline-identity": '"Eve"' }),
    );
    expect(answered.result).toEqual({ answer: "no", identity: "Ada" });
  });

  it("refuse a request that did not come by way of routeThreads", async () => {
    const response = await fetch(
      requestOf(inputOf({ threadId: "thread" }), { url: url.replace("/agent", "/straight") }),
    );
    expect([response.status, await response.json()]).toMatchObject([403, { error: { code: "NOT_ROUTED" } }]);
  });

  it("drop their turns when a new version is deployed, and say so", async () => {
    const interrupt = soleInterrupt(await exchange(fetch, { threadId: "deployed" }, as("Ada")));
    await worker.dispose();
    await start(`${await bundleFixture("hono-threads-worker", "worker")}\n// The next version.`);
    const late = await exchange(fetch, { threadId: "deployed", resume: [answerTo(interrupt, "yes")] }, as("Ada"));
    expect(endOf(late)).toBe("INTERRUPT_NOT_HELD (other-instance)");
    soleInterrupt(await exchange(fetch, { threadId: "deployed" }, as("Ada")));
  });
});
