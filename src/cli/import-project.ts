/**
 * Imports the TypeScript of a project, on every Node this package runs on. What a project imports
 * of this package is this very copy: its errors and tools have to be the ones that are known here.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createJiti } from "jiti";

const require = createRequire(import.meta.url);

export interface ProjectImports {
  /** Imports a file of the project, given by its path. */
  file(path: string): Promise<object>;
  /** Imports a package as the project's files would. */
  package(specifier: string): Promise<unknown>;
}

export function importsOf(folder: string): ProjectImports {
  const jiti = createJiti(join(folder, "agent.yaml"), {
    alias: { ...ownEntries(), ...fallbacks(folder) },
    fsCache: false,
    interopDefault: false,
    sourceMaps: true,
  });
  return {
    file: (path) => jiti.import<object>(path),
    package: (specifier) => import(jiti.esmResolve(specifier, pathToFileURL(join(folder, "agent.yaml")).href)),
  };
}

/** Every entry of this package, by the name it is imported by. */
function ownEntries(): Record<string, string> {
  const manifest = require.resolve("holdline/package.json");
  const { exports } = require(manifest) as { exports: Record<string, string | { default: string }> };
  return Object.fromEntries(
    Object.entries(exports).map(([subpath, target]) => [
      join("holdline", subpath).replaceAll("\\", "/"),
      join(dirname(manifest), typeof target === "string" ? target : target.default),
    ]),
  );
}

/** What a project has not installed itself, as one that runs with a copy of this package from elsewhere. */
function fallbacks(folder: string): Record<string, string> {
  try {
    createRequire(join(folder, "agent.yaml")).resolve("zod");
    return {};
  } catch {
    return { zod: require.resolve("zod") };
  }
}
