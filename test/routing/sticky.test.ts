/** Three processes behind a proxy that hashes the thread: HAProxy by the body, nginx by the header of `threadFetch`. */
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/child.ts";
import { exchange, openExchange } from "../support/open-exchange.ts";
import { until } from "../support/promises.ts";
import { answerTo, endOf, soleInterrupt } from "../support/runs.ts";
import { endAfterAll, type Member, type ProxyKind, startExample, startMember, startProxy } from "./cluster.ts";
import { answer, ask, body, markOf, post, threadIds } from "./threads.ts";

endAfterAll();

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const startThree = () => Promise.all([startMember(), startMember(), startMember()]);

beforeAll(build);

describe.each<ProxyKind>(["haproxy", "nginx"])("behind %s", (kind) => {
  let members: Member[];
  let url: string;
  beforeAll(async () => {
    members = await startThree();
    url = await startProxy(kind, members);
  });
  const memberOf = (pid: number) => members.find((member) => member.pid === pid) as Member;

  it("every answer of 30 threads lands on the process that asked", async () => {
    const asked = await Promise.all(threadIds("sticky", 30).map((threadId) => ask(url, threadId)));
    expect(new Set(asked.map(({ pid }) => pid))).toEqual(new Set(members.map(({ pid }) => pid)));
    // A process is one instance, and its mark is on every interrupt it raises.
    expect(new Set(asked.map(({ pid, interrupt }) => `${pid} ${markOf(interrupt)}`)).size).toBe(3);
    const answered = await Promise.all(asked.map((thread) => answer(url, thread)));
    expect(answered.map(({ result }) => result)).toEqual(asked.map(({ pid }) => ({ pid, answer: "yes" })));
  });

  it("events arrive one by one", async () => {
    const messages = [{ id: "m", role: "user" as const, content: "stream" }];
    const streaming = await openExchange(post, { threadId: "streaming", messages }, { url });
    const first = await streaming.read(3);
    // The agent says nothing more before it is told to, which it is only now that this has arrived.
    expect(first.map(({ type, delta }) => delta ?? type)).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "one"]);
    for (const member of members) member.goOn();
    const { text, result } = await streaming.rest();
    expect(text).toBe("onetwo");
    // Where the body is hashed the client's header goes no further.
    expect((result as { header: string | null }).header).toBe(kind === "haproxy" ? null : "streaming");
  });

  it("a client that leaves is noticed by the agent", async () => {
    const messages = [{ id: "m", role: "user" as const, content: "wait" }];
    const waiting = await openExchange(post, { threadId: "leaving", messages }, { url });
    await waiting.read(3);
    await waiting.leave();
    await until(() => members.some(({ said }) => said.some(({ left }) => left === "leaving")), "the agent's notice");
  });

  it("a header that names another thread than the body", async () => {
    const headers = { "x-holdline-thread": "another" };
    const asked = await ask(url, "disagreeing", { headers }, fetch);
    const warned = () => members.flatMap(({ said }) => said.filter(({ threadId }) => threadId === "disagreeing"));
    if (kind === "haproxy") {
      // It is dropped, and the body decides.
      expect(asked.header).toBeNull();
      expect((await answer(url, asked)).result).toEqual({ pid: asked.pid, answer: "yes" });
      expect(warned()).toEqual([]);
    } else {
      // It routes; the run is served where it leads, with a warning.
      expect(asked.header).toBe("another");
      expect((await answer(url, asked, { headers }, fetch)).result).toEqual({ pid: asked.pid, answer: "yes" });
      await until(() => warned().length === 2, "the warnings");
      expect(warned().map(({ warned: code }) => code)).toEqual(["THREAD_HEADER_DIFFERS", "THREAD_HEADER_DIFFERS"]);
    }
  });

  it.each([
    ["first", 1_000_000],
    ["last", 40_000],
    ["last", 1_000_000],
  ] as const)("a threadId that comes %s, beside %d characters", async (place, padding) => {
    const options = { rewrite: body(place, padding) };
    const asked = await Promise.all(threadIds(`long ${place} ${padding} ü`, 6).map((id) => ask(url, id, options)));
    // A short run of the thread meets the same process as a long one, whichever way each is routed.
    const answered = await Promise.all(asked.map((thread) => answer(url, thread)));
    expect(answered.map(({ result }) => result)).toEqual(asked.map(({ pid }) => ({ pid, answer: "yes" })));
  });

  it(`without the header ${kind === "haproxy" ? "a threadId beyond the buffer" : "a thread"} does not route`, async () => {
    const options = { rewrite: body("last", kind === "haproxy" ? 100_000 : 0) };
    // One after another, and no multiple of three: what goes round by turns does not come round to where it was.
    const asked = [];
    for (const threadId of threadIds("beyond", 13)) asked.push(await ask(url, threadId, options, fetch));
    const answered = [];
    for (const thread of asked) answered.push(await answer(url, thread, {}, fetch));
    expect(new Set(asked.map(({ pid }) => pid)).size).toBeGreaterThan(1);
    expect(answered.map(endOf)).toContain("INTERRUPT_NOT_HELD (other-instance)");
  });

  // The last one: it costs a process.
  it("one process is killed: its threads are told so, the others go on", async () => {
    const asked = await Promise.all(threadIds("dying", 30).map((threadId) => ask(url, threadId)));
    const dead = memberOf(asked[0]?.pid as number);
    await dead.kill();
    const answered = await Promise.all(asked.map((thread) => answer(url, thread)));
    expect(answered.map((run) => run.result ?? endOf(run))).toEqual(
      asked.map(({ pid }) => (pid === dead.pid ? "INTERRUPT_NOT_HELD (other-instance)" : { pid, answer: "yes" })),
    );
    // They start over elsewhere.
    const again = await ask(url, asked[0]?.threadId as string);
    expect(again.pid).not.toBe(dead.pid);
    expect((await answer(url, again)).result).toEqual({ pid: again.pid, answer: "yes" });
  });

  it("the example's own server asks and books", async () => {
    const front = await startProxy(kind, await Promise.all([startExample(), startExample(), startExample()]));
    const interrupt = soleInterrupt(await exchange(post, { threadId: "example" }, { url: front }));
    expect(interrupt.message).toBe("Book LH441? (yes/no)");
    const resume = [answerTo(interrupt, "yes")];
    expect((await exchange(post, { threadId: "example", resume }, { url: front })).text).toBe("Booked.");
  });
});

