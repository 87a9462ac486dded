import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { nodeAgent } from "../support/node-agent.ts";
import { exchange, inputOf } from "../support/open-exchange.ts";
import { until, within } from "../support/promises.ts";
import { LAST_CHUNK, rawConnection, rawHead } from "../support/raw-connection.ts";
import { endOf } from "../support/runs.ts";

const LIMIT = 1_000;

/** An agent that knows how often it was called and with what. */
async function echoing() {
  const threads: string[] = [];
  const agent = await nodeAgent({
    agent: async (context) => {
      threads.push(context.threadId);
    },
    limits: { bodyBytes: LIMIT },
  });
  return { ...agent, threads };
}

/** An input whose JSON is `size` bytes long. */
function inputOfSize(size: number): string {
  const empty = JSON.stringify(inputOf({ threadId: "sized", messages: [{ id: "m", role: "user", content: "" }] }));
  return empty.replace('"content":""', `"content":"${"x".repeat(size - empty.length)}"`);
}

const chunk = (bytes: Uint8Array | string): Buffer => {
  const data = Buffer.from(bytes as string);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
};

describe("a body that is too large", () => {
  it("is refused by its declared length, before it is sent", async () => {
    const { port, threads } = await echoing();
    const connection = await rawConnection(port);
    connection.socket.write(rawHead("content-length: 10000000000\r\n"));
    const text = await connection.until("BODY_TOO_LARGE");
    expect(text).toMatch(/^HTTP\/1\.1 413 .*connection: close/s);
    expect(connection.socket.bytesWritten).toBeLessThan(200);
    expect(threads).toEqual([]);
  });

  it("is refused as it arrives, however long it goes on", async () => {
    const { port, threads, handler } = await echoing();
    const connection = await rawConnection(port);
    connection.socket.write(rawHead("transfer-encoding: chunked\r\n"));
    // It never ends, so only the server can.
    for (let sent = 0; sent <= 2 * LIMIT; sent += 500) connection.socket.write(chunk("x".repeat(500)));
    expect(await connection.closed()).toMatch(/^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s);
    expect(threads).toEqual([]);
    expect(handler.stats()).toMatchObject({ started: 0 });
  });

  it("a client that sends it all first hears why, and one at the limit is served", async () => {
    const { url, threads } = await echoing();
    const post = (body: BodyInit) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        duplex: "half",
      } as RequestInit);
    for (const [size, status] of [
      [LIMIT, 200],
      [LIMIT + 1, 413],
      [LIMIT * 2, 413],
    ] as const) {
      const body = inputOfSize(size);
      const chunked = new Blob([body]).stream();
      for (const sent of [body, chunked]) {
        const response = await post(sent);
        expect([size, response.status]).toEqual([size, status]);
        await response.text();
      }
    }
    expect(threads).toEqual(["sized", "sized"]);
  });

  it("counts bytes, not characters", async () => {
    const { url } = await echoing();
    const body = inputOfSize(LIMIT).replace("xx", "é");
    expect(Buffer.byteLength(body)).toBe(LIMIT + 1 - 1);
    const over = body.replace("x", "é");
    const headers = { "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    expect((await fetch(url, { method: "POST", headers, body: over })).status).toBe(413);
  });
});

