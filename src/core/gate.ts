/**
 * A handler's front without its turns: for a process that routes runs to the ones that hold them. It
 * answers what is no run, so that no instance is woken for it, and says whose and which thread the rest is.
 */
import type { RunAgentInput } from "@ag-ui/core";
import { answerError, type Head, toResponse } from "./answer.ts";
import { corsHeaders } from "./cors.ts";
import type { HandlerOptions } from "./options.ts";
import { fromWeb, receive } from "./receive.ts";
import { settle } from "./settings.ts";

/** What a request comes to at a gate. */
export type Passage =
  /** It is no run, or none that may pass: OPTIONS, GET, a refused caller, anything that gets a 4xx. */
  | { readonly response: Response }
  /** It is a run, for whoever holds its thread. */
  | {
      readonly identity: string | null;
      /** The input, stripped and validated; route by its `threadId`. */
      readonly input: RunAgentInput;
      /** The body as it came, for the request that is passed on. */
      readonly body: string;
      /** What the answer must carry beside its own: the CORS headers. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** What `createGate` gives. Works detached. */
export interface Gate {
  /** Reads one request, its body included. Never rejects: what goes wrong is a response. */
  receive(request: Request): Promise<Passage>;
}

const nobody = () => Promise.resolve();

/**
 * Makes a gate. Of the options those count that need no turn: `identify`, `cors`, `limits.bodyBytes`, `onError`, and
 * for the capabilities `capabilities`, `hold`, `humanInput` and `approvals`. Warnings are left to who serves the run.
 * @throws RangeError or TypeError for options outside their range.
 */
export function createGate(options: Partial<HandlerOptions> = {}): Gate {
  const settings = settle({ ...options, agent: nobody, onWarning: () => {} });
  return {
    async receive(request) {
      let head: Head = {};
      try {
        const from = fromWeb(request);
        head = corsHeaders(settings.cors, from);
        let body = "";
        const text = async (limit: number) => {
          body = await from.text(limit);
          return body;
        };
        const received = await receive({ ...from, text }, {}, settings, head);
        if ("answer" in received) return { response: toResponse(received.answer, null) };
        const { identity, input } = received;
        return { identity, input, body, headers: head };
      } catch (error) {
        return { response: toResponse(answerError(error, head, settings), null) };
      }
    },
  };
}
