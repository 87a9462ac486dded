/** Plays one history to the handler and to the reference, and compares them after every action. */
import { expect } from "vitest";
import type { Action, How, Who } from "./actions.ts";
import { type Entry, Reference } from "./reference.ts";
import { World } from "./world.ts";

const OTHER: Readonly<Record<Who, Who>> = { nobody: "anna", anna: "ben", ben: "nobody" };

/** What was done, over all histories: a property that never gets anywhere proves nothing. */
export type Tally = Record<string, number>;

export async function play(history: readonly Action[], tally: Tally): Promise<void> {
  const reference = new Reference();
  const world = new World();
  let runs = 0;
  const fresh = () => `r${++runs}`;
  const oneOf = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length];

  const resume = (names: string[], who: Who, key: string, entries: readonly Entry[]) => {
    const thread = Number(key.split("/")[1]);
    reference.resume(names, who, thread, entries);
    world.resume(names, who, thread, entries);
  };

  const act: { [D in Action["do"]]: (action: Extract<Action, { do: D }>) => unknown } = {
    run({ who, thread, script }) {
      const name = fresh();
      reference.run(name, who, thread, script);
      world.run(name, who, thread, script);
    },
    answer({ pick, how }) {
      const turn = oneOf(reference.holding, pick);
      if (turn === undefined) return;
      const who = how === "foreign" ? OTHER[turn.who] : turn.who;
      resume(how === "twice" ? [fresh(), fresh()] : [fresh()], who, turn.key, put(reference.open(turn), how));
    },
    answerOld({ pick }) {
      const old = oneOf(
        [...reference.questions.values()].filter(({ cause }) => cause !== undefined),
        pick,
      );
      if (old === undefined) return;
      const [who] = old.key.split("/") as [Who];
      resume([fresh()], who, old.key, put([old.words], "right"));
    },
    goOn({ pick }) {
      const turn = oneOf(reference.working, pick);
      if (turn === undefined) return;
      reference.goOn(turn);
      world.goOn(turn.name);
    },
    leave({ pick }) {
      const run = oneOf(reference.openRuns, pick);
      if (run === undefined) return;
      reference.leave(run);
      return world.leave(run);
    },
    async stop({ who, thread }) {
      const there = reference.stop(who, thread);
      const stopped = world.handler.stop(`${thread}`, { identity: who === "nobody" ? null : who });
      expect(await stopped).toBe(there);
    },
    advance({ ms }) {
      reference.advance(ms);
      return world.clock.advance(ms);
    },
    close({ graceMs }) {
      reference.close(graceMs);
      void world.handler.close({ graceMs });
    },
  };

  for (const action of history) {
    await act[action.do](action as never);
    await world.settle();
    expect({
      ends: Object.fromEntries(world.ends),
      log: world.log,
      stats: world.handler.stats(),
      held: world.handler.inspect().map(({ interrupts }) => interrupts.map(({ message }) => message)),
      errors: world.errors,
    }).toEqual({
      ends: Object.fromEntries(reference.ends),
      log: reference.log,
      stats: { ...reference.stats, refused: expect.anything() },
      held: reference.holding.map(reference.open),
      errors: [],
    });
  }
  for (const end of world.ends.values()) {
    const kind = end.replace(/: .*/, end.includes(",") ? "s" : "");
    tally[kind] = (tally[kind] ?? 0) + 1;
  }
  for (const name of ["evicted", "expired", "answered", "abandoned"] as const)
    tally[name] = (tally[name] ?? 0) + reference.counts[name];
  await world.close();
  expect(world.handler.stats()).toMatchObject({ held: 0, running: 0, queued: 0 });
  expect(world.clock.pending).toBe(0);
}

/** The entries of an answer to these questions, put this way. */
function put(open: readonly string[], how: How): Entry[] {
  const entries: Entry[] = open.map((words) => ({ words, give: how === "giveUp" ? "up" : "answer", proof: "right" }));
  const last = entries.at(-1) as Entry;
  switch (how) {
    case "giveUpFirst":
      return entries.map((entry, i) => (i === 0 ? { ...entry, give: "up" } : entry));
    case "partial":
      return entries.length > 1 ? entries.slice(1) : [{ ...last, words: "nobody asked this" }];
    case "noProof":
    case "wrongProof":
      return [...entries.slice(0, -1), { ...last, proof: how === "noProof" ? "none" : "wrong" }];
    case "badPayload":
      return [...entries.slice(0, -1), { ...last, give: "bad" }];
    case "stray":
      return [{ words: "nobody asked this", give: "answer", proof: "none" }, ...entries];
    default:
      return entries;
  }
}
