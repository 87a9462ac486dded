import { createHandler } from "../../src/index.ts";
import { createTestClock } from "../../src/testing/index.ts";
import { describeConformance } from "../conformance/suite.ts";
import { createServed } from "../fixtures/served-agent.ts";

describeConformance("in process", ["hold", "restart", "clock"], async () => {
  const clock = createTestClock();
  const { options, control } = createServed({ clock });
  let handler = createHandler(options);
  return {
    url: "http://agent.test/",
    post: (request) => handler.handle(request),
    control: async (path) => control(path),
    advance: (ms) => clock.advance(ms),
    async restart() {
      handler = createHandler(options);
    },
    stop: () => handler.close(),
  };
});
