/** What a source file declares, read off its syntax: for tests that hold a page against it. */
import { readFileSync } from "node:fs";
import ts from "typescript";

const root = new URL("../../", import.meta.url);

function declarationIn<T extends ts.Statement>(
  path: string,
  name: string,
  is: (node: ts.Node) => node is T & { name: ts.Identifier },
): T {
  const file = ts.createSourceFile(path, readFileSync(new URL(path, root), "utf8"), ts.ScriptTarget.ES2022, true);
  for (const statement of file.statements) if (is(statement) && statement.name.text === name) return statement;
  throw new Error(`${path} does not declare ${name}.`);
}

/** The names of an interface's members, each once and in order; those of a member that is an object itself as `outer.inner`. */
export function membersOf(path: string, name: string): string[] {
  const members = (nodes: ts.NodeArray<ts.TypeElement>, prefix: string): string[] =>
    nodes.flatMap((member) => {
      const own = `${prefix}${member.name?.getText()}`;
      const type = ts.isPropertySignature(member) ? member.type : undefined;
      return type !== undefined && ts.isTypeLiteralNode(type) ? members(type.members, `${own}.`) : [own];
    });
  return [...new Set(members(declarationIn(path, name, ts.isInterfaceDeclaration).members, ""))];
}

/** The strings that a union type of literals is made of, in order. */
export function literalsOf(path: string, name: string): string[] {
  const { type } = declarationIn(path, name, ts.isTypeAliasDeclaration);
  if (!ts.isUnionTypeNode(type)) throw new Error(`${name} is no union.`);
  return type.types.map((member) => {
    if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal)) return member.literal.text;
    throw new Error(`${name} is not made of strings: ${member.getText()}`);
  });
}
