/** The package as it is built, with the types of its sources: what ships is what a browser sees. */
type Entries = {
  index: typeof import("../../src/index.ts");
  node: typeof import("../../adapters/node.ts");
  console: typeof import("../../src/console/index.ts");
};

export function built<N extends keyof Entries>(name: N): Promise<Entries[N]> {
  return import(new URL(`../../dist/${name}.js`, import.meta.url).href);
}
