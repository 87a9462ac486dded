/**
 * The conversation as a model takes it. Given the protocol's messages, it gives model messages in
 * which every tool call is followed by its result, whatever a client, a lost connection or an
 * abandoned question made of the history; the wire never sees what is repaired here.
 */
import type { AssistantMessage, Message, ReasoningMessage, ToolMessage } from "@ag-ui/core";
import type { AssistantContent, ModelMessage, ToolResultPart } from "ai";
import { type PartRules, type ToolOutput, toToolOutput, toUserContent } from "./content.ts";
import { unwrapValues } from "./provider-values.ts";

/** How a history is read. */
export interface HistoryRules extends PartRules {
  /** The provider that is called: what another one encrypted is left out. */
  readonly provider: string;
}

/** A conversation, its system messages apart: not every provider takes one in the middle. */
export interface History {
  readonly system: string[];
  readonly messages: ModelMessage[];
}

interface Call {
  /** As the model sees it: two calls of one id would be one to some providers. */
  readonly id: string;
  readonly name: string;
  input: unknown;
  readonly providerOptions: Record<string, Record<string, string>> | undefined;
  output: ToolOutput | undefined;
}

type AssistantPart = Exclude<AssistantContent, string>[number];

/** One answer of the model: its parts, its calls, and whether any of those was answered already. */
interface Answer {
  readonly parts: (AssistantPart | Call)[];
  answered: boolean;
}

const UNANSWERED: ToolOutput = { type: "error-text", value: "The call was interrupted: there is no result." };

/** Reads a history. Activity stays out (AG-UI activity); what the model cannot take is skipped and said. */
export function toHistory(messages: readonly Message[], rules: HistoryRules): History {
  const system: string[] = [];
  const places: (Answer | ModelMessage)[] = [];
  /** The calls of an id, in the order they were made. */
  const calls = new Map<string, { call: Call; answer: Answer }[]>();
  const taken = new Set<string>();

  /** The answer that a further part belongs to: one that was begun and that nothing has followed. */
  function answering(): Answer {
    const last = places.at(-1);
    if (last !== undefined && isAnswer(last) && !last.answered) return last;
    const answer: Answer = { parts: [], answered: false };
    places.push(answer);
    return answer;
  }

  function addAssistant({ content, toolCalls = [] }: AssistantMessage): void {
    const answer = answering();
    if (content !== undefined && content !== "") answer.parts.push({ type: "text", text: content });
    for (const { id, function: called, encryptedValue } of toolCalls) {
      const earlier = calls.get(id) ?? [];
      let unique = id;
      for (let n = 2; taken.has(unique); n++) unique = `${id}_${n}`;
      taken.add(unique);
      const call: Call = {
        id: unique,
        name: called.name,
        input: readArguments(called.arguments),
        providerOptions: unwrapValues(rules.provider, encryptedValue),
        output: undefined,
      };
      calls.set(id, [...earlier, { call, answer }]);
      answer.parts.push(call);
    }
  }

  function addReasoning({ content, encryptedValue }: ReasoningMessage): void {
    const providerOptions = unwrapValues(rules.provider, encryptedValue);
    if (content === "" && providerOptions === undefined) return;
    answering().parts.push({
      type: "reasoning",
      text: content,
      ...(providerOptions === undefined ? {} : { providerOptions }),
    });
  }

  function addResult({ toolCallId, content, error, metadata }: ToolMessage): void {
    const unanswered = calls.get(toolCallId)?.filter(({ call }) => call.output === undefined) ?? [];
    // Of an id that came twice the later answer of the model is meant, and in it the first call.
    const waiting = unanswered.find(({ answer }) => answer === unanswered.at(-1)?.answer);
    if (waiting === undefined) return rules.skipped("a tool result that answers no call");
    waiting.answer.answered = true;
    waiting.call.output = toToolOutput(content, error, rules);
    const editedArgs = editedIn(metadata);
    if (editedArgs !== undefined) waiting.call.input = editedArgs;
  }

  for (const message of messages) {
    switch (message.role) {
      case "system":
      case "developer":
        if (message.content !== "") system.push(message.content);
        break;
      case "user": {
        const content = toUserContent(message.content, rules);
        if (content.length > 0) places.push({ role: "user", content });
        break;
      }
      case "assistant":
        addAssistant(message);
        break;
      case "reasoning":
        addReasoning(message);
        break;
      case "tool":
        addResult(message);
        break;
    }
  }
  return { system, messages: places.flatMap((place) => (isAnswer(place) ? tell(place) : [place])) };
}

const isAnswer = (place: Answer | ModelMessage): place is Answer => "parts" in place;
const isCall = (part: AssistantPart | Call): part is Call => "name" in part;

/** An answer and, right behind it, what all its calls came to: no provider takes it otherwise. */
function tell({ parts }: Answer): ModelMessage[] {
  if (parts.length === 0) return [];
  const content = parts.map(
    (part): AssistantPart =>
      isCall(part)
        ? {
            type: "tool-call",
            toolCallId: part.id,
            toolName: part.name,
            input: part.input,
            ...(part.providerOptions === undefined ? {} : { providerOptions: part.providerOptions }),
          }
        : part,
  );
  const results = parts.filter(isCall).map(
    ({ id, name, output = UNANSWERED }): ToolResultPart => ({
      type: "tool-result",
      toolCallId: id,
      toolName: name,
      output,
    }),
  );
  const answer: ModelMessage = { role: "assistant", content };
  return results.length === 0 ? [answer] : [answer, { role: "tool", content: results }];
}

/** Arguments that are no JSON object are none to a provider: it would refuse the history that shows them. */
function readArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/** What the call ran with, where its human changed that. */
function editedIn(metadata: Record<string, unknown> | undefined): unknown {
  const ours = metadata !== undefined && Object.hasOwn(metadata, "holdline") ? metadata.holdline : undefined;
  if (typeof ours !== "object" || ours === null || !Object.hasOwn(ours, "editedArgs")) return undefined;
  const { editedArgs } = ours as { editedArgs: unknown };
  return typeof editedArgs === "object" && editedArgs !== null ? editedArgs : undefined;
}