describe.each<ProxyKind>(["haproxy", "nginx"])("from three processes to four, behind %s", (kind) => {
  it("about a quarter of the threads moves, and nobody else is touched", async () => {
    const members = await startThree();
    const before = await startProxy(kind, members);
    const asked = await Promise.all(threadIds("scaling", 60).map((threadId) => ask(before, threadId)));
    const added = await startMember();
    const after = await startProxy(kind, [...members, added]);
    const answered = await Promise.all(asked.map((thread) => answer(after, thread)));
    const moved = asked.filter((_, index) => answered[index]?.error !== undefined);
    expect(answered.map((run) => run.result ?? endOf(run))).toEqual(
      asked.map((thread) =>
        moved.includes(thread) ? "INTERRUPT_NOT_HELD (other-instance)" : { pid: thread.pid, answer: "yes" },
      ),
    );
    // 15 would be a quarter.
    expect(moved.length).toBeGreaterThan(3);
    expect(moved.length).toBeLessThan(30);
    // All that moved went to the new one, none from one of the three to another.
    const again = await Promise.all(moved.map(({ threadId }) => ask(after, threadId)));
    expect(new Set(again.map(({ pid }) => pid))).toEqual(new Set([added.pid]));
  });
});

describe("behind plain round robin", () => {
  it("most answers are refused, and the turn goes on waiting where it is", async () => {
    const members = await startThree();
    const url = await startProxy("round robin", members);
    const asked = [];
    for (const threadId of threadIds("round", 31)) asked.push(await ask(url, threadId));
    const ends = [];
    for (const thread of asked) ends.push(endOf(await answer(url, thread)));
    const refused = ends.filter((end) => end === "INTERRUPT_NOT_HELD (other-instance)");
    expect(refused.length).toBeGreaterThan(20);
    expect(ends.filter((end) => end !== "success")).toEqual(refused);
    // Sent to the process that asked it is taken still.
    for (const [index, thread] of asked.entries()) {
      if (ends[index] === "success") continue;
      const { port } = members.find(({ pid }) => pid === thread.pid) as Member;
      const direct = await answer(`http://127.0.0.1:${port}/`, thread);
      expect(direct.result).toEqual({ pid: thread.pid, answer: "yes" });
    }
  });
});
