/** Options that are misspelled. Left unsaid, what they should have guarded would go on unguarded. */

/** @throws TypeError for the first member of `options` that is none of `known`. */
export function mustBeKnown(what: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const all = known.map((name) => `\`${name}\``).join(", ");
  throw new TypeError(`${what} has no option ${JSON.stringify(unknown.slice(0, 50))}. There are: ${all}.`);
}
