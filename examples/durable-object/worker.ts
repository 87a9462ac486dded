/**
 * An agent with held turns on Cloudflare: a Worker that finds the object of a thread, and the object
 * that holds its turn. `npm run dev:workers` serves it; `npx wrangler deploy` deploys it.
 */
import type { AgentContext } from "holdline";
import { createThreadObject, routeThreads } from "holdline/durable-object";

async function agent(context: AgentContext) {
  const flight = { from: "OSL", to: "FRA", number: "LH441" };
  await context.text(`There is a seat on ${flight.number}. `);
  const result = await context.toolCall(
    "book",
    flight,
    async ({ number }, tool) => {
      const seat = await tool.input("Window or aisle?");
      return `${number} is booked, ${seat} seat.`;
    },
    { approval: { message: `Book ${flight.number} from ${flight.from} to ${flight.to}?` } },
  );
  await context.text(result);
}

/** What the Worker and the objects agree on. */
const options = () => ({ agent, cors: "*" as const });

export class AgentThread extends createThreadObject(options) {}

export default routeThreads({ binding: "AGENT_THREADS" }, options);
