/** What people, clients and time can do to a server, as short as a trace should be read. */
import fc from "fast-check";

/** One step of a turn: it asks (`n` questions at once, the first perhaps with a deadline of its own), or works until it is told to go on. */
export type Step = { readonly ask: number; readonly timeoutMs?: number } | "work";

/** Who calls: nobody in particular, or somebody known. */
export type Who = "nobody" | "anna" | "ben";

/** How an answer is put; everything but the first three is refused, or ought to be. */
export const HOWS = [
  "right",
  "giveUp",
  "giveUpFirst",
  "partial",
  "noProof",
  "wrongProof",
  "badPayload",
  "stray",
  "twice",
  "foreign",
] as const;
export type How = (typeof HOWS)[number];

/** `pick` chooses among what there is at that moment; where there is nothing to choose the action does nothing. */
export type Action =
  | { readonly do: "run"; readonly who: Who; readonly thread: number; readonly script: readonly Step[] }
  | { readonly do: "answer"; readonly pick: number; readonly how: How }
  | { readonly do: "answerOld"; readonly pick: number }
  | { readonly do: "goOn"; readonly pick: number }
  | { readonly do: "leave"; readonly pick: number }
  | { readonly do: "stop"; readonly who: Who; readonly thread: number }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "close"; readonly graceMs: number };

const who = fc.constantFrom<Who>("nobody", "anna", "ben");
const thread = fc.integer({ min: 0, max: 1 });
const pick = fc.nat(7);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ ask: fc.integer({ min: 1, max: 2 }), timeoutMs: fc.constant(300) }) },
  { weight: 2, arbitrary: fc.constant<Step>("work") },
);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 28,
    arbitrary: fc.record({ do: fc.constant("run" as const), who, thread, script: fc.array(step, { maxLength: 3 }) }),
  },
  { weight: 32, arbitrary: fc.record({ do: fc.constant("answer" as const), pick, how: fc.constantFrom(...HOWS) }) },
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant("answer" as const), pick, how: fc.constant("right" as const) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answerOld" as const), pick }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("goOn" as const), pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("leave" as const), pick }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("stop" as const), who, thread }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(250, 500, 1_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("close" as const), graceMs: fc.constantFrom(0, 520) }) },
);

/** A history. */
export const actions = fc.array(action, { minLength: 1, maxLength: 30, size: "max" });
