import { describe, expect, it } from "vitest";
import { counted, INPUT, pieces, refusalOf } from "../support/posted-bodies.ts";
import { endOf } from "../support/runs.ts";

describe("a body", () => {
  it("over bodyBytes is 413, counted while reading and not read to its end", async () => {
    const { post, seen } = counted({ bodyBytes: 1_000 });
    const { body, taken } = pieces(1_000, new Uint8Array(100).fill(32));
    expect(await refusalOf(await post(body))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(taken.pieces).toBeLessThan(100);
    expect(taken.cancelled).toBe(true);
    expect(seen.entered).toBe(0);
  });

  it("that declares itself too large is 413", async () => {
    const { post } = counted({ bodyBytes: 1_000 });
    const headers = { "content-type": "application/json", "content-length": "1000000" };
    const { body, taken } = pieces(1_000, new Uint8Array(100).fill(32));
    expect(await refusalOf(await post(body, headers))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(taken.pieces).toBe(0);
  });

  it("that came encoded is counted while reading: whoever decoded it may have left the length it had before", async () => {
    const { post, seen } = counted({ bodyBytes: 1_000 });
    const headers = { "content-type": "application/json", "content-encoding": "gzip", "content-length": "50" };
    const { body, taken } = pieces(1_000, new Uint8Array(100).fill(32));
    expect(await refusalOf(await post(body, headers))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(taken.pieces).toBeLessThan(100);
    expect(taken.cancelled).toBe(true);
    expect(seen.entered).toBe(0);
    expect((await post(pieces(1, new TextEncoder().encode(INPUT)).body, headers)).status).toBe(200);
    expect(seen.entered).toBe(1);
  });

  it("of exactly bodyBytes is taken, counted in bytes and not in characters", async () => {
    const text = JSON.stringify({ threadId: "\u00e9".repeat(50), runId: "r", messages: [] });
    const bytes = new TextEncoder().encode(text);
    for (const headers of [
      { "content-type": "application/json" },
      { "content-type": "application/json", "content-length": String(bytes.length) },
    ]) {
      const fits = counted({ bodyBytes: bytes.length });
      expect((await fits.post(pieces(1, bytes).body, headers)).status).toBe(200);
      const tight = counted({ bodyBytes: bytes.length - 1 });
      expect(await refusalOf(await tight.post(pieces(1, bytes).body, headers))).toEqual([413, "BODY_TOO_LARGE"]);
      const lying = counted({ bodyBytes: bytes.length - 1 });
      const small = { ...headers, "content-length": "5" };
      expect(await refusalOf(await lying.post(pieces(1, bytes).body, small))).toEqual([413, "BODY_TOO_LARGE"]);
    }
  });

  it("may have 4 MiB where nothing is said", async () => {
    const { post } = counted();
    const whole = new Uint8Array(4 * 1024 * 1024).fill(32);
    whole.set(new TextEncoder().encode(INPUT));
    expect((await post(pieces(1, whole).body)).status).toBe(200);
    const more = new Uint8Array(4 * 1024 * 1024 + 1).fill(32);
    expect(await refusalOf(await post(pieces(1, more).body))).toEqual([413, "BODY_TOO_LARGE"]);
  });

  it("may begin with a byte order mark, and be cut anywhere", async () => {
    const { post, seen } = counted();
    const bytes = new TextEncoder().encode(
      `\ufeff${JSON.stringify({ threadId: "\ud83d\ude00\u00e9", runId: "r", messages: [] })}`,
    );
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const text = await (await post(body)).text();
    expect(text).toContain("\ud83d\ude00\u00e9");
    expect(seen.entered).toBe(1);
  });

  it.each<[string, BodyInit | null]>([
    ["empty", ""],
    ["absent", null],
    ["no JSON", "{"],
    ["JSON with something behind it", `${INPUT}x`],
    ["no UTF-8", new Uint8Array([...new TextEncoder().encode('{"threadId":"'), 0xff, 0x22, 0x7d])],
    ["UTF-8 cut in the middle", new Uint8Array([0x22, 0xe2, 0x82])],
  ])("that is %s is 400", async (_what, body) => {
    const { post, seen } = counted();
    expect(await refusalOf(await post(body))).toEqual([400, "INVALID_JSON"]);
    expect(seen.entered).toBe(0);
  });

  it("that breaks off is 400, and no failure of the server", async () => {
    const { post, agent } = counted();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"threadId"'));
        controller.error(new Error("connection reset"));
      },
    });
    expect(await refusalOf(await post(body))).toEqual([400, "INVALID_JSON"]);
    expect(agent.errors).toEqual([]);
  });

  it("that is a stream of anything but bytes is 400, whatever it would come to", async () => {
    const { post, agent, seen } = counted();
    const streamOf = (chunk: unknown) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(chunk);
          controller.close();
        },
      });
    for (const chunk of [INPUT, "", { byteLength: 1 }, 5, null])
      expect(await refusalOf(await post(streamOf(chunk)))).toEqual([400, "INVALID_JSON"]);
    expect(seen.entered).toBe(0);
    expect(agent.errors).toEqual([]);
  });

  it.each<[string, string[]]>([
    ["null", [""]],
    ["[]", [""]],
    ['"x"', [""]],
    ["1", [""]],
    ["{}", ["threadId", "runId", "messages"]],
    ['{"threadId":1,"runId":"r","messages":{}}', ["threadId", "messages"]],
    ['{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user"}]}', ["messages.0.content"]],
    ['{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"a"}]}', ["tools.0.description"]],
    ['{"threadId":"t","runId":"r","messages":[],"protocolVersion":1}', ["protocolVersion"]],
    ['{"threadId":"t","runId":"r","messages":[],"protocolVersion":"1.0","forwardedProps":null}', ["forwardedProps"]],
    ['{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"maybe"}]}', ["resume.0.status"]],
  ])("that is no RunAgentInput is 400 with the paths of the first issues: %s", async (body, paths) => {
    const { post, seen } = counted();
    const response = await post(body);
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.issues.map(({ path }: { path: unknown[] }) => path.join("."))).toEqual(paths);
    for (const { message } of error.issues) expect(message).toEqual(expect.any(String));
    expect(seen.entered).toBe(0);
  });

  it("with what the protocol does not know is stripped with one warning, and served", async () => {
    const { agent, seen } = counted();
    const run = await agent.run({
      surprise: 1,
      constructor: 2,
      messages: [
        { id: "1", role: "alien", content: "x" },
        { id: "2", role: "user", content: [{ type: "hologram" }, { type: "text", text: "hi", extra: true }] },
      ],
      tools: [{ name: "t", description: "d", zz: 1 }],
    } as never);
    expect(endOf(run)).toBe("success");
    expect(seen.run).toMatchObject({
      messages: [{ id: "2", role: "user", content: [{ type: "text", text: "hi" }] }],
      tools: [{ name: "t", description: "d" }],
    });
    expect(JSON.stringify(seen.run)).not.toMatch(/surprise|hologram|alien|extra|zz/);
    expect(agent.warnings).toHaveLength(1);
    const [warning] = agent.warnings;
    expect(warning).toMatchObject({ threadId: "thread-1", runId: "run-1", path: "messages[0]" });
    // The first few paths, and a count of the rest.
    expect(warning?.message).toMatch(/\(messages\[0\], .*and 3 more\)/);
  });

  it("with nulls means absent without a version, and is 400 with one, but for the state", async () => {
    const nulls = { resume: null, state: null, parentRunId: null, forwardedProps: null, context: null, tools: null };
    const { agent, seen, post } = counted();
    const old = { threadId: "t", runId: "r", messages: [], ...nulls };
    await (await post(JSON.stringify(old))).text();
    expect(seen.run).toEqual({ threadId: "t", runId: "r", messages: [], state: {}, context: [], tools: [] });
    expect(agent.warnings).toHaveLength(1);
    expect(await refusalOf(await post(JSON.stringify({ ...old, protocolVersion: "1.0" })))).toEqual([
      400,
      "INVALID_INPUT",
    ]);
    expect((await agent.run({ state: null })).error).toBeUndefined();
    expect(seen.run).toMatchObject({ state: {} });
  });
});
