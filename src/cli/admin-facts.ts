/** What the console's admin view says of a project: its tools, and the options in force. Never a key. */
import type { ConsoleTool } from "../console/index.ts";
import type { JsonValue } from "../index.ts";
import type { ProjectTool } from "../project/index.ts";
import { REQUEST_INPUT } from "./engine/scripted.ts";
import type { Project } from "./load-project.ts";

export function describeTools({ tools, turnControl, config }: Project): ConsoleTool[] {
  const own = [...tools].map(([name, tool]) => ({ name, description: tool.description, behaviour: behaviourOf(tool) }));
  if (turnControl === false) return own;
  const { requestInputDescription } = turnControl;
  const isScripted = config.engine.provider === "scripted";
  return [
    ...own,
    {
      name: REQUEST_INPUT,
      behaviour: "ends the turn with a question; nothing is held and nothing is permitted by its answer",
      descriptionFrom: requestInputDescription === undefined ? "default" : "overridden",
      ...(requestInputDescription !== undefined
        ? { description: requestInputDescription }
        : isScripted
          ? { description: "A script needs no description; a model is given the default one." }
          : {}),
    },
  ];
}

function behaviourOf({ approval }: ProjectTool): string {
  if (approval === undefined) return "runs at once; may ask in the middle of its work";
  const { allowEdits = false, allowAlways = true } = approval === true ? {} : approval;
  const extras = [
    allowEdits ? "arguments may be edited" : "arguments stay as they are",
    allowAlways ? "“always” approves later calls in the same turn" : "every call is asked about",
  ];
  return `needs approval; ${extras.join("; ")}`;
}

export function describeOptions({ config }: Project): { [name: string]: JsonValue } {
  const { engine, retention, augments } = config;
  const { ttlMs = 900_000, maxHeld = 128 } = retention;
  return {
    engine: engine.provider,
    ...(engine.provider === "scripted"
      ? { script: engine.script }
      : { model: engine.model, baseURL: engine.baseURL, maxSteps: engine.maxSteps ?? 20 }),
    augments,
    "retention.ttlMs": ttlMs,
    "retention.maxHeld": maxHeld,
    "retention.maxHeldPerIdentity": retention.maxHeldPerIdentity ?? maxHeld,
    proof: "required",
    identify: "the console's own name for its browser",
    whenAsked: "ask-again",
    onDisconnect: "abort",
    validate: true,
  };
}
