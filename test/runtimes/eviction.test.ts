/**
 * Whether an object outlives the idle eviction of the local engine (workerd drops an object 10 seconds after its last
 * event). All of it waits on the real clock, at once; nothing else is in this file so that it runs beside the others.
 */
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../support/bundle-fixture.ts";
import { startWorker } from "../support/miniflare.ts";
import { exchange } from "../support/open-exchange.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";

/** Three times what the engine waits before it drops an idle object. */
const IDLE_MS = 30_000;

let worker: Miniflare;
let url: string;
const asked = new Map<string, ReturnType<typeof soleInterrupt>>();

const constructed = async (thread: string) => (await fetch(`${url}constructed/${thread}`)).json();
const answer = (thread: string) =>
  exchange(
    fetch,
    { threadId: thread, resume: [answerTo(asked.get(thread) as ReturnType<typeof soleInterrupt>, "yes")] },
    { url },
  );
const say = (thread: string, content: string) =>
  exchange(fetch, { threadId: thread, messages: [{ id: "message-1", role: "user", content }] }, { url });

describe("an object that holds a turn while nothing happens", () => {
  beforeAll(async () => {
    worker = startWorker(await bundleFixture("eviction-worker", "worker"), {
      durableObjects: {
        kept: { className: "Kept", useSQLite: true },
        left: { className: "Left", useSQLite: true },
        short: { className: "Short", useSQLite: true },
      },
    });
    url = (await worker.ready).href;
    for (const thread of ["kept", "left", "short"]) asked.set(thread, soleInterrupt(await say(thread, "ask")));
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  }, 90_000);
  afterAll(() => worker.dispose());

  it("is kept in memory by its heart-beat, and goes on when the answer comes", async () => {
    expect((await answer("kept")).result).toBe("yes");
    expect(await constructed("kept")).toBe(1);
  });

  it("is dropped without one, and the answer is told so", async () => {
    expect(endOf(await answer("left"))).toBe("INTERRUPT_NOT_HELD (other-instance)");
    expect(await constructed("left")).toBe(2);
  });

  it("is dropped once the deadline has passed, heart-beat or not", async () => {
    expect((await say("short", "Hello")).result).toBe("Good morning.");
    expect(await constructed("short")).toBe(2);
  });
});
