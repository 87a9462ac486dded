/** What is wrong with a project: every mistake in every file, told at once, one line each. */

export class Problems {
  readonly #lines: string[] = [];

  /** Adds a mistake. `path` is where in the file, as `engine.model` or `line 3`; `""` for the file as a whole. */
  add(file: string, path: string, what: string): void {
    const line = path === "" ? `${file}: ${what}` : `${file}: ${path}: ${what}`;
    const flat = line.replace(/\s*\n\s*/g, " ");
    if (!this.#lines.includes(flat)) this.#lines.push(flat);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

/** Thrown for a project that cannot be run. */
export class ProjectError extends Error {
  override readonly name = "ProjectError";
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(
      `${lines.length === 1 ? "1 mistake" : `${lines.length} mistakes`} in this project:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.lines = lines;
  }
}
