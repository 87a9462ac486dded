/**
 * What the files of an agent project are written with: tools, and the script that plays the model
 * until there is one. `holdline run` reads both; so may a program of your own.
 *
 * @module holdline/project
 */
import type { ApproveOptions, StandardSchemaV1, ToolContext } from "../index.ts";

/** A tool of a project. Its name is the name it is exported under. */
export interface ProjectTool<S extends StandardSchemaV1<unknown, object> = StandardSchemaV1<unknown, object>> {
  /** Tells the model what the tool does and when to call it. */
  description: string;
  /** What the arguments must be: any Standard Schema that can describe itself as JSON Schema, such as one of zod. */
  inputSchema: S;
  /** Every call waits for a human's approval; `true` takes the defaults. Absent: calls run at once. */
  approval?: true | ApproveOptions;
  /** Does the work. Through `context` it may ask the human in the middle of it. What it returns is the call's result. */
  execute(args: StandardSchemaV1.InferOutput<S>, context: ToolContext): unknown;
}

const TOOL = Symbol.for("holdline.project.tool");

/** Makes a tool of its description; the arguments of `execute` have the type of its schema. */
export function defineTool<S extends StandardSchemaV1<unknown, object>>(tool: ProjectTool<S>): ProjectTool<S> {
  return Object.defineProperty({ ...tool }, TOOL, { value: true });
}

/** Whether a value was made by `defineTool`, also by another copy of this module. */
export function isTool(value: unknown): value is ProjectTool {
  return typeof value === "object" && value !== null && TOOL in value;
}

/** What a scripted model knows when it is called. */
export interface Seen {
  /** The user's latest message. */
  userText: string;
  /** What its case's `user` matched, groups included; for `otherwise` the whole message. */
  match: readonly string[];
  /** What the calls of its previous reply came to, in their order; empty at its first. */
  results: readonly string[];
}

/** A call the scripted model makes. */
export interface ScriptedCall {
  /** The name of one of the project's tools, or `request_input` where turn control is on. */
  tool: string;
  /** As the model would write them: they are checked by the tool's schema. */
  args: object | ((seen: Seen) => object);
}

/** What the scripted model says when it is called: all of it optional, in this order. */
export interface ScriptedReply {
  /** What it thinks aloud, before anything else. Default: nothing. */
  reasoning?: string | ((seen: Seen) => string);
  /** What it says. Default: nothing. */
  text?: string | ((seen: Seen) => string);
  /** Made at once, side by side. When all have a result the model is called again, and gives its next reply. */
  calls?: readonly ScriptedCall[];
}

/** One case of a script. */
export interface ScriptedCase {
  /** Has to match the user's latest message. */
  user: RegExp;
  /** Has to match what the assistant said last, before that message. Absent: anything. */
  after?: RegExp;
  /** Its replies, one for each time it is called in the turn. All but the last make calls. */
  model: readonly ScriptedReply[];
}

/** A script that plays the model's part. */
export interface Script {
  /** Tried in their order; the first that matches is played. */
  cases: readonly ScriptedCase[];
  /** Played when none matches. */
  otherwise: readonly ScriptedReply[];
}

/** Gives a script its type. */
export function defineScript(script: Script): Script {
  return script;
}
