import { describe, expect, it } from "vitest";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, soleInterrupt, typesOf } from "../support/runs.ts";

const circle: Record<string, unknown> = {};
circle.self = circle;
const deep = { getter: {}, nested: [{}] };
Object.defineProperty(deep.getter, "x", {
  enumerable: true,
  get() {
    throw new Error("no");
  },
});

const REFUSED = Symbol("refused");
/** What each value is once it was said in JSON; `undefined` where there is nothing to say. */
const odd: [what: string, value: unknown, inJson: unknown][] = [
  ["a BigInt", 1n, REFUSED],
  ["a BigInt inside", { a: [1n] }, REFUSED],
  ["a circle", circle, REFUSED],
  ["a getter that throws", deep, REFUSED],
  [
    "a toJSON that throws",
    {
      toJSON() {
        throw new Error("no");
      },
    },
    REFUSED,
  ],
  ["undefined", undefined, undefined],
  ["a function", () => 1, undefined],
  ["a symbol", Symbol("s"), undefined],
  ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a Map", new Map([[1, 2]]), {}],
  ["-0", -0, 0],
  ["Infinity", Number.POSITIVE_INFINITY, null],
  ["a lone surrogate", "\ud800", "\ud800"],
  ["U+2028", "\u2028\u2029\u0085", "\u2028\u2029\u0085"],
  ["a name of Object's own", JSON.parse('{"__proto__":{"polluted":1}}'), JSON.parse('{"__proto__":{"polluted":1}}')],
];

describe.each([true, false])("B81 values that JSON cannot say, or says otherwise (validate: %s)", (validate) => {
  const run = (agent: (context: AgentContext) => Promise<unknown>) => {
    const tested = agentUnderTest({ agent, validate });
    return tested.run("Go").then((first) => ({ first, tested }));
  };

  it.each(odd)("%s in an event is sent as it is in JSON, or refused to the agent", async (_what, value, inJson) => {
    const { first } = await run((context) =>
      context.emit({ type: "CUSTOM", name: "odd", value }).then(
        () => "sent",
        (error) => error.code,
      ),
    );
    const sent = inJson !== REFUSED && inJson !== undefined;
    expect(first.result).toBe(sent ? "sent" : "EVENT_REFUSED");
    expect(typesOf(first)).toEqual(sent ? ["RUN_STARTED", "CUSTOM", "RUN_FINISHED"] : ["RUN_STARTED", "RUN_FINISHED"]);
    if (sent) expect(first.events[1]?.value).toEqual(inJson);
  });

  it.each(odd)("%s as the agent's result", async (_what, value, inJson) => {
    const { first, tested } = await run(async () => value);
    if (inJson === REFUSED) {
      expect(typesOf(first)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
      expect(endOf(first)).toBe("AGENT_FAILED");
      expect(tested.errors).toHaveLength(1);
    } else {
      expect(typesOf(first)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
      expect(first.result).toEqual(inJson === null ? undefined : inJson);
      expect(Object.hasOwn(first.events[1] ?? {}, "result")).toBe(inJson !== undefined && inJson !== null);
    }
  });

  it.each(odd)("%s as a tool's result", async (_what, value, inJson) => {
    const { first } = await run((context) =>
      context
        .toolCall("odd", {}, () => value)
        .then(
          () => "resolved",
          () => "rejected",
        ),
    );
    const result = first.events.find(({ type }) => type === "TOOL_CALL_RESULT");
    expect(first.result).toBe(inJson === REFUSED ? "rejected" : "resolved");
    const words =
      inJson === undefined
        ? ""
        : typeof inJson === "string" && typeof value === "string"
          ? inJson
          : JSON.stringify(inJson);
    expect(result?.content).toBe(inJson === REFUSED ? "The tool failed." : words);
  });

  it.each(odd)("%s as a question's metadata", async (_what, value, inJson) => {
    const { first, tested } = await run((context) => context.input("?", { metadata: { odd: value as never } }));
    if (inJson === REFUSED) return expect(endOf(first)).toBe("AGENT_FAILED");
    const interrupt = soleInterrupt(first);
    expect(interrupt.metadata?.odd).toEqual(inJson);
    expect(endOf(await tested.answer(interrupt, "yes"))).toBe("success");
  });

  it.each(odd)("%s as the state", async (_what, value, inJson) => {
    const { first } = await run((context) =>
      context.setState(value).then(
        () => "set",
        (error) => error.code,
      ),
    );
    const sent = inJson !== REFUSED && inJson !== undefined;
    expect(first.result).toBe(sent ? "set" : "EVENT_REFUSED");
    if (sent) expect(first.state).toEqual(inJson);
  });
});
