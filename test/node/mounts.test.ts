/** What a mount is given by mistake, and what it says at once instead of at the first request. */
import { describe, expect, it } from "vitest";
import { agentRoute } from "../../adapters/hono.ts";
import { serve, toNodeListener } from "../../adapters/node.ts";
import { createHandler } from "../../src/index.ts";

describe("a mount", () => {
  it.each([{ path: "agent" }, { healthPath: "health" }])("takes no path without its slash: %j", async (options) => {
    const handler = createHandler({ agent: async () => {} });
    await expect(serve(handler, options)).rejects.toThrow("must begin with a slash");
  });

  it("takes what createHandler gives, not what it is given", async () => {
    const options = { agent: async () => {} } as never;
    await expect(serve(options)).rejects.toThrow("serve needs what createHandler gives");
    expect(() => toNodeListener(options)).toThrow("toNodeListener needs what createHandler gives");
    expect(() => agentRoute(options)).toThrow("agentRoute needs what createHandler gives");
  });
});
