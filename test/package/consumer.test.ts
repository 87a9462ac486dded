/** Projects of users, as strict as they come, compiled against the package as it is installed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { readEntries } from "../../tsdown.config.ts";
import { temporaryFolder } from "../support/command.ts";
import { install } from "../support/installed.ts";
import { readPage } from "../support/markdown.ts";
import { runProgram } from "../support/programs.ts";

// Compilers run here; what else the machine does is not theirs to say.
vi.setConfig({ testTimeout: 180_000 });

const root = fileURLToPath(new URL("../../", import.meta.url));
const fixtures = join(root, "test/fixtures/consumer");
const programs = readPage(readFileSync(join(root, "README.md"), "utf8")).blocks.filter(
  ({ language }) => language === "ts",
);
const specifiers = readEntries()
  .filter(({ subpath }) => subpath.startsWith("."))
  .map(({ subpath }) => join("holdline", subpath));

/** The types of `ai` itself pass no strict project (6.0.326: they name Node's, and break exactOptionalPropertyTypes). */
const BUILT_ON_AI = "holdline/ai-sdk";

interface Project {
  readonly others: readonly string[];
  readonly lib: readonly string[];
  readonly types: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly skipLibCheck?: boolean;
}

/** Compiles a project; resolves to the errors, as `file(line) code`. */
async function compile(name: string, { others, files, ...given }: Project): Promise<string[]> {
  const folder = temporaryFolder(name);
  await install(folder, others);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    module: "NodeNext",
    target: "ES2022",
    ...given,
  };
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const { stdout } = await runProgram(join(root, "node_modules/.bin/tsc"), ["-p", folder, "--pretty", "false"]);
  return [...stdout.matchAll(/^(\S.*)\((\d+),\d+\): error (TS\d+)/gm)].map(
    ([, file = "", line, code]) => `${file.split("/").at(-1)}(${line}) ${code}`,
  );
}

/**
 * A fixture as it stands, where each misuse is expected, and once more with nothing expected: there each has to be told,
 * by the code that its comment names.
 */
function misuse(name: string): { files: Record<string, string>; told: string[] } {
  const text = readFileSync(join(fixtures, name), "utf8");
  const codes = text.split("\n").map((line) => /@ts-expect-error (TS\d+): \S/.exec(line)?.[1]);
  return {
    files: { [name]: text, [`told-${name}`]: text.replaceAll("// @ts-expect-error TS", "// TS") },
    told: codes.flatMap((code, index) => (code === undefined ? [] : `told-${name}(${index + 2}) ${code}`)),
  };
}

const entries = (wanted: readonly string[]) => wanted.map((one, index) => `export * as entry${index} from "${one}";\n`);
const strictly = specifiers.filter((specifier) => specifier !== BUILT_ON_AI);
const readme = (wanted: readonly { text: string }[]) =>
  Object.fromEntries(wanted.map(({ text }, index) => [`readme-${index}.ts`, text]));

describe("a strict project that has installed the package", () => {
  it("compiles with the web's types alone, and is told of every misuse", async () => {
    const { files, told } = misuse("misuse.ts");
    expect(told.length).toBeGreaterThan(60);
    const portable = programs.filter(({ text }) => !/"(node:|express")/.test(text));
    expect(portable.length).toBeGreaterThan(3);
    const found = await compile("consumer-web", {
      others: ["@ag-ui/client", "@ag-ui/encoder", "hono"],
      lib: ["ES2022", "DOM"],
      types: [],
      files: { ...files, ...readme(portable), "entries.ts": entries(strictly).join("") },
    });
    expect(found).toEqual(told);
  });

  it("compiles every program of the README with Node's types alone", async () => {
    const found = await compile("consumer-node", {
      others: ["@ag-ui/client", "@ag-ui/encoder", "hono", "express", "@types/express", "@types/node"],
      lib: ["ES2022"],
      types: ["node"],
      files: {
        ...readme(programs),
        "entries.ts": entries(strictly).join(""),
        "wrong.ts": "const wrong: number = '';\n",
      },
    });
    // There to be found: without it nobody knows that anything was checked.
    expect(found).toEqual(["wrong.ts(1) TS2322"]);
  });

  it("compiles with a model's types, unchecked as those have to be, and is told of every misuse", async () => {
    const { files, told } = misuse("misuse-models.ts");
    const found = await compile("consumer-models", {
      others: ["ai"],
      lib: ["ES2022", "DOM"],
      types: [],
      files: { ...files, "entries.ts": entries([BUILT_ON_AI]).join("") },
      skipLibCheck: true,
    });
    expect(told.length).toBeGreaterThan(7);
    expect(found).toEqual(told);
  });
});
