/**
 * What the page keeps in the browser: a name for it, and the conversation, so that a reload goes on
 * where it was. Never a proof: an open question comes back from the server, which knows the name.
 */
import type { Message } from "@ag-ui/client";
import type { TurnRecord } from "./timeline.ts";
import type { Item } from "./transcript.ts";

/** A conversation as it is kept. */
export interface Saved {
  readonly threadId: string;
  readonly messages: readonly Message[];
  readonly items: readonly Item[];
  readonly turn: TurnRecord;
  /** The prompt of a turn that ended with `input-required`. */
  readonly waitsFor: string | undefined;
  /** The ids of the questions that were open. */
  readonly open: readonly string[];
  /** Whether the agent was at work. */
  readonly working: boolean;
  readonly state: unknown;
}

const BROWSER_KEY = "holdline:browser";
const threadKey = (endpoint: string) => `holdline:thread:${endpoint}`;

/** This browser's name; one that may not keep anything has a new one each time. */
export function browserName(): string {
  const fresh = `browser-${crypto.randomUUID()}`;
  try {
    const known = localStorage.getItem(BROWSER_KEY);
    if (known !== null) return known;
    localStorage.setItem(BROWSER_KEY, fresh);
  } catch {}
  return fresh;
}

/** Keeps a conversation. Storage that is full or forbidden loses the reload and nothing else. */
export function save(endpoint: string, saved: Saved): void {
  try {
    localStorage.setItem(threadKey(endpoint), JSON.stringify(saved));
  } catch {
    forget(endpoint);
  }
}

export function load(endpoint: string): Saved | undefined {
  try {
    const text = localStorage.getItem(threadKey(endpoint));
    return text === null ? undefined : (JSON.parse(text) as Saved);
  } catch {
    return undefined;
  }
}

export function forget(endpoint: string): void {
  try {
    localStorage.removeItem(threadKey(endpoint));
  } catch {}
}
