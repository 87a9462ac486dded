/** An agent under test behind the Node adapter, on a socket of its own, with the protocol's own client before it. */
import { type ServeOptions, type Serving, serve } from "../../adapters/node.ts";
import type { Agent } from "../../src/index.ts";
import type { TestAgent, TestAgentOptions } from "../../src/testing/index.ts";
import { agentUnderTest } from "./agent-under-test.ts";
import { type HttpClient, type HttpClientOptions, httpClient } from "./http-client.ts";
import { closeAfterTest } from "./listen.ts";

export interface NodeAgent extends Pick<TestAgent, "handler" | "clock" | "warnings" | "errors"> {
  readonly serving: Serving;
  readonly url: string;
  readonly port: number;
  /** A conversation of its own; all of one agent share what interrupt ids were seen. */
  client(options?: Omit<HttpClientOptions, "url" | "post" | "seenInterruptIds">): HttpClient;
}

export async function nodeAgent(agent: Agent | TestAgentOptions, options: ServeOptions = {}): Promise<NodeAgent> {
  const tested = agentUnderTest(agent);
  const serving = await serve(tested.handler, options);
  // The handler first: its clock has to be moved for an agent that does not unwind.
  closeAfterTest(() => tested.close().then(() => serving.close()));
  const seenInterruptIds = new Set<string>();
  const { handler, clock, warnings, errors } = tested;
  return {
    handler,
    clock,
    warnings,
    errors,
    serving,
    url: serving.url,
    port: serving.port,
    client: (given = {}) => httpClient({ ...given, url: serving.url, seenInterruptIds }),
  };
}
