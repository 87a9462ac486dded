/**
 * Requests as they are sent, whatever their bodies: an agent that counts how often it was entered, and how one is refused.
 */
import { expect } from "vitest";
import { agentUnderTest } from "./agent-under-test.ts";

export const INPUT = '{"threadId":"t","runId":"r","messages":[]}';

/** A handler whose agent counts how often it was entered. */
export function counted(limits = {}) {
  const seen = { entered: 0, run: undefined as unknown };
  const agent = agentUnderTest({
    limits,
    agent: async (context) => {
      seen.entered++;
      seen.run = context.run;
    },
  });
  const post = (body: BodyInit | null, headers: Record<string, string> = { "content-type": "application/json" }) =>
    agent.handler.handle(
      new Request("http://agent.test/", { method: "POST", headers, body, duplex: "half" } as RequestInit),
    );
  return { agent, seen, post };
}

/** Bytes that come in pieces, and how many were taken. */
export function pieces(count: number, piece: Uint8Array) {
  const taken = { pieces: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken.pieces === count) return controller.close();
        taken.pieces++;
        controller.enqueue(piece);
      },
      cancel() {
        taken.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, taken };
}

export async function refusalOf(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/json");
  const { error, ...rest } = await response.json();
  expect(rest).toEqual({});
  return [response.status, error.code];
}
