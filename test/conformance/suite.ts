/**
 * The conformance suite: every requirement as one test, over a fixture that is being served. A runtime's own
 * test file starts the fixture and says what it is able to do; it has no other tests of these promises.
 */
import { afterAll, beforeAll, describe, it, type TestContext } from "vitest";
import { gaps } from "./gaps.ts";
import { holding } from "./holding.ts";
import type { Instance } from "./instance.ts";
import { leaving } from "./leaving.ts";
import { type Ability, type Requirement, type RequirementId, requirements } from "./requirements.ts";
import { serving } from "./serving.ts";

/** What a test of a requirement is given. */
export interface Tested {
  readonly at: Instance;
  readonly able: readonly Ability[];
}

export type Cases = { readonly [Id in RequirementId]?: (tested: Tested) => Promise<void> };

/** Tested elsewhere, over all runtimes at once, because it takes its time: `test/runtimes/silence.test.ts`. */
export const TESTED_APART: readonly RequirementId[] = ["silence"];

export const cases: Cases = { ...serving, ...leaving, ...holding };

declare module "vitest" {
  interface TaskMeta {
    /** What a test says about a runtime, for the table that is made of a run. */
    conformance?: { readonly runtime: string; readonly requirement: RequirementId };
  }
}

/** Takes note of which requirement a test shows, and on what. */
export function shows(context: TestContext, runtime: string, requirement: RequirementId): void {
  context.task.meta.conformance = { runtime, requirement };
}

/** Whether a requirement is tested on a runtime: not where it does not apply, nor where a named gap says so. */
function isTested(id: RequirementId, runtime: string, able: readonly Ability[]): boolean {
  const { needs = [] }: Requirement = requirements[id];
  return needs.every((need) => able.includes(need)) && gaps[runtime]?.[id] === undefined;
}

/** Runs the suite over a runtime's fixture. */
export function describeConformance(runtime: string, able: readonly Ability[], start: () => Promise<Instance>): void {
  describe(`what is promised, on ${runtime}`, () => {
    let at: Instance;
    beforeAll(async () => {
      at = await start();
    }, 60_000);
    afterAll(() => at?.stop());

    for (const id of Object.keys(requirements) as RequirementId[]) {
      const test = cases[id];
      if (test === undefined || !isTested(id, runtime, able)) continue;
      it(`${id}: ${requirements[id].says}`, async (context) => {
        shows(context, runtime, id);
        await test({ at, able });
      });
    }
  });
}
