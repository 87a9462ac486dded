/**
 * What went over the wire, as it was: the requests sent and every frame received, with the time.
 * Proofs are left out: a log is copied into issues and chats, and whoever reads one could answer.
 */
import type { HttpAgent } from "@ag-ui/client";

type Fetch = HttpAgent["fetch"];

export interface LogEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly direction: "sent" | "received";
  /** An event's type, or what was sent. */
  readonly label: string;
  /** One line of JSON. */
  readonly line: string;
}

/** How many entries are kept; the oldest go first. */
const KEPT = 5_000;

export class EventLog {
  readonly #entries: LogEntry[] = [];
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#changed();
  }

  /** All of it as text, one entry a line. */
  toText(): string {
    return this.#entries
      .map(({ at, direction, line }) => `${new Date(at).toISOString()} ${direction === "sent" ? "→" : "←"} ${line}`)
      .join("\n");
  }

  /** A fetch that writes down what passes. The client reads the same bytes at the same time. */
  listen(fetch: Fetch): Fetch {
    return async (url, init) => {
      this.#add("sent", String(init.body ?? ""), "run");
      const response = await fetch(url, init);
      if (response.body === null) return response;
      let rest = "";
      const decoder = new TextDecoder();
      const read = (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data:")) this.#add("received", line.slice(5).trim());
      };
      const tap = new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          read(decoder.decode(bytes, { stream: true }));
          controller.enqueue(bytes);
        },
        flush: () => {
          if (response.ok) return;
          this.#add("received", rest, `HTTP ${response.status}`);
        },
      });
      const { status, statusText, headers } = response;
      return new Response(response.body.pipeThrough(tap), { status, statusText, headers });
    };
  }

  #add(direction: LogEntry["direction"], text: string, label?: string): void {
    const { line, type } = redact(text);
    this.#entries.push({ at: Date.now(), direction, label: label ?? type ?? "frame", line });
    if (this.#entries.length > KEPT) this.#entries.splice(0, this.#entries.length - KEPT);
    this.#changed();
  }
}

/** The JSON without proofs; what is none is left as it is. */
function redact(text: string): { line: string; type: string | undefined } {
  try {
    const value = JSON.parse(text, (key, member) =>
      key === "holdline" && typeof member === "object" && member !== null && "proof" in member
        ? { ...member, proof: "(left out of the log)" }
        : member,
    ) as { type?: string } | null;
    return { line: JSON.stringify(value), type: value?.type };
  } catch {
    return { line: text, type: undefined };
  }
}
