import { useId, useState } from "preact/hooks";
import { resolvedDecision } from "../questions.ts";
import type { FieldProps } from "./questions-form.tsx";

/** A question that is answered in the human's own words. */
export function TextField({ isOnly, isDisabled, register, onDecide }: FieldProps) {
  const id = useId();
  const [text, setText] = useState("");
  const [isMissing, setMissing] = useState(false);
  const read = () => {
    setMissing(text === "");
    return text === "" ? undefined : resolvedDecision(text);
  };
  register(read);
  return (
    <div class="field">
      <label class="hidden" for={id}>
        Answer
      </label>
      <textarea
        id={id}
        class="answer"
        rows={1}
        dir="auto"
        value={text}
        disabled={isDisabled}
        aria-invalid={isMissing}
        aria-describedby={isMissing ? `${id}-error` : undefined}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setMissing(false);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          const decision = read();
          if (decision !== undefined && isOnly) onDecide(decision);
        }}
      />
      {isMissing && (
        <p class="field-error" id={`${id}-error`}>
          An answer is missing.
        </p>
      )}
    </div>
  );
}
