import type { Interrupt } from "@ag-ui/client";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Decision, formOf, timeLeft } from "../questions.ts";
import { wordDuration } from "../timeline.ts";
import type { Item, Notice, ToolItem } from "../transcript.ts";
import { ApprovalField } from "./approval-field.tsx";
import { NoticeView } from "./conversation.tsx";
import { SchemaField } from "./schema-field.tsx";
import { TextField } from "./text-field.tsx";
import { useNow } from "./use-session.ts";

interface QuestionsProps {
  interrupts: readonly Interrupt[];
  items: readonly Item[];
  /** Why the last answer was not taken. */
  refusal: Notice | undefined;
  /** Whether an answer is on its way: the form stays, since it may be refused. */
  isSending: boolean;
  onAnswer: (decisions: ReadonlyMap<string, Decision>) => void;
  onGiveUp: () => void;
}

/** Reads what stands in a field; `undefined` when it is no answer yet, which the field then says. */
export type ReadField = () => Decision | undefined;

/** What every kind of field is given. */
export interface FieldProps {
  /** Whether it is the only question: then a decision may be sent with one press. */
  isOnly: boolean;
  isDisabled: boolean;
  /** Tells the form how to read this field. */
  register: (read: ReadField) => void;
  /** Sends this decision, and all others as they stand. */
  onDecide: (decision: Decision) => void;
}

/** The open questions of a held turn, all in one form: one run answers all of them. */
export function Questions({ interrupts, items, refusal, isSending, onAnswer, onGiveUp }: QuestionsProps) {
  const form = useRef<HTMLFormElement>(null);
  const readers = useRef(new Map<string, ReadField>());
  const title = useId();
  const now = useNow(true);
  const open = interrupts.filter((interrupt) => timeLeft(interrupt, now) !== 0);
  const isOnly = interrupts.length === 1;
  useEffect(() => takeFocus(form.current), []);

  const send = (decided = new Map<string, Decision>()) => {
    const decisions = new Map<string, Decision>();
    for (const { id } of open) {
      const decision = decided.get(id) ?? readers.current.get(id)?.();
      if (decision === undefined) return focusField(form.current, id);
      decisions.set(id, decision);
    }
    onAnswer(decisions);
  };
  const offersSend = !isOnly || formOf(interrupts[0] as Interrupt).kind !== "approval";
  return (
    <form
      class="questions"
      ref={form}
      tabIndex={-1}
      inert={isSending}
      aria-busy={isSending}
      aria-labelledby={title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <h2 id={title}>{isOnly ? "The agent asks you" : `The agent asks you ${interrupts.length} things`}</h2>
      {interrupts.map((interrupt) => (
        <QuestionField
          key={interrupt.id}
          interrupt={interrupt}
          left={timeLeft(interrupt, now)}
          tool={items.find((item): item is ToolItem => item.kind === "tool" && item.id === interrupt.toolCallId)}
          isOnly={isOnly}
          register={(read) => readers.current.set(interrupt.id, read)}
          onDecide={(decision) => send(new Map([[interrupt.id, decision]]))}
        />
      ))}
      {refusal !== undefined && <NoticeView notice={refusal} />}
      <div class="form-end">
        {offersSend && (
          <button type="submit" class="main">
            {isOnly ? "Send answer" : "Send answers"}
          </button>
        )}
        <button type="button" class="quiet" onClick={onGiveUp}>
          Give up
        </button>
        <span class="hint">Giving up cancels the turn.</span>
      </div>
    </form>
  );
}

interface QuestionFieldProps extends Omit<FieldProps, "isDisabled"> {
  interrupt: Interrupt;
  /** Milliseconds until it expires. */
  left: number | undefined;
  tool: ToolItem | undefined;
}

function QuestionField({ interrupt, left, tool, ...given }: QuestionFieldProps) {
  const form = formOf(interrupt);
  const field: FieldProps = { ...given, isDisabled: left === 0 };
  return (
    <fieldset class="question" data-question={interrupt.id} disabled={left === 0}>
      <legend dir="auto">{interrupt.message ?? "The agent asks for an answer."}</legend>
      <p class="about">
        {tool !== undefined && (
          <span>
            asked by <code>{tool.name}</code>
          </span>
        )}
        {left !== undefined && <Countdown left={left} expiresAt={interrupt.expiresAt as string} />}
      </p>
      {form.kind === "text" && <TextField {...field} />}
      {form.kind === "approval" && <ApprovalField {...field} {...form} tool={tool} />}
      {form.kind === "schema" && <SchemaField {...field} schema={form.schema} />}
    </fieldset>
  );
}

function Countdown({ left, expiresAt }: { left: number; expiresAt: string }) {
  // Rounded up: a question that shows 0 s is over.
  const words =
    left === 0 ? "expired" : `expires in ${wordDuration(Math.ceil(left / 1_000) * 1_000).replace(".0", "")}`;
  return (
    <time class={left < 30_000 ? "countdown soon" : "countdown"} dateTime={expiresAt} role="timer">
      {words}
    </time>
  );
}

/** Moves to a question that has just come, unless the human is somewhere else by choice. Never onto a button: a stray Enter must not decide. */
function takeFocus(form: HTMLFormElement | null): void {
  const { activeElement } = document;
  const isElsewhere = activeElement !== null && activeElement !== document.body && activeElement.id !== "compose";
  if (form === null || isElsewhere) return;
  const [first] = form.querySelectorAll<HTMLElement>("fieldset.question");
  (first?.querySelector<HTMLElement>("textarea.answer") ?? form).focus({ preventScroll: true });
}

function focusField(form: HTMLFormElement | null, id: string): void {
  const field = form?.querySelector(`fieldset[data-question="${CSS.escape(id)}"]`);
  field?.querySelector<HTMLElement>("[aria-invalid=true], textarea, input, select, button")?.focus();
}
