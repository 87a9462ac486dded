/**
 * The document a GET answers with: what is derived from the options, and what the application
 * declares over it. Nothing is declared that the options take away.
 */
import type { AgentCapabilities } from "@ag-ui/core";
import type { Settings } from "./settings.ts";

/** Merges group by group; a group the application gives adds to what is derived. */
export function capabilities(settings: Settings): AgentCapabilities {
  const { agent, hold, humanInput, approvals, protobuf, capabilities: declared } = settings;
  const holds = hold && humanInput === undefined;
  const interrupts = holds || agent.keepsInterrupts === true;
  const asks = hold || humanInput !== undefined;
  const derived: AgentCapabilities = {
    transport: { streaming: true, ...(protobuf ? { httpBinary: true } : {}) },
    humanInTheLoop: {
      supported: true,
      approvals: asks,
      interrupts,
      approveWithEdits: holds && approvals.allowEdits,
    },
  };
  const merged: AgentCapabilities = { ...declared };
  merged.transport = { ...derived.transport, ...declared.transport };
  merged.humanInTheLoop = { ...derived.humanInTheLoop, ...declared.humanInTheLoop };
  // What cannot be is not declared, whatever the application says.
  if (!protobuf && merged.transport.httpBinary) merged.transport.httpBinary = false;
  if (!interrupts) merged.humanInTheLoop.interrupts = false;
  if (!holds) merged.humanInTheLoop.approveWithEdits = false;
  return merged;
}
