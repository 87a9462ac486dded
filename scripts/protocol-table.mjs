/**
 * Writes docs/protocol.md: what the protocol asks of a server, and the tests that show it, found by the numbers in
 * their names (`… (P54, P70)`). `--check` writes nothing, and fails when the page is another one, or a MUST has neither a test nor a reason.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chapters } from "./protocol-obligations.mjs";

/** @typedef {typeof chapters} Chapters */
/** @typedef {Map<string, { file: string, name: string }[]>} Tests by number */

const root = new URL("../", import.meta.url);
const page = new URL("docs/protocol.md", root);

/** A name in quotes that holds numbers in brackets; names stand on one line. */
const NAMED = /(["'`])((?:\\.|(?!\1).)*?\((?:[^()]*\bP\d+\b[^()]*)\)(?:\\.|(?!\1).)*)\1/g;

/** The numbers in a name, brackets and all. */
const NUMBERS = /\s*\([^()]*\bP\d+\b[^()]*\)/g;
/** The group that a test stands in, where it is one of the file's own. */
const GROUP = /^describe(?:\.\w+)?\(\s*(["'`])(.*?)\1/gm;

/**
 * A name without its numbers, and with "…" in the places of values.
 * @param {string} quoted
 */
const worded = (quoted) => quoted.replace(NUMBERS, "").replace(/%[sj]/g, "…").replace(/\\(.)/g, "$1").trim();

/**
 * Which tests name which number.
 * @param {{ file: string, text: string }[]} sources
 * @returns {Tests}
 */
export function findTests(sources) {
  /** @type {Tests} */
  const found = new Map();
  for (const { file, text } of sources) {
    const groups = [...text.matchAll(GROUP)].map(({ index, 2: name = "" }) => ({ index, name: worded(name) }));
    for (const { index, 2: quoted = "" } of text.matchAll(NAMED)) {
      const group = groups.findLast((each) => each.index < index);
      const own = worded(quoted);
      const name = group === undefined || group.name === own ? own : `${group.name}: ${own}`;
      const numbers = [...quoted.matchAll(NUMBERS)].flatMap(([list]) => list.match(/\bP\d+\b/g) ?? []);
      for (const number of new Set(numbers)) {
        const tests = found.get(number) ?? [];
        if (!tests.some((test) => test.file === file && test.name === name)) tests.push({ file, name });
        found.set(number, tests);
      }
    }
  }
  return found;
}

/**
 * What is wrong with the tests: a MUST that nothing shows, a number that does not exist.
 * @param {Chapters} given
 * @param {Tests} tests
 */
export function problemsOf(given, tests) {
  const all = Object.values(given).flatMap(({ obligations }) => obligations);
  const known = new Set(all.map(([id]) => id));
  return [
    ...all
      .filter(([id, level, , reason]) => level === "MUST" && reason === undefined && !tests.has(id))
      .map(([id]) => `${id} is a MUST, and no test names it, nor is there a reason.`),
    ...[...tests.keys()].filter((id) => !known.has(id)).map((id) => `${id} is named by a test, and is no obligation.`),
  ];
}

/** @param {string} text */
const cell = (text) => text.replaceAll("|", "\\|");

/**
 * @param {Chapters[string]["obligations"][number]} obligation
 * @param {Tests} tests
 */
function rowOf([id, level, words, reason], tests) {
  const shown = tests.get(id) ?? [];
  const status = shown.length > 0 ? "shown" : reason === undefined ? "not shown" : "not tested";
  const by = shown.map(({ file, name }) => `\`${file}\`: ${cell(name)}`).join("<br>");
  return `| ${id} | ${level} | ${cell(words)} | ${status} | ${by || cell(reason ?? "")} |`;
}

/**
 * The page.
 * @param {Chapters} given
 * @param {Tests} tests
 * @param {string} intro
 */
export function pageOf(given, tests, intro) {
  const tables = Object.values(given).map(({ title, obligations }) =>
    [
      `## ${title}`,
      "",
      "| no. | level | what is asked | status | by |",
      "|---|---|---|---|---|",
      ...obligations.map((obligation) => rowOf(obligation, tests)),
    ].join("\n"),
  );
  return `${intro}\n\n${tables.join("\n\n")}\n`;
}

const INTRO = `# AG-UI 1.0, obligation by obligation

What the protocol asks of a server, in our own words, and the tests that show it; the level is the specification's own, _advice_ what
follows from it or what its guides add. This page is made from the names of the tests by \`node scripts/protocol-table.mjs\`; a test
fails when it is stale, or when a MUST has neither a test nor a reason. Beside these tests every stream that any test reads, and those of
\`npm run fuzz\`, are held to the same rules and pass the protocol's own client without a word.

## Decided otherwise

- A resume for a thread on which nothing is held is refused (\`INTERRUPT_NOT_HELD\`), where the protocol would have the run go on without it (P76): whoever
  answers a question that is gone is told so, and no turn starts that nobody asked for.
- An open question that a resume leaves out is refused (\`INTERRUPT_NOT_COVERED\`), one of the two ways that P77 leaves open. The identified owner of a
  thread is asked again by a plain run instead.`;

const sourcesOf = () =>
  readdirSync(new URL("test/", root), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    // The table's own test quotes names that are no tests.
    .filter((file) => file.endsWith(".test.ts") && file !== "test/protocol/table.test.ts")
    .toSorted()
    .map((file) => ({ file, text: readFileSync(new URL(file, root), "utf8") }));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tests = findTests(sourcesOf());
  const problems = problemsOf(chapters, tests);
  const made = pageOf(chapters, tests, INTRO);
  if (!process.argv.includes("--check")) writeFileSync(page, made);
  else if (readFileSync(page, "utf8") !== made)
    problems.push("docs/protocol.md is stale: run node scripts/protocol-table.mjs.");
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
