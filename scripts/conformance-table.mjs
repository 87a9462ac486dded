/**
 * Puts the table that the last whole test run made into the pages that show it. `--check` writes nothing and fails when
 * a page shows another one.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const source = new URL(".tmp/conformance.md", root);
const pages = ["README.md", "docs/runtimes.md"];
const marked = /(<!-- conformance -->\n)[\s\S]*?(<!-- \/conformance -->)/;
/**
 * A table apart from how wide its columns are written, which is the formatter's to say.
 *
 * @param {string} text
 */
const unpadded = (text) =>
  text
    .replace(/ +/g, " ")
    .replace(/-{3,}|:-+:/g, "-")
    .replace(/ *\| */g, "|");
const isCheck = process.argv.includes("--check");

if (!existsSync(source)) {
  console.error("There is no table yet: run npm test, all of it.");
  process.exit(1);
}
const table = readFileSync(source, "utf8");
if (table.includes("✗")) {
  console.error(`The last run failed a promise:\n\n${table}`);
  process.exit(1);
}

for (const name of pages) {
  const page = new URL(name, root);
  const text = existsSync(page) ? readFileSync(page, "utf8") : "";
  if (!marked.test(text)) continue;
  const fresh = text.replace(marked, (_, open, close) => `${open}\n${table}\n${close}`);
  if (unpadded(fresh) === unpadded(text)) continue;
  if (isCheck) {
    console.error(`${name} shows another table than the last run made: run node scripts/conformance-table.mjs.`);
    process.exitCode = 1;
  } else writeFileSync(page, fresh);
}
