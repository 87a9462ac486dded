import { beforeAll, describe, expect, it } from "vitest";
import { build, type Running, start } from "../support/child.ts";
import { httpClient } from "../support/http-client.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";

beforeAll(build, 240_000);

/** A server in a process of its own that waits for an answer. */
async function asking(signals: unknown) {
  const program = start("signals.mjs", JSON.stringify(signals));
  const url = await program.said(/serving (\S+)\n/);
  const client = httpClient({ url });
  const interrupt = soleInterrupt(await client.say("Book it"));
  return { program, url, client, interrupt, health: new URL("/health", url).href };
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

/** Signals are real, and so is the time they take to arrive. */
async function healthTurns(health: string, status: number): Promise<void> {
  const seen = async () => {
    while ((await statusOf(health)) !== status);
  };
  await within(5_000, seen(), `a health of ${status}`);
}

const exitOf = ({ exited }: Running) => within(10_000, exited, "the exit");

describe("SIGTERM with signals", () => {
  it("health turns, new runs are sent away, the held question is answered during the grace, and it exits with 0", async () => {
    const { program, url, client, interrupt, health } = await asking({ graceMs: 60_000 });
    expect(await statusOf(health)).toBe(200);
    program.child.kill("SIGTERM");
    await healthTurns(health, 503);
    const refused = await fetch(requestOf(inputOf({ threadId: "new" }), { url }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ error: { code: "SERVER_CLOSING" } });
    expect(endOf(await client.answer(interrupt, "yes"))).toBe("success");
    // Nothing is held any more, so the rest of the minute is not waited for.
    expect(await exitOf(program)).toEqual({ code: 0, signal: null });
    expect(program.output).toMatch(/answered yes\nunwound\nexit 0\n$/);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("after the grace the question is released, and it exits with 0", async () => {
    const { program } = await asking({ graceMs: 50 });
    program.child.kill("SIGTERM");
    expect(await exitOf(program)).toEqual({ code: 0, signal: null });
    expect(program.output).toMatch(/rejected TURN_RELEASED\nunwound\nexit 0\n$/);
  });

  it("with `true` nothing is waited for", async () => {
    const { program } = await asking(true);
    program.child.kill("SIGINT");
    expect(await exitOf(program)).toEqual({ code: 0, signal: null });
    expect(program.output).toMatch(/rejected TURN_RELEASED\nunwound\nexit 0\n$/);
  });

  it("while it drains health is 503 and new runs are still taken", async () => {
    const { program, url, health } = await asking({ drainMs: 60_000 });
    program.child.kill("SIGTERM");
    await healthTurns(health, 503);
    expect(endOf(await httpClient({ url, threadId: "late" }).say("Book it"))).toBe("interrupt");
    program.child.kill("SIGTERM");
    expect((await exitOf(program)).code).not.toBe(0);
  });

  it("a second signal exits at once, whatever is held", async () => {
    const { program, health } = await asking({ graceMs: 60_000 });
    program.child.kill("SIGTERM");
    await healthTurns(health, 503);
    program.child.kill("SIGINT");
    expect(await exitOf(program)).toEqual({ code: 1, signal: null });
    expect(program.output).not.toContain("unwound");
  });
});

describe("SIGTERM without", () => {
  it("does what Node does: the process is ended by it", async () => {
    const { program } = await asking(false);
    program.child.kill("SIGTERM");
    expect(await exitOf(program)).toEqual({ code: null, signal: "SIGTERM" });
    expect(program.output).not.toContain("unwound");
  });
});
