import { describeConformance } from "../conformance/suite.ts";
import { serveFixture } from "../support/spawn-fixture.ts";

describeConformance("Node", ["hold", "restart"], () => serveFixture("node", "serve"));
