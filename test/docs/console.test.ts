/** docs/console.md: its app gives the page and asks; the files it lists are those that are made. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/child.ts";
import { holdline, temporaryFolder } from "../support/command.ts";
import { codesIn } from "../support/markdown.ts";
import { pageUnderTest } from "../support/page-under-test.ts";
import { ProgramFolder } from "../support/programs.ts";
import { readRecorded } from "../support/recorded-stream.ts";

// The build is a process of its own; what else the machine does is not its to say.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 180_000 });

const page = pageUnderTest("docs/console.md");
const EXPORTED = "export default app;\n";
/** Serves the app by Node. The page is part of the built package, so the program runs in a process of its own. */
const SERVED = `const { serve } = await import("@hono/node-server");
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log("at http://127.0.0.1:" + port + "/"));
`;
const folder = new ProgramFolder("console");
beforeAll(() => build());
afterAll(() => folder.dispose());

describe("docs/console.md", () => {
  it("has an app that gives the page, and an agent that asks", async () => {
    const program = page.take("In an app of yours", "ts");
    expect(program).toContain(EXPORTED);
    const url = await folder.serve(program.replace(EXPORTED, SERVED));
    const shown = await fetch(url);
    expect(shown.headers.get("content-type")).toContain("text/html");
    expect(await shown.text()).toContain("<title>Travel desk</title>");

    const input = { threadId: "thread-1", runId: "run-1", messages: [] };
    const headers = { "content-type": "application/json" };
    const asked = await fetch(`${url}agent`, {
      method: "POST",
      headers,
      body: JSON.stringify(input),
    });
    const events = await readRecorded(await asked.text(), input);
    expect(events.at(-1)?.outcome.interrupts).toMatchObject([{ message: "Book LH441? (yes/no)" }]);
  });

  it("names the files of the project that its command makes", async () => {
    const parent = temporaryFolder("project");
    const [, program, ...args] = page.take("A project", "sh").trim().split(" ");
    expect(program).toBe("holdline");
    expect(await holdline(parent, ...args)).toMatchObject({ code: 0 });
    const files = page.tables.flatMap(({ rows }) => rows.map(([file = ""]) => codesIn(file)[0] ?? file));
    expect(files).toHaveLength(5);
    expect(files.filter((file) => !existsSync(join(parent, "demo", file)))).toEqual([]);
  });

  it("shows nothing that was not run here", () => expect(page.left).toEqual([]));
});
