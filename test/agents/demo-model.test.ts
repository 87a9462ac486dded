/** The demo's agent with a model that the environment names. What it does with its scripted one is in demo.test.ts. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { httpClient } from "../support/http-client.ts";
import { ProgramFolder, runProgram } from "../support/programs.ts";
import { soleInterrupt } from "../support/runs.ts";
import { content, end, type OpenAiServer, openAiServer, toolCall } from "./openai-server.ts";

// Processes start and end here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const server = `${root}examples/human-input/server.mjs`;

describe("npm run demo with a real model", () => {
  let llm: OpenAiServer;
  const folder = new ProgramFolder("demo-model");
  beforeAll(async () => {
    execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
    llm = await openAiServer();
  });
  afterAll(async () => {
    await folder.dispose();
    await llm?.close();
  });

  it("asks the model that the three variables name, and the same tools ask the human", async () => {
    llm.reply(
      [...content("Let me see."), ...toolCall(0, "call_1", "book_flight", '{"flight":"LH999"}'), ...end("tool_calls")],
      [...content("Have a good flight."), ...end("stop")],
    );
    const variables = { PORT: "0", HOLDLINE_MODEL: "tiny", HOLDLINE_BASE_URL: llm.url, HOLDLINE_API_KEY: "key-1" };
    const url = await folder.serve(
      `Object.assign(process.env, ${JSON.stringify(variables)}); await import(${JSON.stringify(server)});`,
    );
    const client = httpClient({ url });
    const asked = await client.say("Anything to Frankfurt?");
    expect(soleInterrupt(asked).message).toBe("Book LH999? (yes/no)");
    const run = await client.answer(soleInterrupt(asked), "yes");
    expect(run.events[1]?.content).toMatch(/^Booked: seat \d+C on LH999\.$/);
    expect(run.text).toBe("Have a good flight.");
    expect(llm.requests.map(({ model }) => model)).toEqual(["tiny", "tiny"]);
  });

  it.each([
    [{ HOLDLINE_MODEL: "tiny" }, "HOLDLINE_BASE_URL and HOLDLINE_API_KEY"],
    [{ HOLDLINE_BASE_URL: "http://127.0.0.1:9/v1", HOLDLINE_API_KEY: "key-1" }, "HOLDLINE_MODEL"],
  ])("says which variable is missing (%j)", async (variables, missing) => {
    const none = { HOLDLINE_MODEL: "", HOLDLINE_BASE_URL: "", HOLDLINE_API_KEY: "" };
    const { code, stdout, stderr } = await runProgram(process.execPath, [server], { ...none, PORT: "0", ...variables });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: `For a real model ${missing} must be set, too.\n`,
    });
  });
});
