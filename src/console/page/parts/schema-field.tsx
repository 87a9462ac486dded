import Form from "@rjsf/core";
import type { RJSFSchema } from "@rjsf/utils";
import { Component, type ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { resolvedDecision, type Schema } from "../questions.ts";
import { validatorFor } from "../schema-validator.ts";
import { templates } from "./form-templates.tsx";
import type { FieldProps } from "./questions-form.tsx";

/** Reads an editor; `undefined` when what stands there is not what the schema asks for. */
export type ReadValue = () => { readonly value: unknown } | undefined;

/** A question with a `responseSchema`. */
export function SchemaField({ schema, isDisabled, register }: FieldProps & { schema: Schema }) {
  return (
    <ValueEditor
      schema={schema}
      initial={undefined}
      isDisabled={isDisabled}
      register={(read) =>
        register(() => {
          const got = read();
          return got && resolvedDecision(got.value);
        })
      }
    />
  );
}

interface ValueEditorProps {
  schema: Schema;
  initial: unknown;
  isDisabled: boolean;
  register: (read: ReadValue) => void;
}

/** A form made from the schema, or its JSON for whoever prefers that and for schemas no form can be made of. */
export function ValueEditor(props: ValueEditorProps) {
  const [asJson, setAsJson] = useState(false);
  // Lives here, so that what was typed survives the change from one to the other.
  const [value, setValue] = useState(props.initial);
  const shared = { ...props, value, onValue: setValue };
  return (
    <div class="editor">
      {asJson ? (
        <JsonEditor {...shared} />
      ) : (
        <FallBack to={<JsonEditor {...shared} />}>
          <SchemaForm {...shared} />
        </FallBack>
      )}
      <button type="button" class="link" disabled={props.isDisabled} onClick={() => setAsJson(!asJson)}>
        {asJson ? "Use the form" : "Write JSON instead"}
      </button>
    </div>
  );
}

interface EditorProps extends ValueEditorProps {
  value: unknown;
  onValue: (value: unknown) => void;
}

function SchemaForm({ schema, isDisabled, register, value, onValue }: EditorProps) {
  const id = useId();
  const [validator] = useState(() => validatorFor(schema));
  // A single value has no name of its own to be called by.
  const named = schema.type === "object" || schema.title !== undefined ? schema : { ...schema, title: "Answer" };
  const [isChecked, setChecked] = useState(false);
  register(() => {
    setChecked(true);
    return validator.validateFormData(value).errors.length === 0 ? { value } : undefined;
  });
  return (
    <Form
      tagName="div"
      className="schema-form"
      idPrefix={id}
      schema={named as RJSFSchema}
      validator={validator}
      formData={value}
      templates={templates}
      uiSchema={{ "ui:submitButtonOptions": { norender: true } }}
      disabled={isDisabled}
      noHtml5Validate
      showErrorList={false}
      // Not before the first attempt to send: nobody wants to be told off while typing.
      {...(isChecked ? { liveValidate: true, extraErrors: validator.validateFormData(value).errorSchema } : {})}
      noValidate={!isChecked}
      onChange={({ formData }) => onValue(formData)}
    />
  );
}

function JsonEditor({ schema, isDisabled, register, value, onValue }: EditorProps) {
  const id = useId();
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, undefined, 2)));
  const [problem, setProblem] = useState<string>();
  register(() => {
    try {
      const parsed: unknown = JSON.parse(text);
      setProblem(undefined);
      return { value: parsed };
    } catch {
      setProblem("This is not JSON.");
      return undefined;
    }
  });
  return (
    <div class="field">
      <label for={id}>Answer as JSON</label>
      <textarea
        id={id}
        class="json"
        rows={4}
        spellcheck={false}
        value={text}
        disabled={isDisabled}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-error`}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          try {
            onValue(JSON.parse(currentTarget.value));
          } catch {}
        }}
      />
      {problem !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {problem}
        </p>
      )}
      <details>
        <summary>What is asked for</summary>
        <pre>{JSON.stringify(schema, undefined, 2)}</pre>
      </details>
    </div>
  );
}

/** A schema may be one that no form can be made of: its question must still be answerable. */
class FallBack extends Component<{ to: ComponentChildren; children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError = () => ({ failed: true });

  override render() {
    return this.state.failed ? this.props.to : this.props.children;
  }
}
