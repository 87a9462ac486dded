import { describeConformance } from "../conformance/suite.ts";
import { serveFixture } from "../support/spawn-fixture.ts";

describeConformance("Hono on Node", ["hold", "restart"], () => serveFixture("node", "serve-hono"));
describeConformance("Hono on Bun", ["hold", "restart"], () => serveFixture("bun", "serve-hono"));
