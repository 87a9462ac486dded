/**
 * The picture of a turn: when its runs and tool calls were, and the pauses in which it was held.
 * Pure: times come in, shapes go out.
 */

/** One turn: several runs may carry it, and between two of them it was held. */
export interface TurnRecord {
  readonly runs: readonly Span[];
  readonly holds: readonly Span[];
  readonly tools: readonly (Span & { readonly id: string })[];
}

export interface Span {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** `undefined` while it lasts. */
  readonly to: number | undefined;
}

/** A bar of the picture, in hundredths of its width. */
export interface Bar {
  readonly name: string;
  readonly kind: "run" | "hold" | "tool";
  readonly left: number;
  readonly width: number;
  readonly from: number;
  readonly ms: number;
  readonly open: boolean;
}

export const emptyTurn: TurnRecord = { runs: [], holds: [], tools: [] };

type Lane = keyof TurnRecord;

/** Begins a span in a lane. */
export function begin(turn: TurnRecord, lane: Lane, name: string, at: number, id = name): TurnRecord {
  return { ...turn, [lane]: [...turn[lane], { name, from: at, to: undefined, id }] };
}

/** Ends every span of a lane that lasts, or the one with an id. */
export function end(turn: TurnRecord, lane: Lane, at: number, id?: string): TurnRecord {
  const ended = turn[lane].map((span) =>
    span.to === undefined && (id === undefined || (span as { id?: string }).id === id) ? { ...span, to: at } : span,
  );
  return { ...turn, [lane]: ended };
}

/** Whether anything in it still lasts. */
export function lasts(turn: TurnRecord): boolean {
  return [...turn.runs, ...turn.holds, ...turn.tools].some(({ to }) => to === undefined);
}

/**
 * Where the bars stand. A human thinks for minutes while a run takes milliseconds, so time is not
 * drawn to scale: between two instants at which something begins or ends there is room for the logarithm of it.
 */
export function layOut(turn: TurnRecord, now: number): readonly Bar[] {
  const spans = [
    ...turn.runs.map((span) => ({ kind: "run" as const, ...span })),
    ...turn.holds.map((span) => ({ kind: "hold" as const, ...span })),
    ...turn.tools.map((span) => ({ kind: "tool" as const, ...span })),
  ];
  const instants = [...new Set(spans.flatMap(({ from, to }) => [from, to ?? now]))].sort((a, b) => a - b);
  const places = new Map<number, number>();
  let total = 0;
  for (const [index, instant] of instants.entries()) {
    if (index > 0) total += 0.35 + Math.log1p((instant - (instants[index - 1] as number)) / 250);
    places.set(instant, total);
  }
  const place = (instant: number) => (100 * (places.get(instant) ?? 0)) / (total || 1);
  return spans.map(({ name, kind, from, to }) => {
    const left = place(from);
    // What is over at once is still seen.
    const width = Math.max(place(to ?? now) - left, total === 0 ? 100 : 0.8);
    return { name, kind, left: Math.min(left, 100 - 0.8), width, from, ms: (to ?? now) - from, open: to === undefined };
  });
}

/** A duration for people: `"80 ms"`, `"2.4 s"`, `"3 min 5 s"`, `"2 h 4 min"`. */
export function wordDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
