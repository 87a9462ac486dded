/** A handler made once for all requests of a plain Worker, where none of them may write, wait or time anything for another. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Conversation, type Instance } from "../conformance/instance.ts";
import { COMPATIBILITY_FLAGS, serveWorker } from "../support/miniflare.ts";
import type { OpenExchange } from "../support/open-exchange.ts";
import { within } from "../support/promises.ts";
import { endOf } from "../support/runs.ts";

const flags = { "with enable_request_signal": COMPATIBILITY_FLAGS, "without flags": [] };
const mounts = { "the Worker itself": "/", "a route of a Hono app": "/app" };
const headers = { accept: "text/event-stream" };

describe.each(Object.entries(flags))("one handler for all requests of a Worker %s", (_how, compatibilityFlags) => {
  describe.each(Object.entries(mounts))("as %s", (_mount, path) => {
    let at: Instance;
    beforeAll(async () => {
      const worker = await serveWorker("shared-handler-worker", { compatibilityFlags });
      at = { ...worker, url: new URL(path, worker.url).href };
    });
    afterAll(() => at.stop());

    /** A stream read to its end, beside others. */
    async function hear(opening: Promise<OpenExchange>) {
      const open = await opening;
      const run = await open.rest();
      return { end: endOf(run), text: run.text, comments: open.reader.comments.length };
    }
    const silence = (seconds: number, thread = new Conversation(at)) => thread.open(`silence: ${seconds}`, {}, headers);
    const heard = { end: "success", text: "Still here." };
    const together = <T>(runs: Promise<T>[]) => within(20_000, Promise.all(runs), "the end of every run");

    it("serves those that come first at once, though all of them wait for what loads", async () => {
      const runs = Array.from({ length: 5 }, () => new Conversation(at).run("say: hello", {}, headers));
      expect((await together(runs)).map(({ text }) => text)).toEqual(Array(5).fill("hello"));
    });

    it("breaks the silence of each stream, also when the one that began first has ended", async () => {
      const first = await silence(0.2);
      await first.read(1);
      const runs = await together([hear(Promise.resolve(first)), hear(silence(0.8)), hear(silence(0.6))]);
      expect(runs).toMatchObject([heard, heard, heard]);
      const [ended, ...others] = runs.map(({ comments }) => comments) as [number, number, number];
      expect(ended).toBeGreaterThan(0);
      for (const comments of others) expect(comments).toBeGreaterThan(ended);
    });

    it("runs all that meet on a thread, none of them to be stopped by another request, and those that come later", async () => {
      const thread = new Conversation(at);
      const meeting = [0.4, 0.2, 0.3].map((seconds) => hear(silence(seconds, thread)));
      await thread.sees({ entered: 3 });
      const stopping = await fetch(new URL(`/stop/${encodeURIComponent(thread.threadId)}`, at.url), { method: "POST" });
      expect(await stopping.json()).toBe(false);
      expect(await together(meeting)).toMatchObject([heard, heard, heard]);
      expect(await together([hear(silence(0, thread)), hear(silence(0.1, thread))])).toMatchObject([heard, heard]);
      expect(await thread.seen()).toMatchObject({ entered: 5, ended: 5, aborted: false, complaints: [] });
    });

    it("hears the client of one run leave, and the others on its thread go on", async () => {
      const thread = new Conversation(at);
      const leaving = await thread.open("stream", {}, headers);
      await leaving.read(2);
      const staying = hear(silence(0.4, thread));
      await leaving.leave();
      await thread.sees({ aborted: true });
      expect((await together([staying]))[0]).toMatchObject(heard);
    });
  });
});
