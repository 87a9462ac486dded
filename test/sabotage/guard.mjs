/**
 * Guards of one source, written in rows: what it guards, as a sentence that is true while it stands; the text in
 * src/core that it is, which occurs in its file exactly once; what stands there when it is switched off; and the
 * files of test/promises, or of another folder where it is named, that are expected to turn red.
 */
export const guardsOf = (group, file, rows) =>
  rows.map(([name, find, replace, ...tests]) => ({
    group,
    name,
    file: `src/core/${file}.ts`,
    find,
    replace,
    tests: tests.map((test) => `test/${test.includes("/") ? test : `promises/${test}`}.test.ts`),
  }));
