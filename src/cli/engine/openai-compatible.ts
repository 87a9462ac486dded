/**
 * The engine with a model behind any server that speaks OpenAI's chat completions. The AI SDK is
 * the project's to install: it is loaded when a project asks for it, and from there.
 */
import type { Tool, ToolSet } from "ai";
import type { Agent } from "../../index.ts";
import type { ProjectTool } from "../../project/index.ts";
import type { ModelEngine } from "../config-schema.ts";

export interface ModelOptions {
  readonly engine: ModelEngine;
  readonly instructions: string;
  readonly tools: ReadonlyMap<string, ProjectTool>;
  readonly turnControl: false | { readonly requestInputDescription?: string };
  /** Imports a package as the project's own files would. */
  readonly importFromProject: (specifier: string) => Promise<unknown>;
}

/** What of the provider's package is used. */
interface ProviderPackage {
  createOpenAICompatible(options: { name: string; baseURL: string; apiKey?: string }): (model: string) => never;
}

/** Packages a project needs beside this one to have a model. */
export const MODEL_PACKAGES = { ai: "^6.0.0", "@ai-sdk/openai-compatible": "^2.0.0" } as const;

/** @throws what importing the AI SDK throws when it is not installed. */
export async function modelAgent(options: ModelOptions): Promise<Agent> {
  const { engine, instructions, tools, turnControl, importFromProject } = options;
  const { createOpenAICompatible } = (await importFromProject("@ai-sdk/openai-compatible")) as ProviderPackage;
  const { aiAgent, approval, contextOf } = await import("../../agents/ai-sdk.ts");
  const { baseURL, apiKey, model, maxSteps } = engine;
  const provider = createOpenAICompatible({
    name: "openai-compatible",
    baseURL,
    ...(apiKey === undefined || apiKey === "" ? {} : { apiKey }),
  });
  const offered: ToolSet = Object.fromEntries(
    [...tools].map(([name, tool]) => {
      const given = {
        description: tool.description,
        inputSchema: tool.inputSchema,
        execute: async (args: object, execution: object) => tool.execute(args, contextOf(execution)),
        // biome-ignore lint/suspicious/noExplicitAny: a tool of any input and output, as the AI SDK has it
      } as unknown as Tool<any, any>;
      if (tool.approval === undefined) return [name, given];
      return [name, approval(given, tool.approval === true ? {} : tool.approval)];
    }),
  );
  return aiAgent({
    model: provider(model),
    instructions,
    tools: offered,
    turnControl: turnControl === false ? false : { ...turnControl },
    ...(maxSteps === undefined ? {} : { maxSteps }),
  });
}
