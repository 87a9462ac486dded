import { describeConformance } from "../conformance/suite.ts";
import { serveFixture } from "../support/spawn-fixture.ts";

describeConformance("Deno", ["hold", "restart"], () => serveFixture("deno", "serve"));
