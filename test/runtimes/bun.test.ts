import { describeConformance } from "../conformance/suite.ts";
import { serveFixture } from "../support/spawn-fixture.ts";

describeConformance("Bun", ["hold", "restart"], () => serveFixture("bun", "serve"));
