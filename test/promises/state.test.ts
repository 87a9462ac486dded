import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { exchange } from "../support/open-exchange.ts";
import { defer } from "../support/promises.ts";
import { answerTo, soleInterrupt, typesOf } from "../support/runs.ts";

const add = (path: string, value: unknown) => ({ op: "add" as const, path, value });

describe("state", () => {
  it("is the input's, or {}, until it is set", async () => {
    const agent = agentUnderTest(async (context) => context.state);
    expect((await agent.run({ state: { a: [1] } })).result).toEqual({ a: [1] });
    expect((await agent.run({ state: undefined })).result).toEqual({});
    expect((await agent.run({ state: null, protocolVersion: undefined as never })).result).toEqual({});
    expect((await agent.run({ state: 5 })).result).toBe(5);
  });

  it("is replaced whole and patched, and the client's is the same at every step", async () => {
    const agent = agentUnderTest(async (context) => {
      const seen = [context.state];
      await context.patchState([add("/b", 2)]);
      seen.push(context.state);
      await context.setState({ c: [1] });
      seen.push(context.state);
      await context.patchState([
        add("/c/-", 2),
        { op: "test", path: "/c/1", value: 2 },
        { op: "remove", path: "/c/0" },
      ]);
      seen.push(context.state);
      return seen;
    });
    const run = await agent.run({ state: { a: 1 } });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "STATE_DELTA", "STATE_SNAPSHOT", "STATE_DELTA", "RUN_FINISHED"]);
    expect(run.result).toEqual([{ a: 1 }, { a: 1, b: 2 }, { c: [1] }, { c: [2] }]);
    expect(run.state).toEqual({ c: [2] });
  });

  it.each([null, false, 0, "", []])("may be %j", async (state) => {
    const agent = agentUnderTest(async (context) => {
      await context.setState(state);
      return [context.state];
    });
    const run = await agent.run("go");
    expect([run.result, run.state]).toEqual([[state], state]);
  });

  it("follows emitted events too, and nothing else", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.emit({ type: "STATE_SNAPSHOT", snapshot: { a: 1 } });
      await context.emit({ type: "STATE_DELTA", delta: [add("/b", 2)] });
      await context.custom("acme:state", { c: 3 });
      return context.state;
    });
    expect((await agent.run("go")).result).toEqual({ a: 1, b: 2 });
  });

  it("is not changed in place, nor by what the agent does to a value it gave or got", async () => {
    const agent = agentUnderTest(async (context) => {
      const given = { list: [1] };
      await context.setState(given);
      const before = context.state;
      given.list.push(2);
      await context.patchState([add("/more", true)]);
      return [before, context.state];
    });
    const run = await agent.run("go");
    expect(run.result).toEqual([{ list: [1] }, { list: [1], more: true }]);
    expect(run.state).toEqual({ list: [1], more: true });
  });

  it.each<[string, unknown]>([
    ["the input's", undefined],
    ["one that was set", { items: [] }],
  ])("is what its client has, whatever the agent does to the copy it looks at: %s", async (_whose, set) => {
    const agent = agentUnderTest(async (context) => {
      if (set !== undefined) await context.setState(set);
      (context.state as { items: string[] }).items.push("a");
      const code = await context.patchState([add("/items/1", "b")]).catch((error) => error.code);
      await context.patchState([add("/items/-", "c")]);
      return [code, context.state];
    });
    const run = await agent.run({ state: { items: [] } });
    expect(run.result).toEqual(["EVENT_REFUSED", { items: ["c"] }]);
    expect(run.state).toEqual({ items: ["c"] });
  });

  it.each<[string, unknown]>([
    ["removes what is not there", [{ op: "remove", path: "/nothing" }]],
    ["fails its test", [{ op: "test", path: "/a", value: 2 }]],
    ["fails in the middle", [add("/b", 1), { op: "remove", path: "/nothing" }]],
    ["is no list", { op: "add" }],
  ])("refuses a patch that %s, and stays as it was", async (_what, patch) => {
    const agent = agentUnderTest(async (context) => {
      const code = await context.patchState(patch as never).catch((error) => error.code);
      return [code, context.state];
    });
    const run = await agent.run({ state: { a: 1 } });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
    expect(run.result).toEqual(["EVENT_REFUSED", { a: 1 }]);
  });
});

