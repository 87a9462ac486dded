/** `holdline run --watch`: what is changed is what is served. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/child.ts";
import { edit, type RunningProject, runProject } from "../support/command.ts";
import { createProject } from "../support/console-project.ts";
import { httpClient } from "../support/http-client.ts";
import { soleInterrupt } from "../support/runs.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

describe("holdline run --watch", () => {
  let folder: string;
  let project: RunningProject;

  beforeAll(async () => {
    await build();
    folder = await createProject();
    project = await runProject(folder, ["--watch"]);
  });
  afterAll(() => project?.stop());

  /** What the tool asks, at the agent that is served now. */
  async function questionAt(url: string): Promise<string | undefined> {
    const client = httpClient({ url });
    const asked = soleInterrupt(await client.say("Restart api-east"));
    await client.abandon(asked);
    return asked.message;
  }

  it("serves a tool's new code, tells a mistake and waits, and serves again when it is mended", async () => {
    expect(await questionAt(project.agentUrl)).toContain("85 requests");

    const restarted = project.hear(/Agent +(http:\S+)/);
    edit(join(folder, "tools/deployment.ts"), "requests: 85", "requests: 7000");
    expect(await questionAt(await restarted)).toContain("7000 requests");

    const refused = project.hear(/1 mistake in this project:\n {2}(.*)\n/);
    const waits = project.hear(/Waiting for a change/);
    edit(join(folder, "agent.yaml"), "port: 8787", "prt: 8787");
    expect(await refused).toBe("agent.yaml: prt: this key is not known");
    await waits;

    const mended = project.hear(/Agent +(http:\S+)/);
    edit(join(folder, "agent.yaml"), "prt: 8787", "port: 8787");
    expect(await questionAt(await mended)).toContain("7000 requests");
  });
});
