import type { SessionState } from "../session.ts";
import { type Bar, lasts, layOut, wordDuration } from "../timeline.ts";
import { useNow } from "./use-session.ts";

const LANES = { run: "Runs", hold: "Held", tool: "Tools" } as const;

/** The latest turn as a picture, and as a list for whoever prefers words. */
export function TimelineView({ state }: { state: SessionState }) {
  const { turn, shared } = state;
  const isOpen = lasts(turn);
  const now = useNow(isOpen);
  const bars = layOut(turn, Math.max(now, Date.now()));
  if (bars.length === 0)
    return (
      <p class="empty">The latest turn is drawn here: its runs, its tool calls, and the pauses in which it is held.</p>
    );
  const runs = bars.filter(({ kind }) => kind === "run").length;
  const holds = bars.filter(({ kind }) => kind === "hold");
  const heldFor = holds.reduce((sum, { ms }) => sum + ms, 0);
  const summary = `One turn, ${runs} ${runs === 1 ? "run" : "runs"}${holds.length === 0 ? ", never held" : `, held ${holds.length === 1 ? "once" : `${holds.length} times`} for ${wordDuration(heldFor)}`}${isOpen ? ", and not over" : ""}.`;
  return (
    <>
      <figure class="timeline">
        <figcaption>{summary}</figcaption>
        <div aria-hidden="true">
          <Lane label={LANES.run} bars={bars.filter(({ kind }) => kind === "run")} />
          {holds.length > 0 && <Lane label={LANES.hold} bars={holds} />}
          {bars
            .filter(({ kind }) => kind === "tool")
            .map((bar, index) => (
              <Lane key={index} label={bar.name} bars={[bar]} isTool />
            ))}
        </div>
        <p class="legend">
          <span class="key run" /> a run, one exchange <span class="key hold" /> held, nothing open{" "}
          <span class="key tool" /> a tool call
          <br />
          Pauses are drawn shorter than they were.
        </p>
      </figure>
      <ol class="spans">
        {bars
          .toSorted((a, b) => a.from - b.from)
          .map((bar, index) => (
            <li key={index}>
              <span class={`key ${bar.kind}`} aria-hidden="true" />
              <span class="what">{wordBar(bar)}</span>
              <span class="ms">
                {wordDuration(bar.ms)}
                {bar.open ? " so far" : ""}
              </span>
            </li>
          ))}
      </ol>
      {isShown(shared) && (
        <section class="shared" aria-label="Shared state">
          <h2>Shared state</h2>
          <pre>{JSON.stringify(shared, undefined, 2)}</pre>
        </section>
      )}
    </>
  );
}

function Lane({ label, bars, isTool = false }: { label: string; bars: readonly Bar[]; isTool?: boolean }) {
  return (
    <div class="lane">
      <span class={isTool ? "lane-label tool-name" : "lane-label"}>{label}</span>
      <span class="track">
        {bars.map(({ left, width, kind, open, ms }, index) => (
          <span
            key={index}
            class={`bar ${kind}${open ? " open" : ""}`}
            style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
            title={wordDuration(ms)}
          />
        ))}
      </span>
    </div>
  );
}

function wordBar({ kind, name }: Bar): string {
  if (kind === "run") return `run ${name.length > 8 ? name.slice(0, 8) : name}`;
  return kind === "hold" ? "held for its answers" : name;
}

const isShown = (shared: unknown): boolean =>
  shared !== undefined && !(typeof shared === "object" && shared !== null && Object.keys(shared).length === 0);
