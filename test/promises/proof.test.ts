import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { createInterruptIds, issueProof, proves } from "../../src/core/proof.ts";
import type { AgentContext } from "../../src/index.ts";
import { agentUnderTest } from "../support/agent-under-test.ts";
import { answerTo, endOf, giveUp, proofOf, soleInterrupt } from "../support/runs.ts";

const one = async (context: AgentContext) => context.input("A?");

/** Another character of the alphabet in one place. */
const changedAt = (proof: string, index: number): string =>
  proof.slice(0, index) + (proof[index] === "A" ? "B" : "A") + proof.slice(index + 1);

describe("a proof", () => {
  it("is 32 random bytes as base64url, and an id 128 random bits behind an instance mark", () => {
    const proofs = Array.from({ length: 500 }, issueProof);
    expect(new Set(proofs).size).toBe(500);
    for (const proof of proofs) expect(Buffer.from(proof, "base64url")).toHaveLength(32);
    expect(proofs.every((proof) => Buffer.from(proof, "base64url").toString("base64url") === proof)).toBe(true);
    const ids = createInterruptIds();
    const issued = Array.from({ length: 500 }, () => ids.issue());
    expect(new Set(issued).size).toBe(500);
    const parts = issued.map((id) => /^int_([\w-]{8})_([\w-]{22})$/.exec(id));
    expect(new Set(parts.map((part) => part?.[1])).size).toBe(1);
    expect(Buffer.from(parts[0]?.[2] ?? "", "base64url")).toHaveLength(16);
    expect(createInterruptIds().issue().slice(4, 12)).not.toBe(parts[0]?.[1]);
    // Every bit varies.
    const bytes = proofs.map((proof) => Buffer.from(proof, "base64url"));
    for (let bit = 0; bit < 256; bit++) {
      expect(new Set(bytes.map((drawn) => ((drawn[bit >> 3] ?? 0) >> (bit & 7)) & 1)).size).toBe(2);
    }
  });

  it.each<[string, (proof: string) => unknown]>([
    ["is missing", () => undefined],
    ["is no object", () => ({ holdline: "x" })],
    ["is a list", () => ({ holdline: [] })],
    ["stands under another key", (proof) => ({ proof })],
    ["stands under another name", (proof) => ({ holdline: { token: proof } })],
    ["is a number", () => ({ holdline: { proof: 5 } })],
    ["is null", () => ({ holdline: { proof: null } })],
    ["is a list of it", (proof) => ({ holdline: { proof: [proof] } })],
    ["is empty", () => ({ holdline: { proof: "" } })],
    ["is cut", (proof) => ({ holdline: { proof: proof.slice(0, -1) } })],
    ["is longer", (proof) => ({ holdline: { proof: `${proof}A` } })],
    ["is in another case", (proof) => ({ holdline: { proof: proof.toLowerCase() } })],
    ["is padded", (proof) => ({ holdline: { proof: `${proof}=` } })],
    ["differs in its first character", (proof) => ({ holdline: { proof: changedAt(proof, 0) } })],
    ["differs in its last character", (proof) => ({ holdline: { proof: changedAt(proof, proof.length - 1) } })],
    ["differs in the middle", (proof) => ({ holdline: { proof: changedAt(proof, 20) } })],
  ])("that %s proves nothing, for an answer and for giving up alike", async (_what, metadataOf) => {
    const agent = agentUnderTest(one);
    const interrupt = soleInterrupt(await agent.run("go"));
    const metadata = metadataOf(proofOf(interrupt)) as Record<string, unknown> | undefined;
    for (const entry of [answerTo(interrupt, "a"), answerTo(interrupt, 5), giveUp(interrupt)]) {
      const { metadata: _own, ...bare } = entry;
      const refused = await agent.resume([metadata === undefined ? bare : { ...bare, metadata }]);
      // Before the payload is looked at: the wrong kind of payload is not what is told.
      expect(endOf(refused)).toBe("INTERRUPT_NOT_PROVEN");
      expect(refused.raw).not.toContain(proofOf(interrupt));
    }
    expect(agent.handler.stats()).toMatchObject({ held: 1, answered: 0, abandoned: 0 });
    expect((await agent.answer(interrupt, "a")).result).toBe("a");
  });

  it("is one per interrupt: that of an earlier question proves nothing", async () => {
    const agent = agentUnderTest(async (context) => [await context.input("A?"), await context.input("A?")]);
    const first = soleInterrupt(await agent.run("go"));
    const second = soleInterrupt(await agent.answer(first, "a"));
    const stolen = { ...answerTo(second, "b"), metadata: first.metadata ?? {} };
    expect(endOf(await agent.resume([stolen]))).toBe("INTERRUPT_NOT_PROVEN");
    expect((await agent.answer(second, "b")).result).toEqual(["a", "b"]);
  });

  it("needs nothing but the interrupt's metadata, copied whole, and other keys do not disturb it", async () => {
    const agent = agentUnderTest(async (context) => context.input("A?", { metadata: { "acme:form": 1 } }));
    const { id, metadata } = soleInterrupt(await agent.run("go"));
    const copied = { ...metadata, "client:own": true };
    const entry = { interruptId: id, status: "resolved" as const, payload: "a", metadata: copied };
    expect((await agent.resume([entry])).result).toBe("a");
  });
});

