/** @param {number[]} list @param {number} p */
export function percentile(list, p) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}

/** @param {number[]} list */
export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The median over rounds of one's figure to the other's in the same round: a noisy machine is noisy for both.
 * @param {Map<number, object>} ones by round @param {Map<number, object>} others @param {(sample: object) => number} of
 */
export const medianRatio = (ones, others, of) =>
  median([...ones].filter(([round]) => others.has(round)).map(([round, one]) => of(one) / of(others.get(round))));
