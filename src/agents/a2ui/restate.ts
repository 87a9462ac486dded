/** Earlier runs as they may be restated: their text without its blocks, and what those showed. */
import type { AgentContext, AgentEvent, ReplayedRun } from "../../index.ts";
import { Speech } from "./speech.ts";
import { Surfaces } from "./surfaces.ts";

type Runs = Parameters<AgentContext["replay"]>[0];

export function restate(runs: Runs, warn: AgentContext["warn"]): Runs {
  // What is no run is left to the handler to refuse.
  const each = (given: readonly ReplayedRun[]) =>
    given.map((run) => (Array.isArray(run?.events) ? { ...run, events: withSurfaces(run.events, warn) } : run));
  return isLoaded(runs) ? each(runs) : Promise.resolve(runs).then(each);
}

const isLoaded = (runs: Runs): runs is readonly ReplayedRun[] => Array.isArray(runs);

function withSurfaces(events: readonly AgentEvent[], warn: AgentContext["warn"]): AgentEvent[] {
  const shown: AgentEvent[] = [];
  const send = async (event: AgentEvent) => void shown.push(event);
  const speech = new Speech(new Surfaces(send, warn));
  const lanes = new Map();
  for (const event of events) void speech.pass(event, send, lanes);
  speech.endAll(send);
  return shown;
}
