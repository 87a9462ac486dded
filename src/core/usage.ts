/**
 * Token usage as the protocol counts it: a count that is not known is left out, never null, NaN or
 * a guess (AG-UI lifecycle, token usage).
 */
import { aggregateTokenUsage, type TokenUsage } from "@ag-ui/core";

const COUNTS = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
] as const;
const LABELS = ["provider", "model"] as const;

/**
 * What of an entry can be counted: whole numbers of at least 0, and its labels. The total is the sum of the two
 * it is made of where both are known, whatever a provider calls its total. Parts that come to more than the
 * count they are part of were counted beside it and say nothing of it: they are left out.
 */
export function countable(entry: TokenUsage): TokenUsage {
  const counted: TokenUsage = {};
  for (const label of LABELS) if (typeof entry[label] === "string") counted[label] = entry[label];
  for (const count of COUNTS) {
    const value = entry[count];
    if (Number.isSafeInteger(value) && (value as number) >= 0) counted[count] = value as number;
  }
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = counted;
  if (inputTokens !== undefined && outputTokens !== undefined) counted.totalTokens = inputTokens + outputTokens;
  if (inputTokens !== undefined && cachedInputTokens + cacheWriteInputTokens > inputTokens) {
    delete counted.cachedInputTokens;
    delete counted.cacheWriteInputTokens;
  }
  if (outputTokens !== undefined && (counted.reasoningTokens ?? 0) > outputTokens) delete counted.reasoningTokens;
  return counted;
}

/** One entry for each provider and model, added up. */
export const summed = (entries: readonly TokenUsage[]): TokenUsage[] =>
  aggregateTokenUsage([...entries]).map(countable);
