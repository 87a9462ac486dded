/** Bodies that nobody sends by accident: each has a defined answer, and the server stays as it was. */
import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createHandler } from "../../src/index.ts";
import { build } from "../support/child.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";
import { rawConnection, rawHead } from "../support/raw-connection.ts";
import { hostileServer } from "./server.ts";

beforeAll(build, 120_000);

const MB = 2 ** 20;

describe("a valid input with something odd in one place", () => {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, true, 0, -1, 1e308, "", "__proto__", [], {}, [[]], { id: {} }, "\u0000", "\ud800"),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const names = fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "type",
    "role",
    "id",
    "content",
  );
  const whole = {
    ...inputOf({ threadId: "fuzzed" }),
    messages: [
      { id: "1", role: "system", content: "Be brief." },
      { id: "2", role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        id: "3",
        role: "assistant",
        content: "Well",
        toolCalls: [{ id: "c", type: "function", function: { name: "book", arguments: "{}" } }],
      },
      { id: "4", role: "tool", toolCallId: "c", content: "done" },
    ],
    tools: [{ name: "book", description: "Books.", parameters: { type: "object" } }],
    context: [{ description: "today", value: "Monday" }],
    forwardedProps: { a: [1, { b: 2 }] },
    resume: [{ interruptId: "int_1", status: "resolved", payload: 1, metadata: { holdline: { proof: "x" } } }],
  };

  /** Every place in a value, as the names that lead there. */
  function placesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
    if (typeof value !== "object" || value === null) return [path];
    return [path, ...Object.entries(value).flatMap(([name, part]) => placesOf(part, [...path, name]))];
  }
  const places = placesOf(whole).slice(1);

  it("is served, or refused with the place of what is wrong: never anything else", async () => {
    let entered = 0;
    const errors: unknown[] = [];
    const handler = createHandler({
      agent: async () => {
        entered++;
      },
      onWarning: () => {},
      onError: (error) => errors.push(error),
    });
    const found = { served: 0, refused: 0 };
    const change = fc.record({
      place: fc.constantFrom(...places),
      how: fc.constantFrom("set", "drop", "add"),
      name: names,
      odd,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const input = structuredClone(whole);
        for (const { place, how, name, odd } of changes) {
          // biome-ignore lint/suspicious/noExplicitAny: any place of any value.
          let at: any = input;
          for (const step of place.slice(0, -1)) at = at?.[step];
          if (typeof at !== "object" || at === null) continue;
          const last = place.at(-1) as string;
          if (how === "drop") delete at[last];
          else
            Object.defineProperty(at, how === "set" ? last : name, {
              value: odd,
              enumerable: true,
              configurable: true,
            });
        }
        const before = entered;
        const response = await handler.handle(requestOf(input));
        const text = await response.text();
        if (response.status === 200) {
          found.served++;
          expect(text).toMatch(/^data: \{"type":"(RUN_STARTED|RUN_ERROR)"/);
          return;
        }
        found.refused++;
        expect([response.status, JSON.parse(text).error.code, entered - before]).toEqual([400, "INVALID_INPUT", 0]);
      }),
      { numRuns: 2_000, seed: 7 },
    );
    expect(found.served).toBeGreaterThan(200);
    expect(found.refused).toBeGreaterThan(200);
    expect(errors).toEqual([]);
    expect(({} as { id?: unknown }).id).toBeUndefined();
    await handler.close();
  }, 60_000);
});

describe("over a socket", () => {
  it.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("%s nested ten thousand deep, in any member, get a defined answer", async (_what, open, close) => {
    const server = await hostileServer();
    const deep = `${open.repeat(10_000)}1${close.repeat(10_000)}`;
    for (const member of ["state", "forwardedProps", "messages", "resume", "metadata", "unheardOf"]) {
      const rest = JSON.stringify({ ...inputOf(), [member]: "HERE" });
      const { status, text } = await server.send(rest.replace('"HERE"', deep));
      expect([200, 400], `${member}: ${text.slice(0, 200)}`).toContain(status);
    }
    expect((await server.send(deep)).status).toBe(400);
    expect(await server.isWell()).toBe(true);
  });

  it("ids of a megabyte are taken or refused, and nothing of them stays", async () => {
    const server = await hostileServer();
    const { memory } = await server.measure();
    for (let i = 0; i < 20; i++) {
      const { status } = await server.send(inputOf({ threadId: `${i}${"t".repeat(MB)}`, runId: "r".repeat(MB) }));
      expect([200, 400]).toContain(status);
    }
    expect((await server.measure()).memory - memory).toBeLessThan(4 * MB);
    expect(await server.isWell()).toBe(true);
  });

  it("64 MB are refused while they arrive, twenty at once, in a process that could not hold them", async () => {
    const server = await hostileServer();
    const { memory, entered } = await server.measure();
    const flood = async () => {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      let answer = "";
      socket.on("data", (data) => {
        answer += data;
      });
      await once(socket, "connect");
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(rawHead("transfer-encoding: chunked\r\n"));
      const piece = `${(MB).toString(16)}\r\n${"x".repeat(MB)}\r\n`;
      for (let sent = 0; sent < 64 && !socket.destroyed; sent++)
        if (!socket.write(piece)) await Promise.race([once(socket, "drain"), closed]).catch(() => {});
      await closed;
      return answer;
    };
    const answers = await Promise.all(Array.from({ length: 20 }, flood));
    // Who goes on sending may be cut off before reading why.
    expect(answers.filter((answer) => answer !== "" && !answer.includes("413"))).toEqual([]);
    expect(answers.some((answer) => answer.includes("413"))).toBe(true);
    const after = await server.measure();
    expect([after.entered - entered, after.memory - memory < 8 * MB]).toEqual([0, true]);
    expect(await server.isWell()).toBe(true);
  }, 60_000);

  it("two hundred bodies that never end, and headers without end, keep nobody else waiting", async () => {
    const server = await hostileServer();
    const slow = await Promise.all(Array.from({ length: 200 }, () => rawConnection(server.port)));
    for (const { socket } of slow) socket.write(`${rawHead("content-length: 500\r\n")}{"threadId":`);
    const flood = await rawConnection(server.port);
    flood.socket.write(rawHead(`x-flood: ${"x".repeat(64_000)}\r\n`));
    expect(await flood.closed()).toContain("431");
    expect(await server.isWell()).toBe(true);
    expect((await server.measure()).stats).toMatchObject({ running: 0, held: 0 });
    for (const { socket } of slow) socket.destroy();
    expect(await server.isWell()).toBe(true);
  });

  it.each(["identity", "gzip", "utf-16le", "latin1"])(
    "a body in another encoding (%s) is read as UTF-8 or refused",
    async (encoding) => {
      const server = await hostileServer();
      const json = JSON.stringify(inputOf({ threadId: "ü" }));
      const bytes = encoding === "utf-16le" || encoding === "latin1" ? Buffer.from(json, encoding) : Buffer.from(json);
      const response = await fetch(server.url, {
        method: "POST",
        headers: {
          "content-type": `application/json; charset=${encoding}`,
          "content-encoding": encoding === "gzip" ? "gzip" : "identity",
        },
        body: bytes,
      });
      expect(response.status).toBe(encoding === "utf-16le" || encoding === "latin1" ? 400 : 200);
      await response.text();
      expect(await server.isWell()).toBe(true);
    },
  );
});
