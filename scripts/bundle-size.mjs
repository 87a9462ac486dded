/** What an entry of the package weighs in a bundle for browsers and Workers: minified, gzipped, by what is loaded when. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/**
 * @typedef {object} Weight Bytes, minified and gzipped.
 * @property {number} atOnce What the import itself loads.
 * @property {number} all With everything that is loaded when it is first needed.
 * @property {number} withZod What the import loads, and what stands on zod.
 * @property {string[]} packagesAtOnce The packages in the first.
 * @property {string[]} packages The packages in the second.
 */

/**
 * Weighs one file. Fails when a module is reached that is neither there nor declared `external`.
 * @param {{ folder: string, file: string, external: string[] }} what `file` is a path from `folder`; `external` are the packages that who wants them installs.
 * @returns {Promise<Weight>}
 */
export async function weigh({ folder, file, external }) {
  const { outputFiles, metafile, warnings } = await build({
    absWorkingDir: folder,
    entryPoints: [file],
    external,
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
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join("\n"));
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === file) ?? "";

  /** The chunks that come with a chunk, as opposed to by an `import()`. @param {string} from */
  const closure = (from) => {
    /** @type {Set<string>} */
    const seen = new Set();
    /** @param {string} path */
    const visit = (path) => {
      if (seen.has(path)) return;
      seen.add(path);
      for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === "import-statement") visit(next);
    };
    visit(from);
    return [...seen].filter((path) => outputs[path] !== undefined);
  };
  /** @param {string[]} paths */
  const packagesIn = (paths) => {
    const names = paths
      .flatMap((path) => Object.entries(outputs[path]?.inputs ?? {}))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([input]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
    return [...new Set(names)].sort();
  };
  /** @param {Iterable<string>} paths */
  const gzipped = (paths) => {
    const wanted = [...new Set(paths)].sort();
    const parts = wanted.map((path) => outputFiles.find((output) => output.path.endsWith(`/${path}`))?.contents);
    return gzipSync(Buffer.concat(parts.map((part) => part ?? new Uint8Array())), { level: 9 }).byteLength;
  };

  const all = Object.keys(outputs);
  const atOnce = closure(entry);
  const onZod = all.map(closure).filter((paths) => packagesIn(paths).includes("zod"));
  return {
    atOnce: gzipped(atOnce),
    all: gzipped(all),
    withZod: gzipped([...atOnce, ...onZod.flat()]),
    packagesAtOnce: packagesIn(atOnce),
    packages: packagesIn(all),
  };
}