describe('proof: "when-present"', () => {
  it("takes an answer without one, but a proof that is present must be the one issued", async () => {
    const agent = agentUnderTest({ agent: one, proof: "when-present" });
    const interrupt = soleInterrupt(await agent.run("go"));
    const malformed = [[], [{ proof: proofOf(interrupt) }], "", proofOf(interrupt), null, 5, true];
    for (const holdline of [{ proof: "wrong" }, { proof: null }, { proof: [] }, ...malformed]) {
      const entry = { ...answerTo(interrupt, "a"), metadata: { holdline } };
      expect(endOf(await agent.resume([entry])), JSON.stringify(holdline)).toBe("INTERRUPT_NOT_PROVEN");
    }
    expect((await agent.resume([{ interruptId: interrupt.id, status: "resolved", payload: "a" }])).result).toBe("a");
    for (const metadata of [{}, { other: 1 }, { holdline: {} }]) {
      const next = soleInterrupt(await agent.run("go"));
      const entry = { interruptId: next.id, status: "resolved" as const, payload: "a", metadata };
      expect((await agent.resume([entry])).result).toBe("a");
    }
  });

  it("warns once when there is no identity either, and not where there is, or where nothing is held", async () => {
    const stateless = agentUnderTest({ agent: async () => {}, proof: "when-present", hold: false });
    await stateless.run("go");
    expect(stateless.warnings).toEqual([]);
    const agent = agentUnderTest({ agent: one, proof: "when-present" });
    await agent.run("go", { identity: "anna" });
    expect(agent.warnings).toEqual([]);
    await agent.run("go");
    await agent.run({ threadId: "another" });
    expect(agent.warnings.map(({ code }) => code)).toEqual(["PROOF_NOT_REQUIRED"]);
  });
});

describe("nobody is told a proof", () => {
  it("but the run that asks, and the owner who is asked again", async () => {
    const told: unknown[] = [];
    const agent = agentUnderTest({
      agent: one,
      whenAsked: "ask-again",
      onWarning: (warning) => told.push(warning),
      onError: (...error) => told.push(error),
      onTrace: (event) => told.push(event),
    });
    const asked = await agent.run("go", { identity: "anna" });
    const interrupt = soleInterrupt(asked);
    const others = [
      asked.raw.split("\n\n").slice(0, -2).join(),
      (await agent.run("go", { identity: "bert" })).raw.replaceAll(interrupt.message ?? "", ""),
      (await agent.run({ resume: [giveUp({ id: interrupt.id })] }, { identity: "anna" })).raw,
      (await agent.answer(interrupt, 5)).raw,
      JSON.stringify(agent.handler.inspect()),
      JSON.stringify(agent.handler.stats()),
      await (await agent.handler.handle(new Request("http://agent.test/"))).text(),
      (await agent.answer(interrupt, "a")).raw,
      JSON.stringify(told),
    ];
    for (const text of others) expect(text).not.toContain(proofOf(interrupt));
    expect(asked.raw.split(proofOf(interrupt))).toHaveLength(2);
  });
});

describe("the comparison of proofs", () => {
  it("looks at every character, whether the first or the last one differs", () => {
    const issued = issueProof();
    const looked = (given: string): number => {
      const spy = vi.spyOn(String.prototype, "charCodeAt");
      const proven = proves(given, issued);
      const calls = spy.mock.calls.length;
      spy.mockRestore();
      expect(proven).toBe(given === issued);
      return calls;
    };
    const whole = looked(issued);
    expect(whole).toBe(2 * issued.length);
    for (const index of [0, 1, 21, issued.length - 2, issued.length - 1]) {
      expect(looked(changedAt(issued, index))).toBe(whole);
    }
  });

  it("is never === or another operator that stops at the first difference, anywhere in the sources", () => {
    const folder = fileURLToPath(new URL("../../src", import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    expect(files).toContain("core/proof.ts");
    const offending = files.flatMap((name) =>
      readFileSync(`${folder}/${name}`, "utf8")
        .split("\n")
        .filter(comparesProofs)
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(offending).toEqual([]);
    // The rule would notice.
    for (const line of [
      "if (given.proof === issued.proof) return true;",
      "return proof == question.issued.proof",
      "if (issued.proof !== proof) refuse();",
      "proofs.includes(proof)",
      "given.startsWith(issued.proof)",
      "switch (proof) {",
      "Object.is(proof, issued)",
      "proof.localeCompare(issued) === 0",
    ])
      expect(comparesProofs(line), line).toBe(true);
  });
});

/** Whether a line compares something called a proof by other means than `proves`. Absence and kind may be asked about. */
function comparesProofs(line: string): boolean {
  const code = line
    .replace(/\/\/.*$/, "")
    .replace(/^\s*\/?\*.*$/, "")
    .replace(/"[^"]*"|`[^`]*`/g, '""');
  const harmless = code.replace(/typeof \w*[pP]roof\w*|\bproof(Required|s)?\b [!=]== (undefined|null|"")/g, "");
  const names = /\b\w*\.?[pP]roof\b/;
  if (!names.test(harmless)) return false;
  return (
    /[pP]roof\b\s*[!=]==?|[!=]==?\s*[\w.?]*[pP]roof\b/.test(harmless) ||
    /(includes|startsWith|endsWith|indexOf|localeCompare|Object\.is|switch|\.has|\.match)\s*\([^)]*[pP]roof|[pP]roof\.(includes|startsWith|endsWith|indexOf|localeCompare|match)\(/.test(
      harmless,
    )
  );
}
