import { describe, expect, it } from "vitest";
import { abandon, answer } from "../../src/client/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { endOf, soleInterrupt } from "../support/runs.ts";

const asking = () => agentUnderTest(async (context) => context.input("Sure?", { metadata: { "acme:form": 7 } }));

describe("entries made for a resume", () => {
  it("carry the metadata of their interrupt, whole, and are taken", async () => {
    const tested = asking();
    const interrupt = soleInterrupt(await tested.run("Hi"));
    const entry = answer(interrupt, "yes");
    expect(entry).toEqual({
      interruptId: interrupt.id,
      status: "resolved",
      payload: "yes",
      metadata: interrupt.metadata,
    });
    expect(entry.metadata).toMatchObject({ "acme:form": 7, holdline: { proof: expect.any(String) } });
    expect((await tested.resume([entry])).result).toBe("yes");
  });

  it("give a question up", async () => {
    const tested = asking();
    const interrupt = soleInterrupt(await tested.run("Hi"));
    expect(abandon(interrupt)).toEqual({
      interruptId: interrupt.id,
      status: "cancelled",
      metadata: interrupt.metadata,
    });
    expect(endOf(await tested.resume([abandon(interrupt)]))).toBe("cancelled");
  });

  it("have no member without a value", () => {
    expect(answer({ id: "i" })).toEqual({ interruptId: "i", status: "resolved" });
    expect(Object.keys(answer({ id: "i" }, undefined))).toEqual(["interruptId", "status"]);
    expect(answer({ id: "i" }, false)).toMatchObject({ payload: false });
    expect(Object.keys(abandon({ id: "i" }))).toEqual(["interruptId", "status"]);
  });
});
