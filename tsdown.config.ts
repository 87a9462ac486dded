import { existsSync, readFileSync } from "node:fs";
import type { UserConfig } from "tsdown";
import { consolePagePlugin } from "./scripts/console-page.ts";
import { projectTemplatePlugin } from "./scripts/project-template.ts";

/** One thing a user can import or run: what package.json calls it, the file it is built from and to. */
export interface Entry {
  /** As in `exports` or `bin`: `"./node"`, `"holdline"`. */
  readonly subpath: string;
  /** Of the built file, without `dist/` and its ending: `"node"`. */
  readonly name: string;
  /** The one source file, from the root. */
  readonly source: string;
}

const root = new URL("./", import.meta.url);

/**
 * The entries of package.json's `exports` and `bin`, which are the only list of them: a line there
 * and its source file add an entry. Throws when an entry has no source, or more than one.
 */
export function readEntries(): Entry[] {
  const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    exports: Record<string, string | { default: string }>;
    bin?: Record<string, string>;
  };
  return Object.entries({ ...manifest.exports, ...manifest.bin }).flatMap(([subpath, target]) => {
    const built = typeof target === "string" ? target : target.default;
    const name = /^\.\/dist\/(.+)\.js$/.exec(built)?.[1];
    if (name === undefined) return [];
    const places =
      name === "index" ? ["src/index.ts"] : [`adapters/${name}.ts`, `src/agents/${name}.ts`, `src/${name}/index.ts`];
    const [source, ...others] = places.filter((place) => existsSync(new URL(place, root)));
    if (source === undefined || others.length > 0) {
      throw new Error(`"${subpath}" of package.json needs exactly one source file among ${places.join(", ")}`);
    }
    return [{ subpath, name, source }];
  });
}

const config: UserConfig = {
  entry: Object.fromEntries(readEntries().map(({ name, source }) => [name, source])),
  format: "esm",
  platform: "neutral",
  target: "es2022",
  dts: true,
  sourcemap: false,
  failOnWarn: true,
  plugins: [consolePagePlugin(), projectTemplatePlugin()],
  checks: { pluginTimings: false },
  // What the package depends on stays an import, the dynamic ones included; so do the runtimes' own modules.
  deps: { skipNodeModulesBundle: true, neverBundle: [/^(node|bun|cloudflare):/, "bun"] },
};
export default config;