describe("a body in pieces", () => {
  it("one byte to a chunk, characters cut in two", async () => {
    const { port, threads } = await echoing();
    const connection = await rawConnection(port);
    connection.socket.write(rawHead("transfer-encoding: chunked\r\n"));
    for (const byte of Buffer.from(JSON.stringify(inputOf({ threadId: "Zürich ✈" }))))
      connection.socket.write(chunk(new Uint8Array([byte])));
    connection.socket.write("0\r\n\r\n");
    expect(await connection.until(LAST_CHUNK)).toContain('"outcome":{"type":"success"}');
    expect(threads).toEqual(["Zürich ✈"]);
  });

  it("asked for with 100-continue", async () => {
    const { port, threads } = await echoing();
    const request = httpRequest({
      port,
      method: "POST",
      headers: { "content-type": "application/json", expect: "100-continue" },
    });
    let continued = false;
    request.on("continue", () => {
      continued = true;
      request.end(JSON.stringify(inputOf({ threadId: "patient" })));
    });
    request.flushHeaders();
    const status = await within(
      5_000,
      new Promise<number | undefined>((resolve, reject) => {
        request.on("response", (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode));
        });
        request.on("error", reject);
      }),
    );
    expect([continued, status, threads]).toEqual([true, 200, ["patient"]]);
  });

  it.each(["closed", "reset", "half-closed"])(
    "half of it, and the connection is %s: nothing starts, and others are served",
    async (how) => {
      const { port, url, threads, handler, errors } = await echoing();
      const connection = await rawConnection(port);
      connection.socket.write(`${rawHead("content-length: 500\r\n")}{"threadId":"half`);
      // The server has the head and waits for the rest.
      await exchange(fetch, { threadId: "other" }, { url });
      if (how === "closed") connection.socket.destroy();
      else if (how === "reset") connection.socket.resetAndDestroy();
      else connection.socket.end();
      await connection.closed();
      expect(endOf(await exchange(fetch, { threadId: "another" }, { url }))).toBe("success");
      expect(threads).toEqual(["other", "another"]);
      expect(handler.stats()).toMatchObject({ started: 2, running: 0 });
      expect(errors).toEqual([]);
    },
  );
});

describe("a body that is wrong", () => {
  const wrong: Record<string, [BodyInit, string, number, string]> = {
    empty: ["", "application/json", 400, "INVALID_JSON"],
    "no JSON": ["{", "application/json", 400, "INVALID_JSON"],
    "no UTF-8": [Buffer.from([0x22, 0xff, 0x22]), "application/json", 400, "INVALID_JSON"],
    "no input": ["[]", "application/json", 400, "INVALID_INPUT"],
    "of another type": ["x".repeat(5_000_000), "text/plain", 415, "UNSUPPORTED_MEDIA_TYPE"],
  };
  it.each(Object.keys(wrong))("%s: answered in JSON, and the agent is not called", async (what) => {
    const [body, type, status, code] = wrong[what] as (typeof wrong)[string];
    const { url, threads } = await echoing();
    const response = await fetch(url, { method: "POST", headers: { "content-type": type }, body });
    expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/json"]);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(threads).toEqual([]);
  });

  it("a byte order mark is none of it", async () => {
    const { url, threads } = await echoing();
    const body = `\ufeff${JSON.stringify(inputOf({ threadId: "marked" }))}`;
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(await response.text()).toContain('"outcome":{"type":"success"}');
    expect(threads).toEqual(["marked"]);
  });

  it("what is unread of it does not stand in the way of a next request on the connection: there is none", async () => {
    const { port } = await echoing();
    const connection = await rawConnection(port);
    connection.socket.write(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 5000000\r\n\r\nGET / HTTP/1.1\r\n",
    );
    const text = await connection.closed();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 415"]);
  });
});

it("headers that no Request takes are no reason to fail", async () => {
  const seen: string[] = [];
  const agent = await nodeAgent({
    agent: async (context) => context.request?.url,
    identify(request) {
      seen.push(request.url);
      return null;
    },
  });
  const body = JSON.stringify(inputOf());
  for (const [host, target] of [
    ["user:secret@host.test", "/"],
    ["host.test", "http://user:secret@proxy.test/"],
    ["[", "/"],
    ["host.test", "/?q=%zz"],
  ]) {
    const connection = await rawConnection(agent.port);
    connection.socket.write(
      `POST ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await connection.closed()).toContain('"outcome":{"type":"success"}');
  }
  expect(seen).toEqual(["http://host.test/", "http://proxy.test/", "http://localhost/", "http://host.test/?q=%zz"]);
  await until(() => agent.handler.stats().running === 0, "the end of the turns");
});
