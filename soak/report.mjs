/** The report of one soak, and `docs/soak.md` where that is wanted. */
import { writeFileSync } from "node:fs";

const table = (head, rows) =>
  [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => " --- |").join("")}`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");

const byCount = (counts) => Object.entries(counts).sort(([, a], [, b]) => b - a);

/** @returns {string} the report */
export function writeReport(report, keep) {
  const { seconds, people, seed, node, cores, totals, ends, stats, warnings, heapMb, checks } = report;
  const { refused: _refused, ...counts } = stats;
  const text = `# Soak

\`npm run soak\` on ${new Date().toISOString().slice(0, 10)}: ${seconds} seconds, ${people} people at once, seed ${seed}, Node ${node}, ${cores} cores. Clients and
the count of what was done live in one process, the server in another.

${table(
  ["check", "found"],
  checks.map(([name, wrong]) => [name, wrong.length === 0 ? "yes" : `**no**: ${wrong.slice(0, 5).join("; ")}`]),
)}

${table(["guarded actions", "approval accepted", "done", "client left before it knew"], [[totals.guarded, totals.accepted, totals.done, totals.unsure]])}

Heap after a collection, at rest: ${heapMb.before.toFixed(1)} MB before, ${heapMb.after.toFixed(1)} MB after.

## How runs ended

${table(["end, as the client saw it", "runs"], byCount(ends))}

## What the server counted

${table(["count", ""], byCount(counts))}

Warnings: ${
    byCount(warnings)
      .map(([code, count]) => `\`${code}\` ${count}`)
      .join(", ") || "none"
  }.
`;
  if (keep) writeFileSync(new URL("../docs/soak.md", import.meta.url), text);
  return text;
}
