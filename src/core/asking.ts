/**
 * From what an agent asks to a question of its turn: the options read, the schema read, and the
 * `humanInput` hook asked in the client's place where there is one.
 */
import type {
  AgentContext,
  AnswerSchemas,
  Approval,
  ApprovalCall,
  ApproveOptions,
  ArgsSchema,
  AskOptions,
  AskRequest,
} from "./agent.ts";
import { type AnswerType, answerType, type JsonValue } from "./answer-schema.ts";
import { approvalMessage, approvalOf, approvalSettings, approvalType, type Consent } from "./approval.ts";
import { LAST_INSTANT } from "./clock.ts";
import { mustBeKnown } from "./known.ts";
import type { HumanInputRequest } from "./options.ts";
import type { Turn } from "./turn.ts";

/** Who asks: the context, the subagent and the tool call it belongs to. */
export interface Asker {
  readonly context: AgentContext;
  readonly owner: string | undefined;
  readonly toolCallId: string | undefined;
}

const QUESTION = ["message", "reason", "toolCallId", "timeoutMs", "metadata", "schema", "jsonSchema"];
const APPROVAL = [
  ...["message", "deniedMessage", "timeoutMs", "allowAlways", "allowEdits", "metadata"],
  ...["toolCallId", "toolName", "args", "argsSchema"],
];

/** How many asks of one turn are refused at once. */
const MOST_REFUSED = 100;
/** How long a further one waits for its refusal, in milliseconds. */
const REFUSAL_MS = 1_000;

/** Asks; an agent that catches every refusal and asks on, for ever, has to wait for it: otherwise nothing else would ever run. */
export function asking<T>(turn: Turn, ask: () => Promise<T>): Promise<T> {
  const refusal = turn.holding.refusal;
  if (refusal === undefined || ++turn.holding.refusals <= MOST_REFUSED) return ask();
  const { clock } = turn.host.settings;
  return new Promise((_resolve, reject) => void clock.setTimeout(() => reject(refusal), REFUSAL_MS));
}

/** Asks for input. Throws where the question cannot be asked; the caller turns that into a rejection. */
export function askInput(turn: Turn, asker: Asker, request: AskRequest & AnswerSchemas): Promise<unknown> {
  mustBeKnown("A question", request, QUESTION);
  const { message, reason } = request;
  const toolCallId = request.toolCallId ?? asker.toolCallId;
  mustBeStrings({ message, reason, toolCallId: toolCallId ?? "" });
  const type = answerType(request);
  return put(turn, asker, { ...readOptions(turn, request), reason, message, toolCallId }, type, (responseSchema) => ({
    kind: "input",
    message,
    responseSchema,
  }));
}

/** Asks for consent to a call; a tool whose calls were approved with "always" is not asked about again. */
export async function askApproval<A>(
  turn: Turn,
  asker: Asker,
  call: ApprovalCall<A> & ApproveOptions,
): Promise<Approval<A>> {
  mustBeKnown("An approval", call, APPROVAL);
  const { toolCallId, toolName, args } = call;
  mustBeStrings({ toolCallId, toolName });
  const { allowAlways, allowEdits } = approvalSettings(call, turn.host.settings);
  const refusal = turn.holding.refusal;
  if (refusal !== undefined) throw refusal;
  if (allowAlways && turn.alwaysApproved.has(toolName)) return { approved: true, args };
  // Before the caller's own code may change them, while it words the question or while the human reads.
  const shown = inWords(args);
  const message = approvalMessage({ toolCallId, toolName, args }, call.message);
  mustBeStrings({ message });
  const type = approvalType({ allowAlways, edits: allowEdits ? (call.argsSchema as ArgsSchema<never>) : false });
  const question = { ...readOptions(turn, call), reason: turn.host.settings.reasons.approval, message, toolCallId };
  const consent = (await put(turn, asker, question, type, () => ({
    kind: "approval",
    message,
    toolCallId,
    toolName,
    args,
  }))) as Consent;
  // What an agent shares between its calls it may have changed while the human read.
  if (consent.approved && !("edited" in consent) && inWords(args) !== shown)
    throw new Error(`The arguments of ${toolName} are not those that were approved: they were changed meanwhile.`);
  if (consent.always && allowAlways) turn.alwaysApproved.add(toolName);
  return approvalOf(consent, args);
}

/** Arguments as a human is shown them, `undefined` where JSON has no words for them. */
function inWords(args: unknown): string | undefined {
  try {
    return JSON.stringify(args);
  } catch {
    return undefined;
  }
}

/** What an interrupt says in words. Checked when it is asked: a client cannot read an interrupt without them. @throws TypeError */
function mustBeStrings(members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    if (typeof value !== "string") throw new TypeError(`A question's \`${name}\` must be a string.`);
  }
}

/** Reads what every question takes. @throws RangeError, TypeError */
function readOptions(
  turn: Turn,
  { timeoutMs, metadata }: AskOptions,
): { timeoutMs: number | undefined; metadata: Record<string, JsonValue> | undefined } {
  if (timeoutMs !== undefined) {
    if (!(Number.isFinite(timeoutMs) && timeoutMs > 0))
      throw new RangeError("timeoutMs must be a finite number of milliseconds above 0.");
    if (turn.host.settings.clock.now() + timeoutMs > LAST_INSTANT)
      throw new RangeError("timeoutMs reaches past the last date there is.");
  }
  if (metadata === undefined) return { timeoutMs, metadata };
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    throw new TypeError("metadata must be an object.");
  if (Object.hasOwn(metadata, "holdline")) throw new TypeError("The metadata key `holdline` is the library's own.");
  return { timeoutMs, metadata: JSON.parse(JSON.stringify(metadata)) };
}

type Put = Omit<Parameters<Turn["holding"]["ask"]>[0], "owner">;

function put(
  turn: Turn,
  asker: Asker,
  question: Put,
  type: AnswerType | Promise<AnswerType>,
  forHook: (responseSchema: AnswerType["responseSchema"]) => HumanInputRequest,
): Promise<unknown> {
  const { humanInput } = turn.host.settings;
  const hook =
    humanInput === undefined
      ? undefined
      : (read: AnswerType) => humanInput(forHook(read.responseSchema), asker.context);
  return turn.holding.ask({ ...question, owner: asker.owner }, type, hook);
}
