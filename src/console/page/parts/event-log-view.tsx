import { useState } from "preact/hooks";
import type { EventLog } from "../event-log.ts";

/** Drawn at most: a long log is copied, not read. */
const SHOWN = 400;

/** What went over the wire, as it was. */
export function EventLogView({ log }: { log: EventLog }) {
  const [copied, setCopied] = useState<"copied" | "failed">();
  const { entries } = log;
  const copy = () => {
    navigator.clipboard.writeText(log.toText()).then(
      () => setCopied("copied"),
      () => setCopied("failed"),
    );
  };
  return (
    <div class="log">
      <div class="log-head">
        <p>
          {entries.length} {entries.length === 1 ? "entry" : "entries"}
          {entries.length > SHOWN ? `, the last ${SHOWN} shown` : ""}
        </p>
        <button type="button" class="quiet small" disabled={entries.length === 0} onClick={copy}>
          Copy all
        </button>
        <span role="status" class="hint">
          {copied === "copied" ? "Copied, without proofs." : copied === "failed" ? "The browser did not allow it." : ""}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <ol class="entries" tabIndex={0} aria-label="Event log">
        {entries.slice(-SHOWN).map(({ at, direction, label, line }, index) => (
          <li key={index}>
            <details>
              <summary>
                <time dateTime={new Date(at).toISOString()}>{clockOf(at)}</time>
                <span class={direction}>
                  <span aria-hidden="true">{direction === "sent" ? "→" : "←"}</span>
                  <span class="hidden">{direction}</span>
                </span>
                <span class="label">{label}</span>
              </summary>
              <pre dir="auto">{line}</pre>
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}

const clockOf = (at: number): string => new Date(at).toISOString().slice(11, 23);
