/** The core in a bundle for browsers and Workers, minified and gzipped. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** @returns {Promise<{ atOnce: number, withValidators: number }>} bytes */
export async function measureSize() {
  const installed = join(process.env.BENCH_HOME, "node_modules/holdline");
  const { peerDependencies = {} } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const { outputFiles, metafile } = await build({
    absWorkingDir: process.env.BENCH_HOME,
    entryPoints: [join(installed, "dist/index.js")],
    // Who wants them installs them.
    external: Object.keys(peerDependencies),
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
  const { outputs } = metafile;
  const atOnce = new Set();
  const visit = (path) => {
    if (atOnce.has(path)) return;
    atOnce.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind === "import-statement") visit(next);
  };
  visit(Object.keys(outputs).find((path) => outputs[path].entryPoint?.endsWith("holdline/dist/index.js")));
  const gzipped = (paths) =>
    gzipSync(
      Buffer.concat(
        outputFiles
          .filter(({ path }) => paths.some((name) => path.endsWith(`/${name}`)))
          .map(({ contents }) => contents),
      ),
      { level: 9 },
    ).byteLength;
  return { atOnce: gzipped([...atOnce]), withValidators: gzipped(Object.keys(outputs)) };
}
