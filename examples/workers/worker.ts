/**
 * An agent on a plain Cloudflare Worker. Such a Worker keeps nothing between two requests, so this agent asks by ending
 * its turn: the question is the run's result, the answer the user's next message. (`examples/durable-object` holds turns.)
 *
 *     npm install holdline
 *     npx wrangler dev
 *
 * In another terminal:
 *
 *     curl -N http://127.0.0.1:8787/ -H 'content-type: application/json' -d '{"threadId":"thread-1","runId":"run-1","messages":[{"id":"message-1","role":"user","content":"Restart the service"}]}'
 */
import type { AgentContext } from "holdline";
import { createWorker } from "holdline/workers";

const services = ["api-west", "api-east"];

async function agent(context: AgentContext) {
  // What was said before is in the messages that the client sends along: nothing has to be kept here.
  const named = services.filter((name) => context.userText.includes(name));
  const [service] = named;
  if (service === undefined || named.length > 1) {
    return context.inputRequired(`Which one do you mean, ${services.join(" or ")}?`);
  }
  await context.text(`${service} it is.`);
}

/** The options are made for each request; they may read the environment's bindings. */
export default createWorker(() => ({ agent, cors: "*" }));
