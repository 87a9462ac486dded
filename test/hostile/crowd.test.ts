/** Many who ask and never answer: what they take is bounded, and it is not somebody else's. */
import { beforeAll, expect, it } from "vitest";
import { build } from "../support/child.ts";
import { inputOf } from "../support/open-exchange.ts";
import { answerTo } from "../support/runs.ts";
import { hostileServer } from "./server.ts";

beforeAll(build, 120_000);

const ask = (threadId: string) => inputOf({ threadId, messages: [{ id: "m", role: "user", content: "ask" }] });

/** The question a stream ended with. */
const questionOf = (text: string) =>
  JSON.parse(text.trimEnd().split("\n\n").at(-1)?.slice("data: ".length) as string).outcome.interrupts[0];

it("ten thousand threads with one held turn each: memory is that of those that may be held, and a caller within a quota loses nothing", async () => {
  const server = await hostileServer();
  const mine = questionOf((await server.send(ask("mine"), "anna")).text);
  const crowd = async (user: string | undefined, from: number, count: number) => {
    for (let done = 0; done < count; done += 50) {
      const sent = Array.from({ length: 50 }, (_, i) => server.send(ask(`thread ${from + done + i}`), user));
      expect((await Promise.all(sent)).every(({ text }) => text.includes('"type":"interrupt"'))).toBe(true);
    }
  };
  await crowd("mallory", 0, 2_000);
  const before = await server.measure();
  // The quota of one caller, and of all who are nobody: neither takes more than its own.
  expect(before.stats.held).toBe(101);
  await crowd("mallory", 2_000, 4_000);
  await crowd(undefined, 6_000, 4_000);
  const after = await server.measure();
  expect(after.stats).toMatchObject({ held: 201, running: 0, evicted: 9_800 });
  expect(after.memory - before.memory).toBeLessThan(4 * 2 ** 20);
  const answered = await server.send({ ...inputOf({ threadId: "mine" }), resume: [answerTo(mine, "no")] }, "anna");
  expect(answered.text).toContain('"result":"no"');
}, 120_000);
