import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * What one import of the package costs a user, minified and gzipped. Raise it only with the reason beside it.
 * The goal is 16 KiB. It stands at twice that: the ledger that no event may break, the walk that reads inputs and
 * events along the protocol's table, replay and the wording of errors weigh more than was hoped.
 */
const CEILING = 32 * 1024;

const chunks = new Map<string, Uint8Array>();
let outputs: Metafile["outputs"];

/** The chunks that are loaded with the entry, as opposed to by an `import()`. */
function loadedAtOnce(): string[] {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === "dist/index.js");
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === "import-statement") visit(next);
  };
  if (entry !== undefined) visit(entry);
  return [...seen];
}

/** The packages whose code is in some chunks. */
function packagesIn(paths: string[]): string[] {
  const names = paths
    .flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([file]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

describe("the core in a bundle for browsers and Workers", () => {
  beforeAll(async () => {
    execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: root });
    // A module of Node's has no place on this platform: reaching one fails the build, which fails these tests.
    const result = await build({
      absWorkingDir: root,
      entryPoints: ["dist/index.js"],
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      outdir: "bundle",
      write: false,
      metafile: true,
      logLevel: "silent",
    });
    expect(result.warnings).toEqual([]);
    outputs = result.metafile.outputs;
    const paths = Object.keys(outputs);
    for (const { path, contents } of result.outputFiles) {
      const name = paths.find((known) => path.endsWith(`/${known}`));
      if (name !== undefined) chunks.set(name, contents);
    }
  }, 60_000);

  it("loads the validators only when they are asked for", () => {
    const atOnce = packagesIn(loadedAtOnce());
    expect(atOnce).not.toContain("zod");
    expect(atOnce).not.toContain("@cfworker/json-schema");
    expect(packagesIn(Object.keys(outputs))).toEqual(expect.arrayContaining(["@cfworker/json-schema", "zod"]));
  });

  it("stays under its ceiling", () => {
    const code = loadedAtOnce().map((path) => chunks.get(path) ?? new Uint8Array());
    const size = gzipSync(Buffer.concat(code), { level: 9 }).byteLength;
    console.info(`The core, minified and gzipped: ${(size / 1024).toFixed(1)} of ${CEILING / 1024} KB`);
    expect(size).toBeGreaterThan(1024);
    expect(size).toBeLessThanOrEqual(CEILING);
  });
});
