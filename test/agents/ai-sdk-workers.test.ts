import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleFixture } from "../support/bundle-fixture.ts";
import { httpClient } from "../support/http-client.ts";
import { startWorker } from "../support/miniflare.ts";
import { until } from "../support/promises.ts";
import { soleInterrupt } from "../support/runs.ts";
import { begin, content, end, frame, type OpenAiServer, openAiServer, toolCall } from "./openai-server.ts";

describe("an agent with a model on Cloudflare's engine, without Node's modules and without eval", () => {
  let llm: OpenAiServer;
  let worker: ReturnType<typeof startWorker>;
  let url: string;

  beforeAll(async () => {
    llm = await openAiServer();
    worker = startWorker(await bundleFixture("model-worker", "worker"), {
      bindings: { PORT: Number(new URL(llm.url).port) },
      durableObjects: { AGENT_THREADS: { className: "AgentThread", useSQLite: true } },
    });
    url = (await worker.ready).href;
  }, 60_000);
  afterAll(async () => {
    await worker?.dispose();
    await llm?.close();
  });

  it("answers, runs tools and ends a turn with a question in a Worker that keeps nothing", async () => {
    const client = httpClient({ url: `${url}stateless`, threadId: "plain" });
    llm.reply(
      [...content("Let me ", "see."), ...toolCall(0, "call_1", "weather", '{"city":', '"Rome"}'), ...end("tool_calls")],
      [...content("Sunny."), ...end("stop")],
    );
    const run = await client.say("Weather?");
    expect(run.text).toBe("Let me see.Sunny.");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe("Sun in Rome.");
    expect(run.events.at(-1)?.usage).toMatchObject([{ provider: "local.chat", model: "tiny", totalTokens: 36 }]);

    llm.reply([...toolCall(0, "call_2", "request_input", '{"prompt":"Which city?"}'), ...end("tool_calls")]);
    expect((await client.say("And there?")).result).toEqual({ status: "input-required", message: "Which city?" });

    llm.reply(
      [...toolCall(0, "call_3", "book_flight", '{"flight":"LH441"}'), ...end("tool_calls")],
      [...content("No."), ...end("stop")],
    );
    expect((await client.say("Book it")).events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe(
      "The tool failed.",
    );
  });

  it("asks in the middle of a tool, and goes on with the answer, in a Durable Object", async () => {
    const client = httpClient({ url, threadId: "held" });
    llm.reply(
      [...toolCall(0, "call_1", "book_flight", '{"flight":"LH441"}'), ...end("tool_calls")],
      [...content("Done."), ...end("stop")],
    );
    const asked = await client.say("Book it");
    const run = await client.answer(soleInterrupt(asked), "yes");
    expect(run.events.find(({ type }) => type === "TOOL_CALL_RESULT")).toMatchObject({
      toolCallId: "call_1",
      content: "LH441: yes",
    });
    expect(run.text).toBe("Done.");

    llm.reply(
      [...toolCall(0, "call_2", "refund", '{"euros":400}'), ...end("tool_calls")],
      [...content("Refunded."), ...end("stop")],
    );
    const edits = { approved: true, editedArgs: { euros: 40 } };
    const edited = await client.answer(soleInterrupt(await client.say("Refund")), edits);
    expect(edited.events.find(({ type }) => type === "TOOL_CALL_RESULT")?.content).toBe("40 EUR");
  });

  it.each(["stateless", ""])("lets the model go when the client leaves while it stalls (/%s)", async (path) => {
    const client = httpClient({ url: url + path, threadId: `leaving ${path}` });
    const before = [llm.requests.length, llm.dropped];
    llm.reply((response) => {
      begin(response);
      response.write(frame(content("Well")[0] ?? {}));
    });
    const running = client.say("Hello").catch((error: unknown) => error);
    await until(() => llm.requests.length > Number(before[0]), "the model's call");
    client.agent.abortRun();
    await until(() => llm.dropped > Number(before[1]), "the end of the model's answer");
    await running;
  });
});

describe("what an agent costs those who have none", () => {
  const inputsOf = async (entry: string) => {
    const { metafile } = await build({
      absWorkingDir: fileURLToPath(new URL("../../", import.meta.url)),
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      metafile: true,
      external: ["ai"],
      logLevel: "silent",
    });
    const { imports = [], inputs = {} } = Object.values(metafile.outputs)[0] ?? {};
    return { files: Object.keys(inputs), packages: imports.map(({ path }) => path) };
  };

  it("is nothing: the core reaches neither an agent nor the AI SDK", async () => {
    const core = await inputsOf("src/index.ts");
    expect(core.files.filter((file) => file.startsWith("src/agents/"))).toEqual([]);
    expect(core.packages).not.toContain("ai");
    const agent = await inputsOf("src/agents/ai-sdk.ts");
    expect(agent.packages).toContain("ai");
  });

  it("is no code of @ag-ui/client's either, for an agent of that kind: it is used as it is given", async () => {
    const { files } = await inputsOf("src/agents/ag-ui.ts");
    expect(files.filter((file) => file.includes("@ag-ui/client"))).toEqual([]);
  });
});
