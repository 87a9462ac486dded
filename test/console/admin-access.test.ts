/** Who may read the admin view: this machine alone, or whom the mount lets in. */
import { describe, expect, it } from "vitest";
import { type ConsoleAdmin, consolePage } from "../../src/console/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { proofOf, soleInterrupt } from "../support/runs.ts";

async function mounted(options: Pick<ConsoleAdmin, "authorize"> = {}) {
  const agent = agentUnderTest(async (context) => context.input("Delete the production database?"));
  const interrupt = soleInterrupt(await agent.run("Go", { identity: "browser-0123456789abcdef" }));
  const page = consolePage({ endpoint: "/agent", admin: { handler: agent.handler, ...options } });
  const ask = async (url: string, address: string | undefined, headers: Record<string, string> = {}) => {
    const response = await page(new Request(`${url}?data`, { headers }), { address });
    const text = await response.text();
    return { status: response.status, text, code: JSON.parse(text).error?.code };
  };
  return { ask, interrupt };
}

const HERE = "http://127.0.0.1:8787/";

describe("without `authorize`", () => {
  it.each([
    [HERE, "127.0.0.1"],
    [HERE, "::1"],
    [HERE, "::ffff:127.0.0.1"],
    ["http://localhost:8787/", "127.0.0.1"],
    ["http://[::1]:8787/", "::1"],
  ])("%s from %s is let in", async (url, address) => {
    const { ask } = await mounted();
    expect((await ask(url, address)).status).toBe(200);
  });

  it.each<[string, string, string | undefined, Record<string, string>]>([
    ["another machine", HERE, "192.0.2.7", {}],
    ["an address nobody told", HERE, undefined, {}],
    ["an address that only begins like loopback", HERE, "127.0.0.1.example.test", {}],
    ["a name that was made to point here (DNS rebinding)", "http://attacker.test/", "127.0.0.1", {}],
    ["a name that begins with loopback's", "http://127.0.0.1.attacker.test/", "127.0.0.1", {}],
    ["a proxy on this machine that says for whom", HERE, "127.0.0.1", { "x-forwarded-for": "127.0.0.1" }],
    ["one that says it in the standard's words", HERE, "127.0.0.1", { forwarded: "for=127.0.0.1" }],
    ["one that says which host was asked for", HERE, "127.0.0.1", { "x-forwarded-host": "localhost" }],
    ["one that only names itself", HERE, "127.0.0.1", { via: "1.1 proxy" }],
    ["one that says the real address", HERE, "127.0.0.1", { "x-real-ip": "127.0.0.1" }],
  ])("%s is refused, and told nothing of what is held", async (_who, url, address, headers) => {
    const { ask } = await mounted();
    const { status, code, text } = await ask(url, address, headers);
    expect([status, code]).toEqual([403, "ADMIN_FORBIDDEN"]);
    expect(text).not.toContain("database");
  });
});

describe("with `authorize`", () => {
  it("whom it lets in is let in, wherever from", async () => {
    const { ask } = await mounted({ authorize: async ({ headers }) => headers.get("x-operator") === "anna" });
    expect((await ask("https://agents.test/", "192.0.2.7", { "x-operator": "anna" })).status).toBe(200);
    expect((await ask(HERE, "127.0.0.1")).status).toBe(403);
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["rejects", () => Promise.reject(new Error("down"))],
    ["says something that is merely true enough", () => "yes"],
    ["says nothing", () => undefined],
  ])("one that %s refuses", async (_what, authorize) => {
    const { ask } = await mounted({ authorize: authorize as () => boolean });
    expect((await ask(HERE, "127.0.0.1")).status).toBe(403);
  });
});

it("shows what is held and never its proof, nor the whole name by which a browser gets its questions back", async () => {
  const { ask, interrupt } = await mounted();
  const { text } = await ask(HERE, "127.0.0.1");
  expect(JSON.parse(text)).toMatchObject({
    stats: { held: 1 },
    held: [{ threadId: "thread-1", identity: "browser-01234567…" }],
  });
  expect(text).toContain("Delete the production database?");
  expect(text).not.toContain(proofOf(interrupt));
  expect(text).not.toContain("0123456789abcdef");
});
