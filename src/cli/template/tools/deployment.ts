/** The tools of this agent. Each named export made with `defineTool` is one; its name is the export's. */
import { defineTool } from "holdline/project";
import { z } from "zod";

/** The production services that are configured. Neither is the default. */
const services = {
  "api-west": { version: "4.1.0", requests: 120 },
  "api-east": { version: "4.1.0", requests: 85 },
};

const service = z.enum(["api-west", "api-east"]).describe("The production service.");

/** Needs approval: nothing of it runs before a human has said yes, and the human may change the arguments first. */
export const deploy_service = defineTool({
  description: "Deploy a version to one production service.",
  inputSchema: z.object({ service, version: z.string().describe("As in 4.2.0.") }),
  approval: { allowEdits: true },
  execute: ({ service, version }) => {
    const before = services[service].version;
    services[service].version = version;
    return `${service} went from ${before} to ${version}.`;
  },
});

/** Asks in the middle of its work. While the human thinks, this function waits, with everything it knows. */
export const restart_service = defineTool({
  description: "Restart one production service, once a human has agreed to the interruption.",
  inputSchema: z.object({ service }),
  execute: async ({ service }, context) => {
    const { requests } = services[service];
    const answer = await context.input(`${service} is serving ${requests} requests a second. Restart it now? (yes/no)`);
    if (answer.trim().toLowerCase() !== "yes") return `${service} was left running.`;
    return `${service} was restarted; ${requests} requests a second moved over meanwhile.`;
  },
});
