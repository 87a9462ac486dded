/**
 * Switches every guard off, one at a time, in a copy of the sources, and expects its tests to turn red: a guard
 * counts as tested when a test fails without it. `npm run sabotage -- proof` takes those whose group, name or file
 * has the word. Exits non-zero when the list is stale, when a test is red with every guard on, or when a guard survives.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guards as all } from "./guards.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const word = process.argv[2] ?? "";
const guards = all.filter(({ group, name, file }) => [group, name, file].some((part) => part.includes(word)));
if (guards.length === 0) fail(`No guard has to do with ${JSON.stringify(word)}.`);

for (const { name, file, find } of guards) {
  const times = readFileSync(join(root, file), "utf8").split(find).length - 1;
  if (times !== 1) fail(`The list is stale: what guards ${JSON.stringify(name)} occurs ${times} times in ${file}.`);
}

const started = Date.now();
const folder = mkdtempSync(join(tmpdir(), "holdline-sabotage-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));

/** A copy of what the tests need, to be damaged. */
function copy(name) {
  const at = join(folder, name);
  for (const part of ["src", "adapters", "test", "package.json", "tsconfig.json"])
    cpSync(join(root, part), join(at, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(at, "node_modules"), "junction");
  cpSync(join(root, "test/sabotage/vitest.config.ts"), join(at, "vitest.config.ts"));
  return at;
}

/** How long one guard's tests may take before they count as hanging. */
const LONGEST_RUN_MS = 90_000;

/** Runs test files in a copy, to the first failure. @returns the test that failed, `undefined` when all passed. */
function redIn(at, tests) {
  const report = join(at, "report.json");
  rmSync(report, { force: true });
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--root", at, "--bail=1", "--reporter=json", `--outputFile=${report}`, ...tests];
  return new Promise((resolve) => {
    let said = "";
    const child = spawn(process.execPath, args, { cwd: at, env: { ...process.env, NO_COLOR: "1" }, detached: true });
    // A loop without an `await` in it is out of reach of a test's own timeout; the group has the worker in it too.
    const hung = setTimeout(() => {
      said = `It hung for ${LONGEST_RUN_MS} ms.`;
      process.kill(-child.pid, "SIGKILL");
    }, LONGEST_RUN_MS);
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
      });
    child.on("close", (code) => {
      clearTimeout(hung);
      if (code === 0) return resolve(undefined);
      resolve(failedIn(report) ?? { test: "the run as a whole", why: said });
    });
  });
}

function failedIn(report) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, "utf8")).testResults;
  } catch {
    return undefined;
  }
  for (const { name, message, assertionResults } of results) {
    const file = name.slice(name.lastIndexOf("/") + 1);
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed !== undefined) return { test: `${file} > ${failed.title}`, why: failed.failureMessages.join("\n") };
    // A file that could not even be loaded says nothing about a guard.
    if (message) return { test: `${file} > (not loaded)`, why: message, broken: true };
  }
  return undefined;
}

async function sabotage(at, { file, find, replace, tests }) {
  const path = join(at, file);
  const sound = readFileSync(path, "utf8");
  // A function as the replacement: `$` in the text means itself.
  writeFileSync(
    path,
    sound.replace(find, () => replace),
  );
  try {
    return await redIn(at, tests);
  } finally {
    writeFileSync(path, sound);
  }
}

const copies = Array.from({ length: Math.min(availableParallelism(), guards.length) }, (_, index) =>
  copy(`copy-${index}`),
);

/** Hands the work out: each copy is damaged by one worker at a time. */
async function share(items, work) {
  const waiting = [...items.entries()];
  const found = [];
  const workers = copies.map(async (at) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      found[index] = await work(at, item);
    }
  });
  await Promise.all(workers);
  return found;
}

const used = [...new Set(guards.flatMap(({ tests }) => tests))];
console.log(`${guards.length} guards. First ${used.length} test files with every guard on…`);
for (const red of await share(used, (at, test) => redIn(at, [test])))
  if (red !== undefined) fail(`Red with every guard on: ${red.test}\n${red.why}`);

const widths = { group: 12, name: 56 };
console.log(`\n${"group".padEnd(widths.group)} ${"guard".padEnd(widths.name)} killed by`);
const survived = [];
await share(guards, async (at, guard) => {
  const red = await sabotage(at, guard);
  const killed = red !== undefined && !red.broken;
  if (!killed) survived.push({ ...guard, why: red?.why });
  const by = killed ? red.test : red === undefined ? "NOTHING: it survived" : `NOTHING: ${red.test}`;
  console.log(`${guard.group.padEnd(widths.group)} ${guard.name.padEnd(widths.name)} ${by}`);
});

const seconds = Math.round((Date.now() - started) / 1000);
console.log(`\n${guards.length - survived.length} of ${guards.length} guards killed, in ${seconds} s.`);
for (const { name, file, why } of survived)
  console.error(`Survived: ${name} (${file})${why === undefined ? "" : `\n${why}`}`);
process.exitCode = survived.length === 0 ? 0 : 1;

function fail(message) {
  console.error(message);
  process.exit(1);
}
