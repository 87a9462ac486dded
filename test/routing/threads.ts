/** Many threads at once, each asked through a proxy and answered through one, and who asked and who went on. */
import type { Interrupt } from "@ag-ui/core";
import { threadFetch } from "../../src/client/index.ts";
import type { TestRun } from "../../src/testing/index.ts";
import { exchange, type inputOf, type OpenOptions } from "../support/open-exchange.ts";
import { answerTo, soleInterrupt } from "../support/runs.ts";

/** As `holdline/client` has it: the thread's id is in the header. */
export const post = threadFetch();

export interface AskedThread {
  readonly threadId: string;
  readonly interrupt: Interrupt;
  /** The process that asked. */
  readonly pid: number;
  /** The header as the agent saw it. */
  readonly header: string | null;
}

/** The instance that an interrupt's id names. */
export const markOf = ({ id }: Interrupt): string => id.slice("int_".length, "int_".length + 8);

/** What the threads of one file of tests are called. */
export const threadIds = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index + 1}`);

export async function ask(url: string, threadId: string, options: OpenOptions = {}, by = post): Promise<AskedThread> {
  const interrupt = soleInterrupt(await exchange(by, { threadId }, { url, ...options }));
  const { pid, header } = interrupt.metadata as unknown as AskedThread;
  return { threadId, interrupt, pid, header };
}

export const answer = (
  url: string,
  { threadId, interrupt }: AskedThread,
  options: OpenOptions = {},
  by = post,
): Promise<TestRun> =>
  exchange(by, { threadId, messages: [], resume: [answerTo(interrupt, "yes")] }, { url, ...options });

/** A body whose `threadId` comes first or last, with so many characters of history beside it. */
export const body = (place: "first" | "last", padding: number) => (json: string) => {
  const { threadId, messages, ...rest } = JSON.parse(json) as ReturnType<typeof inputOf>;
  const history = [{ id: "long", role: "user", content: "x".repeat(padding) }, ...messages];
  const input = { ...rest, messages: history };
  return JSON.stringify(place === "first" ? { threadId, ...input } : { ...input, threadId });
};
