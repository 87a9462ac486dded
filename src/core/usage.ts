/**
 * Token usage as the protocol counts it: a count that is not known is left out, never null, NaN or
 * a guess (AG-UI lifecycle, token usage).
 */
import type { TokenUsage } from "@ag-ui/core";

const COUNTS = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "reasoningTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
] as const;
const LABELS = ["provider", "model"] as const;

/** What of an entry can be counted: whole numbers of at least 0, and its labels. */
export function countable(entry: TokenUsage): TokenUsage {
  const counted: TokenUsage = {};
  for (const label of LABELS) if (typeof entry[label] === "string") counted[label] = entry[label];
  for (const count of COUNTS) {
    const value = entry[count];
    if (Number.isSafeInteger(value) && (value as number) >= 0) counted[count] = value as number;
  }
  return counted;
}
