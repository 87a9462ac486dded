/** A conversation held by an `HttpAgent`, of whatever version and in front of whatever server. */
import type { HttpAgent, Interrupt, ResumeEntry, RunAgentParameters } from "@ag-ui/client";
import type { Conversation } from "./suite.ts";

type Responses = Record<string, { status: "resolved" | "cancelled"; payload?: unknown }>;

/** `build` makes the resume entries of a run, as the client's own `buildResumeArray` does. */
export function httpAgentConversation(
  agent: HttpAgent,
  build: (pending: Interrupt[], responses: Responses) => ResumeEntry[],
  send = (parameters: RunAgentParameters, subscriber: object): Promise<unknown> =>
    agent.runAgent(parameters, subscriber),
): Conversation {
  let error: string | undefined;
  let said = 0;

  async function run(parameters: RunAgentParameters = {}): Promise<void> {
    error = undefined;
    const sent = send(parameters, {
      onRunErrorEvent({ event }: { event: { code?: string; message: string } }) {
        error = event.code ?? event.message;
      },
      onRunFailed({ error: thrown }: { error: Error }) {
        error = thrown.message;
        // Read by the client, though not in its type: otherwise it throws, and writes the error to the console.
        return { stopPropagation: true };
      },
    });
    // It also rejects before it sends anything.
    await sent.catch((thrown: Error) => {
      error = thrown.message;
    });
  }

  return {
    say(text) {
      said += 1;
      agent.addMessage({ id: `said-${said}`, role: "user", content: text });
      return run();
    },
    reply(...replies) {
      const pending = agent.pendingInterrupts;
      const responses: Responses = {};
      for (const { id, message } of pending) {
        const reply = replies.find(({ to }) => to === message);
        if (reply === undefined) throw new Error(`There is no reply to ${message}.`);
        responses[id] = "payload" in reply ? { status: "resolved", payload: reply.payload } : { status: "cancelled" };
      }
      return run({ resume: build(pending, responses) });
    },
    open: () => agent.pendingInterrupts.map(({ message }) => message ?? ""),
    shown: () =>
      agent.messages
        .filter(({ role }) => role === "assistant")
        .map(({ content }) => (typeof content === "string" ? content : ""))
        .join("\n"),
    error: () => error,
  };
}
