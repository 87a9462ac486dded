import { describeConformance } from "../conformance/suite.ts";
import { serveWorker } from "../support/miniflare.ts";

describeConformance("Durable Object", ["hold", "restart"], () =>
  serveWorker("durable-object-worker", {
    durableObjects: { AGENT_THREADS: { className: "AgentThread", useSQLite: true } },
  }),
);
