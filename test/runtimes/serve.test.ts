/** What `serve` promises beside the agent: one path, a health check, and a close that gives open questions their time. */
import { afterEach, describe, expect, it } from "vitest";
import { Conversation, send } from "../conformance/instance.ts";
import { inputOf } from "../support/open-exchange.ts";
import { soleInterrupt } from "../support/runs.ts";
import { type ProcessRuntime, type ServedProcess, serveFixture } from "../support/spawn-fixture.ts";

let at: ServedProcess;
afterEach(() => at.stop());

async function health(): Promise<unknown> {
  const response = await fetch(new URL("/health", at.url));
  return [response.status, await response.json()];
}

/** The status of a new run. */
async function newRun(): Promise<number> {
  const headers = { "content-type": "application/json" };
  const response = await send(at, { method: "POST", headers, body: JSON.stringify(inputOf({ threadId: "new" })) });
  await response.body?.cancel();
  return response.status;
}

describe.each<ProcessRuntime>(["node", "bun", "deno"])("serve on %s", (runtime) => {
  it("answers at its path, tells its health, and knows no other", async () => {
    at = await serveFixture(runtime, "serve");
    expect(await health()).toEqual([200, { healthy: true }]);
    expect((await new Conversation(at).run("say: Hi")).text).toBe("Hi");
    for (const path of ["/else", "//", "/health/", "/%"]) {
      const response = await fetch(at.url.replace(/\/$/, path), { method: "POST", body: "x" });
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
  });

  it("drains, takes the answers to open questions, and exits with 0 on SIGTERM", async () => {
    at = await serveFixture(runtime, "serve");
    const thread = new Conversation(at);
    const interrupt = soleInterrupt(await thread.run("ask"));
    const exited = at.kill("SIGTERM");
    // Load balancers are told first; whoever comes meanwhile is still served.
    await expect.poll(health, { interval: 5 }).toEqual([503, { healthy: false }]);
    expect((await thread.seen()).ended).toBe(0);
    await expect.poll(newRun, { interval: 20 }).toBe(503);
    expect((await thread.answer(interrupt, "yes")).text).toBe("yes, kept");
    expect(await exited).toBe(0);
  });

  it("exits at once on a second signal", async () => {
    at = await serveFixture(runtime, "serve");
    soleInterrupt(await new Conversation(at).run("ask"));
    const exited = at.kill("SIGINT");
    await expect.poll(health, { interval: 5 }).toEqual([503, { healthy: false }]);
    void at.kill("SIGTERM");
    expect(await exited).toBe(1);
  });
});
