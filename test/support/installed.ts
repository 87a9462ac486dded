/** The package as it is published: packed, and installed into projects outside the repository. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "./child.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const execute = promisify(execFile);

/** What `npm pack` made. */
export interface Packed {
  readonly tarball: string;
  /** The paths in it. */
  readonly files: readonly string[];
}

let packed: Promise<Packed> | undefined;

/** Builds and packs the package, unless it has been since the sources and the papers were changed. */
export function pack(): Promise<Packed> {
  packed ??= packOnce();
  return packed;
}

async function packOnce(): Promise<Packed> {
  await build();
  // What is not built but packed, and what the build was made of.
  const parts = ["dist/.built-from", "package.json", "README.md", "CHANGELOG.md", "LICENSE"];
  const hash = createHash("sha256");
  for (const path of parts) hash.update(readFileSync(join(root, path)));
  const name = `packed-${hash.digest("hex").slice(0, 16)}`;
  mkdirSync(join(root, ".tmp"), { recursive: true });
  const home = join(root, ".tmp", name);
  if (!existsSync(home)) {
    for (const old of readdirSync(join(root, ".tmp")).filter((entry) => /^packed-[\da-f]{16}$/.test(entry)))
      rmSync(join(root, ".tmp", old), { recursive: true, force: true });
    const scratch = `${home}-${process.pid}`;
    mkdirSync(scratch, { recursive: true });
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", scratch];
    const { stdout } = await execute("npm", args, { cwd: root });
    const [{ filename, files }] = JSON.parse(stdout);
    renameSync(join(scratch, filename), join(scratch, "holdline.tgz"));
    writeFileSync(join(scratch, "files.json"), JSON.stringify(files.map(({ path }: { path: string }) => path)));
    // Whole or not at all: several workers may be at it. Who comes second leaves the first one's alone.
    try {
      renameSync(scratch, home);
    } catch {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return {
    tarball: join(home, "holdline.tgz"),
    files: JSON.parse(readFileSync(join(home, "files.json"), "utf8")),
  };
}

/**
 * Does what `npm install holdline <others>` does to a folder, with nothing from a registry: the package comes out of its
 * tarball, others and all that both depend on are copied from the repository's node_modules. Peers that are optional
 * come along only when they are named.
 */
export async function install(folder: string, others: readonly string[] = []): Promise<void> {
  const { tarball } = await pack();
  const modules = join(folder, "node_modules");
  const home = join(modules, "holdline");
  mkdirSync(home, { recursive: true });
  await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", home]);
  const wanted = [...Object.keys(manifestOf(home).dependencies ?? {}), ...others];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const target = join(modules, name);
    if (existsSync(target)) continue;
    const source = join(root, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    await execute("cp", ["-R", source, target]);
    wanted.push(...neededBy(source));
  }
}

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** What an installed package needs beside it; what it brings inside it was copied with it. */
function neededBy(folder: string): string[] {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(folder);
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  const inside = join(folder, "node_modules");
  const nested = existsSync(inside) ? packagesIn(inside) : [];
  return [...Object.keys(dependencies), ...peers, ...nested.flatMap((name) => neededBy(join(inside, name)))].filter(
    (name) => !nested.includes(name) && existsSync(join(root, "node_modules", name)),
  );
}

/** The packages of a node_modules folder. */
function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => (name.startsWith("@") ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : name));
}
