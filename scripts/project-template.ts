/**
 * Gives the module `holdline:project-template`: the files of `src/cli/template` as texts. They stay
 * real files in the sources, so that they are linted and type-checked as what they are.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Rolldown } from "tsdown";

const folder = fileURLToPath(new URL("../src/cli/template", import.meta.url));
const ID = "holdline:project-template";

export function projectTemplatePlugin(): Rolldown.Plugin {
  return {
    name: "holdline-project-template",
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    load(id) {
      if (id !== `\0${ID}`) return undefined;
      const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
      const files = paths
        .filter((path) => statSync(join(folder, path)).isFile())
        .map((path) => [path.replaceAll("\\", "/"), readFileSync(join(folder, path), "utf8")]);
      return `export const files = ${JSON.stringify(Object.fromEntries(files))};`;
    },
  };
}
