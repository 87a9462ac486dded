/** What README.md lists is held against the sources: nothing that it names is missing there, and nothing is missing here. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { settle } from "../src/core/settings.ts";
import * as holdline from "../src/index.ts";
import { requirements } from "./conformance/requirements.ts";
import { literalsOf, membersOf } from "./support/declarations.ts";
import { codesIn, readPage } from "./support/markdown.ts";

const page = readPage(readFileSync(new URL("../README.md", import.meta.url), "utf8"));

/** The rows of a table; it is found by its first column's name. */
function rowsOf(heading: string, column: string): ReadonlyArray<readonly string[]> {
  const table = page.tables.find((each) => each.heading === heading && each.columns[0] === column);
  if (table === undefined) throw new Error(`README.md has no table "${column}" under "${heading}".`);
  return table.rows;
}
const namesIn = (rows: ReadonlyArray<readonly string[]>) => rows.map(([cell = ""]) => cell.replaceAll("`", ""));

describe("the tables of README.md", () => {
  it("list every refusal, in the order in which they are decided", () => {
    expect(namesIn(rowsOf("Refusals", "`code`"))).toEqual(Object.values(holdline.RefusalCode));
  });

  it("list every cause", () => {
    expect(namesIn(rowsOf("Refusals", "cause"))).toEqual(literalsOf("src/core/errors.ts", "InterruptCause"));
  });

  it("list every error of a request, with its status", () => {
    const listed = rowsOf("Refusals", "`error.code`").map(([code = "", status]) => [code.replaceAll("`", ""), status]);
    const codes = Object.values(holdline.RequestErrorCode);
    expect(listed).toEqual(codes.map((code) => [code, String(new holdline.RequestError(code, "").status)]));
  });

  it("list every requirement, on the same runtimes as docs/runtimes.md and with the same marks", () => {
    const [readme = [], runtimes] = ["README.md", "docs/runtimes.md"].map((path) => {
      const text = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
      const table = /<!-- conformance -->\n([\s\S]*?)<!-- \/conformance -->/.exec(text)?.[1] ?? "";
      const lines = table.split("\n").filter((line) => line.startsWith("|") && !/^[-:| ]+$/.test(line));
      return lines.map((line) => line.split("|").map((cell) => cell.trim()));
    });
    expect(readme).toEqual(runtimes);
    expect(readme.slice(1).map(([, says]) => says)).toEqual(Object.values(requirements).map(({ says }) => says));
  });

  it("list every option, in the order of its declaration", () => {
    const declared = membersOf("src/core/options.ts", "HandlerOptions");
    expect(declared).toEqual(expect.arrayContaining(["agent", "retention.ttlMs", "limits.keptEvents", "onTrace"]));
    expect(namesIn(rowsOf("Options", "option"))).toEqual(declared);
  });

  it("list the defaults that are in force", () => {
    const told = vi.spyOn(console, "warn").mockReturnValue();
    const failed = vi.spyOn(console, "error").mockReturnValue();
    const settings = settle({ agent: async () => {} });
    settings.warn({ code: "ODD", message: "" });
    settings.report(new Error(), {});
    const inForce: Record<string, unknown> = {
      "retention.ttlMs": settings.ttlMs,
      "retention.maxHeld": settings.maxHeld,
      "retention.maxHeldPerIdentity": settings.maxHeldPerIdentity,
      hold: settings.hold,
      humanInput: settings.humanInput,
      proof: settings.proofRequired ? "required" : "when-present",
      identify: settings.identify,
      whenAsked: settings.whenAsked,
      onDisconnect: settings.finishAlone ? "finish" : "abort",
      capabilities: settings.capabilities,
      reasons: settings.reasons,
      "approvals.deniedMessage": settings.approvals.deniedMessage,
      "approvals.allowAlways": settings.approvals.allowAlways,
      "approvals.allowEdits": settings.approvals.allowEdits,
      "transports.protobuf": settings.protobuf,
      cors: settings.cors,
      keepAliveMs: settings.keepAliveMs,
      "limits.bodyBytes": settings.bodyBytes,
      "limits.queuedRuns": settings.queuedRuns,
      "limits.keptEvents": settings.keptEvents,
      closeTimeoutMs: settings.closeTimeoutMs,
      validate: settings.validate,
      onWarning: told.mock.calls.length === 1 ? console.warn : undefined,
      onError: failed.mock.calls.length === 1 ? console.error : undefined,
      onTrace: undefined,
      onHold: undefined,
    };
    const scope = { maxHeld: settings.maxHeld, console };
    /** What a cell says: code that gives the default, or that there is none. */
    const read = (cell: string): unknown => {
      if (cell === "none") return undefined;
      const [code = ""] = codesIn(cell);
      expect(cell).toBe(`\`${code}\``);
      return new Function(...Object.keys(scope), `return (${code});`)(...Object.values(scope));
    };
    // These two are what they are without any default: one must be given, the other is the machine's.
    const inWords = new Map([
      ["agent", "required"],
      ["clock", "the system's"],
    ]);
    const rows = rowsOf("Options", "option");
    for (const [name, words] of inWords) expect(rows.find(([cell]) => cell === `\`${name}\``)?.[1]).toBe(words);
    expect(Math.abs(settings.clock.now() - Date.now())).toBeLessThan(1_000);
    const listed = rows.map(([cell = "", value = ""]) => [cell.replaceAll("`", ""), value] as const);
    const withDefaults = listed.filter(([name]) => !inWords.has(name)).map(([name, cell]) => [name, read(cell)]);
    expect(Object.fromEntries(withDefaults)).toEqual(inForce);
    vi.restoreAllMocks();
  });

  it("list every adapter, with everything that it exports", async () => {
    const rows = rowsOf("Adapters", "entry");
    const adapters = readdirSync(new URL("../adapters/", import.meta.url)).filter((name) => /^[^_].*\.ts$/.test(name));
    expect(namesIn(rows).toSorted()).toEqual(adapters.map((name) => `holdline/${name.replace(".ts", "")}`).toSorted());
    for (const [entry = "", described = ""] of rows) {
      const exported = await import(`../adapters/${entry.replaceAll("`", "").replace("holdline/", "")}.ts`);
      const named = codesIn(described).map((code) => /^\w+/.exec(code)?.[0]);
      expect(named).toEqual(expect.arrayContaining(Object.keys(exported)));
    }
  });

  it("list every member of the context", () => {
    const listed = rowsOf("What an agent is handed", "of `AgentContext`")
      .flatMap(([cell = ""]) => codesIn(cell))
      .map((code) => /^\w+/.exec(code)?.[0]);
    expect(listed.toSorted()).toEqual(membersOf("src/core/agent.ts", "AgentContext").toSorted());
  });
});

describe("the prose of README.md", () => {
  const codesUnder = (heading: string) =>
    codesIn(page.prose.get(heading) ?? "").map((code) => /^\w+/.exec(code)?.[0] ?? code);

  it("names every member of the handler", () => {
    expect(codesUnder("Options")).toEqual(expect.arrayContaining(membersOf("src/core/handle.ts", "Handler")));
  });

  it("names every option of serve", () => {
    expect(codesUnder("Adapters")).toEqual(
      expect.arrayContaining(membersOf("adapters/_serve.ts", "ServeOptions").map((name) => name.split(".")[0])),
    );
  });

  it("names no error that is not exported, and every one that an ask or an event rejects with", () => {
    const named = [...page.prose.values()].flatMap(codesIn).filter((code) => /^[A-Z]\w+Error$/.test(code));
    for (const name of named) expect(Object.keys(holdline)).toContain(name);
    const inAgents = Object.keys(holdline).filter((name) => /Error$/.test(name) && !/^(Holdline|Request)/.test(name));
    expect(new Set(named)).toEqual(new Set(inAgents));
  });
});
