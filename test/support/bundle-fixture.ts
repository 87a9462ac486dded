/** A fixture as one file that its runtime takes: bundled from the sources, since Node runs no TypeScript and a Worker has no folders. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

const bundles = new Map<string, Promise<string>>();

/** Bundles `test/fixtures/<name>.ts` and resolves to its text. For Workers nothing of Node's may be reached: then this fails. */
export function bundleFixture(name: string, platform: "node" | "worker"): Promise<string> {
  const known = bundles.get(name);
  if (known !== undefined) return known;
  const made = bundle(`test/fixtures/${name}.ts`, platform);
  bundles.set(name, made);
  return made;
}

/** The same for any file of the repository. */
export async function bundle(path: string, platform: "node" | "worker" | "browser"): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [path],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "error",
    platform: platform === "node" ? "node" : "browser",
    ...(platform === "worker" && { conditions: ["workerd", "worker"] }),
    ...(platform === "browser" && { define: { "process.env.NODE_ENV": '"production"' } }),
  });
  return outputFiles[0]?.text ?? "";
}
