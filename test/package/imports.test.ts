import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, normalize } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

interface Import {
  readonly file: string;
  /** What is imported: a path from the root, or the specifier of a package; `undefined` where it is no literal. */
  readonly target: string | undefined;
}

/** Everything the sources under a folder import: statements, re-exports, `import()`, types and augmentations. */
function importsUnder(folder: string): Import[] {
  const files = readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
  return files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), "utf8");
    return specifiersIn(file, text).map((specifier) => ({
      file,
      target: specifier?.startsWith(".") ? normalize(join(dirname(file), specifier)) : specifier,
    }));
  });
}

function specifiersIn(file: string, text: string): Array<string | undefined> {
  const found: Array<string | undefined> = [];
  const add = (node: ts.Node | undefined) => found.push(node && ts.isStringLiteralLike(node) ? node.text : undefined);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node.moduleSpecifier);
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference))
      add(node.moduleReference.expression);
    else if (ts.isImportTypeNode(node)) add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    else if (ts.isModuleDeclaration(node) && ts.isStringLiteral(node.name)) add(node.name);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    else if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "require")
      add(node.arguments[0]);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true));
  return found;
}

/** Those that are not allowed, as `file → target`. */
function trespasses(imports: Import[], isAllowed: (target: string) => boolean): string[] {
  return imports
    .filter(({ target }) => target === undefined || !isAllowed(target))
    .map(({ file, target }) => `${file} → ${target ?? "not a literal"}`);
}

/** Of the protocol and of what validates it: declared by the package, at home on every runtime. */
const neutralPackages = new Set(["@ag-ui/core", "@ag-ui/core/schemas", "@cfworker/json-schema", "zod"]);
const isNodeModule = (target: string) => target.startsWith("node:") && builtinModules.includes(target.slice(5));

describe("what may import what", () => {
  it("reads every way there is to import", () => {
    const text = `
      import "a"; import b from "b"; import type { C } from "c"; export * from "d"; export { e } from "e";
      import f = require("f"); type G = import("g").G; const h = () => import("h"); require("i");
      declare module "j" {} const k = (name: string) => import(name); const l = () => import(\`l\`);
    `;
    expect(specifiersIn("sample.ts", text)).toEqual([..."abcdefghij", undefined, "l"]);
  });

  it("the core reaches its own files and the packages it is built on", () => {
    const isAllowed = (target: string) =>
      target.startsWith("src/core/") || neutralPackages.has(target) || target === "@ag-ui/encoder";
    const imports = importsUnder("src/core");
    expect(imports).not.toEqual([]);
    expect(trespasses(imports, isAllowed)).toEqual([]);
  });

  it("an adapter reaches the public surface, private files beside it and Node's own modules", () => {
    const isAllowed = (target: string) =>
      target === "src/index.ts" || /^adapters\/_[^/]+\.ts$/.test(target) || isNodeModule(target);
    const imports = importsUnder("adapters");
    expect(imports).not.toEqual([]);
    expect(trespasses(imports, isAllowed)).toEqual([]);
  });

  it("an agent reaches the public surface, its own files, the protocol and what it serves", () => {
    const served = new Set(["@ag-ui/core", "@ag-ui/client", "ai"]);
    const isAllowed = (target: string) =>
      target === "src/index.ts" || target.startsWith("src/agents/") || served.has(target);
    const imports = importsUnder("src/agents");
    expect(imports).not.toEqual([]);
    expect(trespasses(imports, isAllowed)).toEqual([]);
  });

  it("the testing entry reaches the public surface, its own files, the same packages and what clients patch states with", () => {
    const packages = new Set([...neutralPackages, "fast-json-patch"]);
    const isAllowed = (target: string) =>
      target === "src/index.ts" || target.startsWith("src/testing/") || packages.has(target);
    const imports = importsUnder("src/testing");
    expect(imports).not.toEqual([]);
    expect(trespasses(imports, isAllowed)).toEqual([]);
  });
});
