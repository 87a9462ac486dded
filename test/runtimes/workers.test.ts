import { describeConformance } from "../conformance/suite.ts";
import { serveWorker } from "../support/miniflare.ts";

describeConformance("Workers", ["stateless"], () => serveWorker("plain-worker"));
