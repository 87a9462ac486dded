/**
 * What takes half a minute of real time, on every runtime at once. With the keep-alive that is the default, and without
 * any: what a connection then survives is the adapter's own doing.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createHandler } from "../../src/index.ts";
import { Conversation, type Instance } from "../conformance/instance.ts";
import { shows } from "../conformance/suite.ts";
import { createServed } from "../fixtures/served-agent.ts";
import { serveWorker } from "../support/miniflare.ts";
import { serveFixture } from "../support/spawn-fixture.ts";

const SECONDS = 30;
const AGENT_THREADS = { className: "AgentThread", useSQLite: true };

async function serveInProcess(): Promise<Instance> {
  const { options, control } = createServed({ keepAliveMs: 5_000 });
  const handler = createHandler(options);
  const url = "http://agent.test/";
  return { url, post: handler.fetch, control: async (path) => control(path), stop: () => handler.close() };
}

async function listen(start: () => Promise<Instance>) {
  const at = await start();
  try {
    const exchange = await new Conversation(at).open(`silence: ${SECONDS}`);
    const { text } = await exchange.rest();
    return { text, comments: exchange.reader.comments.length };
  } finally {
    await at.stop();
  }
}

const bindings = { KEEP_ALIVE_MS: 5_000 };
const served: Record<string, () => Promise<Instance>> = {
  "in process": serveInProcess,
  Node: () => serveFixture("node", "serve", ["--keep-alive=5000"]),
  Bun: () => serveFixture("bun", "serve", ["--keep-alive=5000"]),
  Deno: () => serveFixture("deno", "serve", ["--keep-alive=5000"]),
  "Hono on Node": () => serveFixture("node", "serve-hono", ["--keep-alive=5000"]),
  "Hono on Bun": () => serveFixture("bun", "serve-hono", ["--keep-alive=5000"]),
  Workers: () => serveWorker("plain-worker", { bindings }),
  "Durable Object": () => serveWorker("durable-object-worker", { bindings, durableObjects: { AGENT_THREADS } }),
};
const bare: typeof served = {
  Node: () => serveFixture("node", "serve", ["--keep-alive=0"]),
  Bun: () => serveFixture("bun", "serve", ["--keep-alive=0"]),
  Deno: () => serveFixture("deno", "serve", ["--keep-alive=0"]),
};

describe("a stream that says nothing for half a minute stays open", { timeout: 90_000 }, () => {
  const listening = new Map<() => Promise<Instance>, ReturnType<typeof listen>>();
  beforeAll(() => {
    for (const start of [...Object.values(served), ...Object.values(bare)]) {
      const heard = listen(start);
      // Each test hears of its own; until it is that one's turn nobody does.
      heard.catch(() => {});
      listening.set(start, heard);
    }
  });

  for (const [runtime, start] of Object.entries(served)) {
    it(`on ${runtime}`, async (context) => {
      shows(context, runtime, "silence");
      const heard = await listening.get(start);
      expect(heard?.text).toBe("Still here.");
      expect(heard?.comments).toBeGreaterThanOrEqual(SECONDS / 5 - 1);
    });
  }

  for (const [runtime, start] of Object.entries(bare)) {
    it(`on ${runtime} without keep-alive`, async () => {
      expect(await listening.get(start)).toEqual({ text: "Still here.", comments: 0 });
    });
  }
});
