import type { ApproveOptions } from "../../src/index.ts";
import { agentUnderTest } from "./agent-under-test.ts";

/** An agent that pays when it may, and what it did: the arguments it ran with, and those its context had then. */
export function paying(options: true | ApproveOptions = true, args: object = { eur: 5 }) {
  const ran: unknown[] = [];
  const agent = agentUnderTest(async (context) =>
    context.toolCall(
      "pay",
      args,
      (given, tool) => {
        ran.push(given, tool.args);
        return "Paid.";
      },
      { approval: options },
    ),
  );
  return { agent, ran };
}
