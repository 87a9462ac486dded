/** What tests read off a Markdown page: its fenced blocks and its tables, each under its heading. */

/** One fenced block. */
export interface Block {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

/** One table; cells as they are written. */
export interface Table {
  readonly heading: string;
  readonly columns: readonly string[];
  readonly rows: ReadonlyArray<readonly string[]>;
}

export interface Page {
  readonly headings: readonly string[];
  readonly blocks: readonly Block[];
  readonly tables: readonly Table[];
  /** The page without its fenced blocks, by heading. */
  readonly prose: ReadonlyMap<string, string>;
}

export function readPage(markdown: string): Page {
  const blocks: Block[] = [];
  const tables: { heading: string; columns: string[]; rows: string[][] }[] = [];
  const prose = new Map<string, string>();
  let heading = "";
  let fence: { language: string; lines: string[] } | undefined;
  let table: (typeof tables)[number] | undefined;
  for (const line of markdown.split("\n")) {
    const fenced = /^```(\w*)$/.exec(line);
    if (fence !== undefined) {
      if (fenced === null) fence.lines.push(line);
      else {
        blocks.push({ heading, language: fence.language, text: `${fence.lines.join("\n")}\n` });
        fence = undefined;
      }
      continue;
    }
    if (fenced !== null) fence = { language: fenced[1] ?? "", lines: [] };
    else if (/^#+ /.test(line)) heading = line.replace(/^#+ /, "");
    else prose.set(heading, `${prose.get(heading) ?? ""}${line}\n`);
    if (!line.startsWith("|")) table = undefined;
    else if (table === undefined) {
      table = { heading, columns: cellsOf(line), rows: [] };
      tables.push(table);
    } else if (!/^\|[-:| ]+$/.test(line)) table.rows.push(cellsOf(line));
  }
  return { headings: [...prose.keys()], blocks, tables, prose };
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, line.lastIndexOf("|"))
    .split("|")
    .map((cell) => cell.trim());

/** What stands between backticks. */
export const codesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
