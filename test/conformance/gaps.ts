/**
 * What a runtime does not keep, and why. Each has a script in docs/runtimes.md that shows it. A new one is a change of
 * this file, which a reviewer sees; a gap that has closed fails the suite by being listed.
 */
import type { RequirementId } from "./requirements.ts";

export const gaps: Readonly<Record<string, Readonly<Partial<Record<RequirementId, string>>>>> = {};
