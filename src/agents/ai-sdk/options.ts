/**
 * What an agent with a model is made of: our own options, and every other one of `streamText`.
 */
import type { LanguageModel, OutputInterface, streamText, TimeoutConfiguration, ToolSet } from "ai";
import type { AgentContext } from "../../index.ts";

// biome-ignore lint/suspicious/noExplicitAny: an output of any kind, as the AI SDK has it
type StreamTextOptions<TOOLS extends ToolSet> = Parameters<typeof streamText<TOOLS, OutputInterface<any, any, any>>>[0];

/** What `streamText` is given by us. */
type Ours =
  | "model"
  | "tools"
  | "system"
  | "prompt"
  | "messages"
  | "allowSystemInMessages"
  | "timeout"
  | "stopWhen"
  | "_internal";

/**
 * Options of `aiAgent`: those below, and any other of the AI SDK's `streamText` (`temperature`, `maxRetries`,
 * `providerOptions`, `toolChoice`, `prepareStep`, `stopWhen`, …), which is passed through.
 */
export type AiAgentOptions<TOOLS extends ToolSet = ToolSet> = Omit<StreamTextOptions<TOOLS>, Ours> & {
  /** Any model of the AI SDK: `openai("…")`, one of an OpenAI-compatible server, or a name for its default provider. */
  model: LanguageModel;
  /** What the model is told before the conversation. After it stand the run's `context` entries and the client's system messages. */
  instructions?: string | ((context: AgentContext) => string | PromiseLike<string>);
  /**
   * What the model may call. In a tool's `execute`, `contextOf(options)` asks the human. One without `execute` is the
   * client's to answer, as those are that a run declares. May depend on the turn: who is calling, what `locals` hold.
   */
  tools?: TOOLS | ((context: AgentContext) => TOOLS | PromiseLike<TOOLS>);
  /**
   * Whether the model gets `request_input`, by which it ends its turn with a question to the user; an object words its
   * description. Default `true`.
   */
  turnControl?: boolean | { requestInputDescription?: string };
  /** How often the model is called in one turn; a turn that needs more ends as cancelled. A whole number of at least 1, else a `RangeError`. Default 20. */
  maxSteps?: number;
  /** Ends the turn, as success, when it says so after calls were answered: the AI SDK's conditions, one or several. */
  stopWhen?: StreamTextOptions<TOOLS>["stopWhen"];
  /**
   * Media types that the model takes, like `"image/*"` or `"application/pdf"`. Parts of another type are left out with
   * a warning. Default: whatever its provider does not refuse; an HTTP error of the model's server is no such refusal.
   */
  accepts?: readonly string[];
  /**
   * As the AI SDK's, in milliseconds, but counted only while the model is at work: not while tools run or a human
   * thinks. What runs out of time fails. Default: no bound, but the client's leaving.
   */
  timeout?: TimeoutConfiguration;
};

/** The options with our own taken out and their defaults in place. */
export interface AiAgentSettings {
  readonly model: LanguageModel;
  readonly instructions: AiAgentOptions["instructions"];
  readonly tools: (context: AgentContext) => ToolSet | PromiseLike<ToolSet>;
  readonly turnControl: false | { readonly description?: string };
  readonly maxSteps: number;
  readonly stopWhen: AiAgentOptions["stopWhen"];
  readonly accepts: (mediaType: string) => boolean;
  readonly timeout: TimeoutConfiguration | undefined;
  /** For `streamText` as they are. */
  readonly passed: Omit<StreamTextOptions<ToolSet>, Ours>;
}

/** Fills the defaults in. @throws RangeError, TypeError */
export function settle(options: AiAgentOptions): AiAgentSettings {
  const {
    model,
    instructions,
    tools = {},
    turnControl = true,
    maxSteps = 20,
    stopWhen,
    accepts,
    timeout,
    ...passed
  } = options;
  if (model === undefined || model === null) throw new TypeError("aiAgent needs a `model`.");
  if (!Number.isInteger(maxSteps) || maxSteps < 1)
    throw new RangeError("maxSteps must be a whole number of at least 1.");
  const description = typeof turnControl === "object" ? turnControl.requestInputDescription : undefined;
  return {
    model,
    instructions,
    tools: typeof tools === "function" ? tools : () => tools,
    turnControl: turnControl !== false && (description === undefined ? {} : { description }),
    maxSteps,
    stopWhen,
    accepts: accepts === undefined ? () => true : (type) => accepts.some((pattern) => covers(pattern, type)),
    timeout,
    passed,
  };
}

/** Whether a media type is the pattern's, or of its kind. */
function covers(pattern: string, type: string): boolean {
  const [kind, name] = pattern.toLowerCase().split("/");
  const given = type.toLowerCase();
  return name === "*" ? kind === "*" || given.startsWith(`${kind}/`) : given === pattern.toLowerCase();
}
