/** The state: snapshots, patches that are tried before they go out, and the baseline they are computed against. */
import { describe, expect, it } from "vitest";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { checkWithClient } from "../support/client-check.ts";
import { an, emit, emitting, shown } from "../support/emitting.ts";
import { httpClient } from "../support/http-client.ts";
import { soleInterrupt } from "../support/runs.ts";

const delta = (...operations: object[]) => an("STATE_DELTA", { delta: operations });
const snapshot = (value: unknown) => an("STATE_SNAPSHOT", { snapshot: value });

describe("the state", () => {
  it.each([[null], [0], [""], [false], [[]], [[1]], [{ a: null }]])("may be %j (P116)", async (value) => {
    const { run, refused } = await emit([snapshot(value)]);
    expect(refused).toEqual([]);
    expect(run.events[1]).toEqual({ type: "STATE_SNAPSHOT", snapshot: value });
    expect((await checkWithClient(run.raw, run.input as never)).state).toEqual(value);
  });

  it("is {} where the input has none, so a patch has a baseline (P7, P118)", async () => {
    for (const state of [undefined, null]) {
      const { run } = await emit([delta({ op: "add", path: "/a", value: 1 })], { state } as never);
      expect(run.state).toEqual({ a: 1 });
    }
  });

  it("goes out whole where the input has none: its client may hold null, and sends none then (P119)", async () => {
    const served = agentUnderTest(async (context) => {
      if (context.userText === "Forget") return context.setState(null);
      return context.patchState([{ op: "add", path: "/a", value: 1 }]);
    });
    const client = httpClient({ post: (request) => served.handler.handle(request) });
    await client.say("Forget");
    expect(client.agent.state).toBeNull();
    const run = await client.say("Remember");
    expect(run.input).not.toHaveProperty("state");
    expect(shown(run)).toEqual(["STATE_SNAPSHOT"]);
    expect(client.agent.state).toEqual({ a: 1 });
  });

  it("is the input's until the run changes it, and then what its client computes (P118)", async () => {
    const agent = emitting(
      [
        delta({ op: "add", path: "/b", value: { c: [] } }, { op: "add", path: "/b/c/-", value: 1 }),
        delta({ op: "move", from: "/a", path: "/b/d" }),
        snapshot([1]),
        delta({ op: "add", path: "/-", value: 2 }),
      ],
      (context) => context.state,
    );
    const run = await agent.run({ state: { a: "given" } });
    expect(shown(run)).toEqual(["STATE_DELTA", "STATE_DELTA", "STATE_SNAPSHOT", "STATE_DELTA"]);
    expect(run.result).toEqual([1, 2]);
    expect((await checkWithClient(run.raw, run.input as never)).state).toEqual([1, 2]);
  });

  it("goes out whole and unchanged, with a warning, for a patch that does not apply (P117)", async () => {
    const { run, refused, warned } = await emit(
      [
        delta({ op: "add", path: "/n", value: 1 }),
        delta({ op: "add", path: "/x", value: 1 }, { op: "replace", path: "/missing", value: 1 }),
        delta({ op: "test", path: "/n", value: 2 }),
        delta({ op: "add", path: "/m", value: 2 }),
      ],
      { state: { a: 1 } },
    );
    expect(refused).toEqual([]);
    expect(warned).toEqual(["PATCH_NOT_APPLIED", "PATCH_NOT_APPLIED"]);
    expect(run.events.slice(1, -1)).toEqual([
      delta({ op: "add", path: "/n", value: 1 }),
      snapshot({ a: 1, n: 1 }),
      snapshot({ a: 1, n: 1 }),
      delta({ op: "add", path: "/m", value: 2 }),
    ]);
    expect((await checkWithClient(run.raw, run.input as never)).state).toEqual({ a: 1, n: 1, m: 2 });
  });

  it("stays as it is when patchState's patch does not apply, which is told to its caller (P117)", async () => {
    const agent = emitting([], async (context) => {
      const refused = await context
        .patchState([{ op: "remove", path: "/missing" }])
        .catch((error: { code?: string; message: string }) => [error.code, error.message]);
      await context.patchState([{ op: "add", path: "/a", value: 1 }]);
      return refused;
    });
    const run = await agent.run("Go");
    expect(shown(run)).toEqual(["STATE_DELTA"]);
    expect(run.result).toEqual(["EVENT_REFUSED", "STATE_DELTA: the patch does not apply to the state as it stands."]);
    expect(agent.warnings).toEqual([]);
  });

  it("is not reached into by an agent that goes on with its own objects (P118)", async () => {
    const mine = { list: [1] };
    const agent = emitting([], async (context) => {
      await context.setState(mine);
      mine.list.push(2);
      await context.patchState([{ op: "add", path: "/list/-", value: mine }]);
      mine.list.push(3);
      await context.patchState([{ op: "test", path: "/list", value: [1, { list: [1, 2] }] }]);
    });
    const run = await agent.run("Go");
    expect(shown(run)).toEqual(["STATE_SNAPSHOT", "STATE_DELTA", "STATE_DELTA"]);
    expect(run.state).toEqual({ list: [1, { list: [1, 2] }] });
  });

  it("goes out as it stands before an interrupt when the turn changed it, and only then (P85)", async () => {
    const agent = emitting([delta({ op: "add", path: "/a", value: 1 })], async (context) => {
      await context.input("First?");
      await context.input("Second?");
    });
    const first = await agent.run("Go");
    expect(shown(first)).toEqual(["STATE_DELTA", "STATE_SNAPSHOT"]);
    expect(first.events[2]).toEqual(snapshot({ a: 1 }));
    const second = await agent.answer(soleInterrupt(first), "yes");
    expect(shown(second)).toEqual([]);
    expect(second.interrupts).toHaveLength(1);
  });

  it("goes out whole when a patch meets a client that holds another state (P119)", async () => {
    const agent = emitting([snapshot({ a: 1 })], async (context) => {
      await context.input("Sure?");
      await context.patchState([{ op: "add", path: "/b", value: 2 }]);
      await context.patchState([{ op: "add", path: "/c", value: 3 }]);
    });
    const asked = await agent.run("Go");
    const astray = await agent.answer(soleInterrupt(asked), "yes", { state: { other: true } });
    expect(astray.events.slice(1, -1)).toEqual([snapshot({ a: 1, b: 2 }), delta({ op: "add", path: "/c", value: 3 })]);
    expect((await checkWithClient(astray.raw, astray.input as never)).state).toEqual({ a: 1, b: 2, c: 3 });
    const again = await agent.run("Go");
    const inStep = await agent.answer(soleInterrupt(again), "yes");
    expect(shown(inStep)).toEqual(["STATE_DELTA", "STATE_DELTA"]);
  });

  it("of a subagent is the run's, the tag says who changed it (P129)", async () => {
    const { run, refused } = await emit([
      { ...snapshot({ a: 1 }), subagentRunId: "s" },
      delta({ op: "add", path: "/b", value: 2 }),
    ]);
    expect(refused).toEqual([]);
    expect(run.events[1]).toEqual({ type: "STATE_SNAPSHOT", snapshot: { a: 1 }, subagentRunId: "s" });
    expect(run.state).toEqual({ a: 1, b: 2 });
  });
});
