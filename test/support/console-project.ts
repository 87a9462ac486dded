/** A project as `holdline create` makes it, and what a test adds to it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { edit, holdline, temporaryFolder } from "./command.ts";

/** Makes a project; resolves to its folder. */
export async function createProject(name = "demo"): Promise<string> {
  const parent = temporaryFolder("project");
  const { code, stdout, stderr } = await holdline(parent, "create", name, "--yes");
  if (code !== 0) throw new Error(`holdline create failed: ${stdout}${stderr}`);
  return join(parent, name);
}

/** Adds a tool in a file of its own whose question lives only for a moment, and a case that calls it. */
export function addImpatientTool(folder: string, timeoutMs: number): void {
  writeFileSync(
    join(folder, "tools/paging.ts"),
    `import { defineTool } from "holdline/project";
import { z } from "zod";

export const page_on_call = defineTool({
  description: "Page whoever is on call.",
  inputSchema: z.object({ about: z.string() }),
  execute: async ({ about }, context) => context.input(\`Is anyone there about \${about}?\`, { timeoutMs: ${timeoutMs} }),
});
`,
  );
  edit(
    join(folder, "script.ts"),
    "cases: [",
    'cases: [{ user: /page/i, model: [{ calls: [{ tool: "page_on_call", args: { about: "api-west" } }] }] },',
  );
}
