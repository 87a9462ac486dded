import { describe, expect, it } from "vitest";
import type { HandlerOptions } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { requestOf } from "../support/open-exchange.ts";

const APP = "https://app.test";
const INPUT = { threadId: "t", runId: "r", messages: [] };

/** One request of every kind, and what it is answered with. */
const REQUESTS: Record<string, (origin: Record<string, string>) => Request> = {
  "a stream": (headers) => requestOf(INPUT, { headers }),
  "a refused run": (headers) =>
    requestOf({ ...INPUT, resume: [{ interruptId: "x", status: "cancelled" }] }, { headers }),
  capabilities: (headers) => new Request("http://agent.test/", { headers }),
  HEAD: (headers) => new Request("http://agent.test/", { method: "HEAD", headers }),
  "a preflight": (headers) => new Request("http://agent.test/", { method: "OPTIONS", headers }),
  "405": (headers) => new Request("http://agent.test/", { method: "PUT", headers }),
  "415": (headers) => requestOf("x", { headers: { ...headers, "content-type": "text/plain" } }),
  "400": (headers) => requestOf("{", { headers }),
  "413": (headers) => requestOf(" ".repeat(2_000), { headers }),
};

const corsOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => /^access|vary/.test(name)));

async function answers(cors: HandlerOptions["cors"], origin: Record<string, string>) {
  const agent = agentUnderTest({
    agent: async () => {},
    limits: { bodyBytes: 1_000 },
    ...(cors !== undefined && { cors }),
  });
  const found: Record<string, Record<string, string>> = {};
  for (const [kind, request] of Object.entries(REQUESTS)) {
    const response = await agent.handler.handle(request(origin));
    await response.text();
    found[kind] = corsOf(response);
  }
  return found;
}

describe("without the option", () => {
  it("no response has a CORS header", async () => {
    for (const found of Object.values(await answers(undefined, { origin: APP }))) expect(found).toEqual({});
  });
});

describe("with it", () => {
  it.each<[string, NonNullable<HandlerOptions["cors"]>]>([
    ["a list", ["https://other.test", APP]],
    ["a function", (origin) => origin === APP],
  ])("every response to an allowed origin carries the headers, credentials included: %s", async (_kind, cors) => {
    for (const [kind, found] of Object.entries(await answers(cors, { origin: APP }))) {
      expect(found, kind).toMatchObject({
        "access-control-allow-origin": APP,
        "access-control-allow-credentials": "true",
        vary: "Origin",
      });
    }
  });

  it.each<[string, NonNullable<HandlerOptions["cors"]>, Record<string, string>]>([
    ["another origin", [APP], { origin: "https://evil.test" }],
    ["an origin that only begins alike", [APP], { origin: `${APP}.evil.test` }],
    ["null as an origin", [APP], { origin: "null" }],
    ["no origin", [APP], {}],
    ["a function that says no", () => false, { origin: APP }],
    ["a function that does not say yes", () => "yes" as never, { origin: APP }],
  ])("no response to %s is readable, but all vary", async (_what, cors, origin) => {
    for (const [kind, found] of Object.entries(await answers(cors, origin))) {
      expect(found["access-control-allow-origin"], kind).toBeUndefined();
      expect(found["access-control-allow-credentials"], kind).toBeUndefined();
      expect(found.vary, kind).toBe("Origin");
    }
  });

  it("of * every response is readable by anybody, never with credentials", async () => {
    for (const [kind, found] of Object.entries(await answers("*", { origin: APP }))) {
      expect(found, kind).toMatchObject({ "access-control-allow-origin": "*", vary: "Origin" });
      expect(found["access-control-allow-credentials"], kind).toBeUndefined();
    }
  });

  it("preflights are answered: the methods, the headers asked for, a day", async () => {
    const agent = agentUnderTest({ agent: async () => {}, cors: [APP] });
    const response = await agent.handler.handle(
      new Request("http://agent.test/", {
        method: "OPTIONS",
        headers: {
          origin: APP,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type, x-holdline-thread",
        },
      }),
    );
    expect(response.status).toBe(204);
    expect(corsOf(response)).toEqual({
      "access-control-allow-origin": APP,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, POST, OPTIONS",
      "access-control-allow-headers": "content-type, x-holdline-thread",
      "access-control-max-age": "86400",
      vary: "Origin",
    });
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  });
});
