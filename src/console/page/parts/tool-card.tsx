import type { ToolItem } from "../transcript.ts";

type State = "asks you" | "running" | "done" | "no result";

/** One tool call: its name, what it was given, and what it gave. */
export function ToolCard({ tool, isWorking, asks }: { tool: ToolItem; isWorking: boolean; asks: boolean }) {
  const { name, args, result } = tool;
  const state: State = result !== undefined ? "done" : asks ? "asks you" : isWorking ? "running" : "no result";
  return (
    <section class="item card tool" aria-label={`Tool call ${name}`}>
      <h2>
        <code>{name}</code>
        <span class={`state ${state.replace(" ", "-")}`}>{state}</span>
      </h2>
      {args !== "" && args !== "{}" && (
        <pre class="args" dir="auto">
          <span class="hidden">Arguments: </span>
          {prettyJson(args)}
        </pre>
      )}
      {result !== undefined && result !== "" && !echoes(args, result) && (
        <pre class="result" dir="auto">
          <span class="hidden">Result: </span>
          {prettyJson(result)}
        </pre>
      )}
    </section>
  );
}

/** JSON on its lines; short objects on one. What is no JSON, such as arguments that still stream in, as it is. */
function prettyJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    const line = JSON.stringify(value);
    return line.length <= 60 ? line : JSON.stringify(value, undefined, 2);
  } catch {
    return text;
  }
}

/** Whether a result only says again what the call was given, as that of turn control does. */
function echoes(args: string, result: string): boolean {
  return args.includes(JSON.stringify(result));
}
