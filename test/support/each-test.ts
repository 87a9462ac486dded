/** What is done after each test, in every file: what the test has opened is closed. */
import { afterEach } from "vitest";
import { closeAgents } from "./agent-under-test.ts";
import { closeServers } from "./listen.ts";

afterEach(async () => {
  await closeAgents();
  await closeServers();
});
