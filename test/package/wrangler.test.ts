/** What `wrangler.toml` deploys, by the tool that deploys it: once without deploying, once served on this machine. */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from "../support/miniflare.ts";
import { exchange } from "../support/open-exchange.ts";
import { answerTo, soleInterrupt } from "../support/runs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const wrangler = join(root, "node_modules/.bin/wrangler");
// Neither asks anybody else anything.
const env = { ...process.env, CI: "true", CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };

/** A port that nobody has now. */
const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

describe("wrangler.toml", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdline-wrangler-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("names the date and flags that the tests run with, and the class of the objects", async () => {
    const text = await readFile(join(root, "wrangler.toml"), "utf8");
    expect(text).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`);
    expect(text).toContain(`compatibility_flags = ${JSON.stringify(COMPATIBILITY_FLAGS).replaceAll(",", ", ")}`);
    expect(text).toContain(`class_name = "AgentThread"`);
    const example = await readFile(join(root, "examples/durable-object/worker.test.ts"), "utf8");
    expect(example).toContain(`compatibilityDate: "${COMPATIBILITY_DATE}"`);
    // Copied into a project it may meet an older engine, which does not start with flags that it does not know.
    expect(example).toContain(`compatibilityFlags: ["${COMPATIBILITY_FLAGS[0]}"]`);
  });

  it("is deployed, as far as that goes without deploying", async () => {
    const { stdout } = await promisify(execFile)(wrangler, ["deploy", "--dry-run", "--outdir", folder], {
      cwd: root,
      env,
    });
    expect(stdout).toMatch(/env\.AGENT_THREADS \(AgentThread\)\s+Durable Object/);
    expect(await readdir(folder)).toContain("worker.js");
  }, 60_000);

  it("is served by `npm run dev:workers`, which holds a turn and resumes it", async () => {
    const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const [name, ...given] = scripts["dev:workers"].split(" ");
    expect(name).toBe("wrangler");
    const port = await freePort();
    const state = ["--ip", "127.0.0.1", "--port", String(port), "--persist-to", join(folder, "state")];
    const child = spawn(wrangler, [...given, ...state], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let said = "";
    try {
      await new Promise<void>((resolve, reject) => {
        const listen = (text: string) => {
          said += text;
          if (said.includes("Ready on")) resolve();
        };
        child.stdout.setEncoding("utf8").on("data", listen);
        child.stderr.setEncoding("utf8").on("data", listen);
        child.once("exit", () => reject(new Error(`wrangler dev ended: ${said}`)));
      });
      const at = { url: `http://127.0.0.1:${port}/` };
      const consent = soleInterrupt(await exchange(fetch, {}, at));
      const seat = soleInterrupt(await exchange(fetch, { resume: [answerTo(consent, "yes")] }, at));
      const booked = await exchange(fetch, { resume: [answerTo(seat, "window")] }, at);
      expect(booked.text).toBe("LH441 is booked, window seat.");
    } finally {
      // Its engine is a process of its own: the whole group goes.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      await new Promise<void>((resolve) => (child.exitCode === null ? child.once("exit", () => resolve()) : resolve()));
    }
  }, 90_000);
});
