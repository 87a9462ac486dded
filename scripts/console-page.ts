/**
 * Builds the console's page (`src/console/page`) into the package: a plugin that gives the module
 * `holdline:console-page`, the page's program and styles as strings with their hashes, and writes
 * down the licences of what the program contains.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Rolldown } from "tsdown";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = fileURLToPath(new URL("../src/console/page", import.meta.url));
const ID = "holdline:console-page";

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

/** The page's program, styles and licences. */
async function buildPage() {
  const { build } = await import("vite");
  // Vite would otherwise leave this set for whatever runs in this process afterwards.
  const { NODE_ENV } = process.env;
  const built = await build({
    configFile: false,
    root: page,
    mode: "production",
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    resolve: {
      alias: [
        { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
        { find: /^react-dom$/, replacement: "preact/compat" },
        { find: /^react\/jsx-runtime$/, replacement: "preact/jsx-runtime" },
        { find: /^react$/, replacement: "preact/compat" },
        // Its index also exports a helper for tests that wants a validator made of eval.
        { find: /^@rjsf\/core$/, replacement: `${root}node_modules/@rjsf/core/lib/components/Form.js` },
      ],
    },
    build: {
      write: false,
      target: "es2022",
      license: { fileName: "licenses.md" },
      rolldownOptions: {
        input: `${page}/main.tsx`,
        output: { codeSplitting: false },
        // The form library marks files for a server framework that is not here.
        onLog: (level, log, handle) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : handle(level, log)),
      },
    },
  }).finally(() => {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  });
  if (!("output" in built)) throw new Error("The console's page was built into more than one program.");
  const chunks = built.output.filter((file) => file.type === "chunk");
  const asset = (ending: string): string => {
    const found = built.output.filter((file) => file.type === "asset" && file.fileName.endsWith(ending));
    if (found.length !== 1 || found[0]?.type !== "asset")
      throw new Error(`The console's page needs one ${ending} file.`);
    return String(found[0].source);
  };
  if (chunks.length !== 1 || chunks[0]?.type !== "chunk") throw new Error("The console's page must be one chunk.");
  // Both stand inside an element of the document, which these would end; carriage returns would change the hash.
  const script = chunks[0].code
    .replaceAll(/<(\/script|!--)/gi, "\\x3c$1")
    .replaceAll("\r", "\\r")
    .trim();
  const style = asset(".css").trim();
  if (/<\/style|\r/i.test(style)) throw new Error("The console's styles cannot stand inside a document.");
  return { script, style, licenses: asset(".md") };
}

export function consolePagePlugin(): Rolldown.Plugin {
  let building: ReturnType<typeof buildPage> | undefined;
  return {
    name: "holdline-console-page",
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    async load(id) {
      if (id !== `\0${ID}`) return undefined;
      building ??= buildPage();
      const { script, style, licenses } = await building;
      this.emitFile({ type: "asset", fileName: "console-licenses.md", source: licenses });
      const exports = { script, scriptHash: hashOf(script), style, styleHash: hashOf(style) };
      return Object.entries(exports)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join("\n");
    },
  };
}
