/** A handler's front without its turns. */
import { describe, expect, it } from "vitest";
import { createGate } from "../../src/index.ts";
import { inputOf, requestOf } from "../support/open-exchange.ts";
import { refusalOf } from "../support/posted-bodies.ts";

async function turnedAway(passage: unknown): Promise<Response> {
  const { response } = passage as { response?: Response };
  if (response === undefined) throw new Error("It was let pass.");
  return response;
}

describe("a gate", () => {
  it("lets a run pass: whose it is, its input, its body as it came, and the headers its answer needs", async () => {
    const { receive } = createGate({
      identify: (request) => request.headers.get("x-user") ?? "",
      cors: ["https://app.test"],
    });
    const input = inputOf({ threadId: "t1" });
    const body = `${JSON.stringify({ ...input, notOfTheProtocol: 1 })}\n`;
    const passage = await receive(requestOf(body, { headers: { "x-user": "ann", origin: "https://app.test" } }));
    expect(passage).toEqual({
      identity: "ann",
      input,
      body,
      headers: {
        "access-control-allow-origin": "https://app.test",
        "access-control-allow-credentials": "true",
        vary: "Origin",
      },
    });
  });

  it("takes no options, and then knows nobody", async () => {
    const passage = await createGate().receive(requestOf(inputOf({ threadId: "t1" })));
    expect(passage).toMatchObject({ identity: null, input: { threadId: "t1" }, headers: {} });
  });

  it("answers what is no run", async () => {
    const { receive } = createGate({ cors: "*", capabilities: { identity: { name: "Booker" } } });
    const given = await turnedAway(await receive(new Request("http://agent.test/")));
    expect(await given.json()).toMatchObject({ identity: { name: "Booker" } });
    const options = await turnedAway(await receive(new Request("http://agent.test/", { method: "OPTIONS" })));
    expect([options.status, options.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(await refusalOf(await turnedAway(await receive(requestOf("{"))))).toEqual([400, "INVALID_JSON"]);
  });

  it("gives a caller who is refused the answer of `identify`", async () => {
    const { receive } = createGate({ identify: () => new Response("Sign in first.", { status: 401 }) });
    const response = await turnedAway(await receive(requestOf(inputOf())));
    expect([response.status, await response.text()]).toEqual([401, "Sign in first."]);
  });

  it("reports a fault of its own without telling it", async () => {
    const errors: unknown[] = [];
    const failing = createGate({
      identify: () => {
        throw new Error("The users' table is locked.");
      },
      onError: (error) => void errors.push(String(error)),
    });
    const response = await turnedAway(await failing.receive(requestOf(inputOf())));
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("table")]);
    expect(errors).toEqual(["Error: The users' table is locked."]);
  });

  it("refuses options outside their range when it is made", () => {
    expect(() => createGate({ limits: { bodyBytes: -1 } })).toThrow(RangeError);
  });
});
