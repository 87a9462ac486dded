/** `${VAR}` in a project's configuration, filled from the environment and the project's `.env`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { pathOf } from "./config-schema.ts";

export type Environment = { readonly [name: string]: string | undefined };

/** The variables of a project: those of this process, before those of its `.env`. */
export function readEnvironment(folder: string, own: Environment = process.env): Environment {
  const file = join(folder, ".env");
  const given = existsSync(file) ? (parseEnv(readFileSync(file, "utf8")) as Environment) : {};
  return { ...given, ...own };
}

/** A variable that is not set, and where it is asked for. */
export interface MissingVariable {
  readonly path: string;
  readonly name: string;
}

/**
 * The same value with every `${VAR}` in its texts filled in; `$${VAR}` stands for the letters themselves. Filled after
 * the file is read, so that what a variable holds cannot change what the file says.
 */
export function fill(value: unknown, environment: Environment): { filled: unknown; missing: MissingVariable[] } {
  const missing: MissingVariable[] = [];
  const visit = (part: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof part === "string") {
      return part.replace(/\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) => {
        if (whole.startsWith("$$")) return whole.slice(1);
        const given = environment[name];
        if (given === undefined) missing.push({ path: pathOf(path), name });
        return given ?? "";
      });
    }
    if (Array.isArray(part)) return part.map((each, index) => visit(each, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, visit(each, [...path, key])]));
  };
  return { filled: visit(value, []), missing };
}
