import { useId, useRef, useState } from "preact/hooks";
import { approvalDecisions, type Decision, editedDecision, type Schema } from "../questions.ts";
import type { ToolItem } from "../transcript.ts";
import type { FieldProps } from "./questions-form.tsx";
import { type ReadValue, ValueEditor } from "./schema-field.tsx";

type Choice = keyof typeof approvalDecisions | "edit";
const CHOICES: readonly { choice: Choice; label: string }[] = [
  { choice: "approve", label: "Approve" },
  { choice: "deny", label: "Deny" },
  { choice: "always", label: "Always approve" },
  { choice: "edit", label: "Edit the arguments" },
];

interface ApprovalFieldProps extends FieldProps {
  /** What edited arguments must be. Absent: they may not be edited. */
  argsSchema: Schema | undefined;
  /** Whether it may be given for later calls too. */
  allowsAlways: boolean;
  tool: ToolItem | undefined;
}

/** Consent to a tool call. Alone it is one press; beside other questions it is a choice that is sent with them. */
export function ApprovalField(props: ApprovalFieldProps) {
  const { isOnly, isDisabled, register, onDecide, argsSchema, allowsAlways, tool } = props;
  const name = useId();
  const [choice, setChoice] = useState<Choice>();
  const [isMissing, setMissing] = useState(false);
  const readArgs = useRef<ReadValue>(() => undefined);
  const isOffered: Partial<Record<Choice, boolean>> = { edit: argsSchema !== undefined, always: allowsAlways };
  const offered = CHOICES.filter((each) => isOffered[each.choice] ?? true);
  const decisionFor = (chosen: Choice): Decision | undefined => {
    if (chosen !== "edit") return approvalDecisions[chosen];
    const args = readArgs.current();
    return args === undefined ? undefined : editedDecision(args.value);
  };
  register(() => {
    setMissing(choice === undefined);
    return choice === undefined ? undefined : decisionFor(choice);
  });
  const press = (chosen: Choice) => {
    if (chosen === "edit") return setChoice(choice === "edit" ? undefined : "edit");
    onDecide(approvalDecisions[chosen]);
  };
  return (
    <div class="field">
      {isOnly ? (
        <div class="choices">
          {offered.map((each) => (
            <button
              key={each.choice}
              type="button"
              class={each.choice === "approve" ? "main" : each.choice === "deny" ? "deny" : undefined}
              aria-expanded={each.choice === "edit" ? choice === "edit" : undefined}
              disabled={isDisabled}
              onClick={() => press(each.choice)}
            >
              {each.label}
            </button>
          ))}
        </div>
      ) : (
        <div class="choices" role="radiogroup" aria-label="Decision" aria-invalid={isMissing}>
          {offered.map((each) => (
            <label key={each.choice} class="choice">
              <input
                type="radio"
                name={name}
                checked={choice === each.choice}
                disabled={isDisabled}
                onChange={() => setChoice(each.choice)}
              />
              {each.label}
            </label>
          ))}
        </div>
      )}
      {isMissing && choice === undefined && <p class="field-error">Choose one of these.</p>}
      {choice === "edit" && argsSchema !== undefined && (
        <div class="edit-args">
          <ValueEditor
            schema={argsSchema}
            initial={parseArgs(tool)}
            isDisabled={isDisabled}
            register={(read) => {
              readArgs.current = read;
            }}
          />
          {isOnly && (
            <button
              type="button"
              class="main"
              onClick={() => {
                const decision = decisionFor("edit");
                if (decision !== undefined) onDecide(decision);
              }}
            >
              Approve with these arguments
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function parseArgs(tool: ToolItem | undefined): unknown {
  try {
    return JSON.parse(tool?.args ?? "{}");
  } catch {
    return {};
  }
}