describe("state across a question", () => {
  it("that the turn changed is told whole before the interrupt", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.patchState([add("/a", 1)]);
      await context.input("A?");
    });
    const run = await agent.run({ state: {} });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "STATE_DELTA", "STATE_SNAPSHOT", "RUN_FINISHED"]);
    expect(run.state).toEqual({ a: 1 });
    const untouched = agentUnderTest(async (context) => context.input("A?"));
    expect(typesOf(await untouched.run({ state: { a: 1 } }))).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it("is not changed by the resume's input, which the agent sees as context.run", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.setState({ mine: 1 });
      await context.input("A?");
      return [context.state, context.run.state, context.run.messages.length];
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const run = await agent.answer(interrupt, "a", { state: { theirs: 2 }, messages: [] });
    expect(run.result).toEqual([{ mine: 1 }, { theirs: 2 }, 0]);
  });

  it("is the same for a client whose own differs: it is told the whole before patches reach it", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.setState({ mine: 1 });
      await context.input("A?");
      await context.patchState([add("/more", 2)]);
      await context.patchState([add("/again", 3)]);
      return context.state;
    });
    const interrupt = soleInterrupt(await agent.run("go"));
    const run = await agent.answer(interrupt, "a", { state: { theirs: 2 } });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "STATE_DELTA", "RUN_FINISHED"]);
    expect(run.state).toEqual(run.result);
    expect(run.result).toEqual({ mine: 1, more: 2, again: 3 });
  });

  it.each([true, false])(
    "changed while paused reaches the client with what was kept, whatever its own is",
    async (more) => {
      for (const theirs of [{ a: 0 }, { other: true }, undefined]) {
        const gate = defer();
        const agent = agentUnderTest(async (context) => {
          const asked = context.input("A?");
          await gate.promise;
          await context.patchState([add("/b", 1)]);
          await asked;
          if (more) await context.patchState([add("/c", 2)]);
          return context.state;
        });
        const interrupt = soleInterrupt(await agent.run({ state: { a: 0 } }));
        gate.resolve();
        await agent.clock.advance(0);
        const run = await agent.answer(interrupt, "a", { state: theirs });
        expect(run.result).toEqual({ a: 0, b: 1, ...(more && { c: 2 }) });
        expect(run.state).toEqual(run.result);
      }
    },
  );
});

describe("a state that no JSON.stringify can say", () => {
  /** The client's state, as deep as only a body written by hand has it: its reader takes it all the same. */
  const tooDeep = { rewrite: (json: string) => json.replace('"@"', "[".repeat(20_000) + "]".repeat(20_000)) };
  const state = { deep: "@" };

  it("can be looked at", async () => {
    const seen: unknown[] = [];
    const agent = agentUnderTest(async (context) => {
      seen.push(Object.keys(context.state as object));
      return context.input("A?");
    });
    soleInterrupt(await exchange(agent.handler.handle, { state }, tooDeep));
    expect(seen).toEqual([["deep"]]);
  });

  it("does not keep a question from going out", async () => {
    const agent = agentUnderTest(async (context) => {
      await context.patchState([add("/b", 1)]);
      return context.input("A?");
    });
    const interrupt = soleInterrupt(await exchange(agent.handler.handle, { state }, tooDeep));
    expect((await agent.answer(interrupt, "a", { state: { deep: "@", b: 1 } })).result).toBe("a");
  });

  it("does not keep an answer from its question", async () => {
    const seen: unknown[] = [];
    const gate = defer();
    const agent = agentUnderTest(async (context) => {
      const asked = context.input("A?");
      await gate.promise;
      await context.patchState([add("/b", 1)]);
      seen.push(await asked);
    });
    const interrupt = soleInterrupt(await exchange(agent.handler.handle, { state }, tooDeep));
    gate.resolve();
    await agent.clock.advance(0);
    const run = await agent.resume([answerTo(interrupt, "a")], { state: { other: true } });
    expect(typesOf(run)).toEqual(["RUN_STARTED", "STATE_DELTA", "RUN_FINISHED"]);
    expect(seen).toEqual(["a"]);
    expect(agent.warnings.map(({ code }) => code)).toEqual(["STATE_NOT_SHOWN"]);
    expect(agent.handler.stats()).toMatchObject({ running: 0, held: 0 });
  });
});
