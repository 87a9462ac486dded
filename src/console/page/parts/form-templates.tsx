import type { ArrayFieldItemTemplateProps, FieldErrorProps, IconButtonProps } from "@rjsf/utils";
import { errorId, getTemplate, getUiOptions } from "@rjsf/utils";

/** Buttons in words, where the library has pictures of an icon font. */
const textButton = (label: string) =>
  function TextButton({ id, onClick, disabled, className }: IconButtonProps) {
    return (
      <button type="button" id={id} class={`quiet small ${className ?? ""}`} onClick={onClick} disabled={disabled}>
        {label}
      </button>
    );
  };

function FieldErrors({ errors = [], fieldPathId }: FieldErrorProps) {
  if (errors.length === 0) return null;
  const unique = [...new Set(errors.map(String))];
  return (
    <div id={errorId(fieldPathId)}>
      {unique.map((error) => (
        <p class="field-error" key={error}>
          {error}
        </p>
      ))}
    </div>
  );
}

/** One entry of a list, its buttons below it. */
function ArrayItem({ children, className, buttonsProps, hasToolbar, registry, uiSchema }: ArrayFieldItemTemplateProps) {
  const Buttons = getTemplate("ArrayFieldItemButtonsTemplate", registry, getUiOptions(uiSchema));
  return (
    <div class={className}>
      {children}
      {hasToolbar && (
        <div class="item-buttons">
          <Buttons {...buttonsProps} />
        </div>
      )}
    </div>
  );
}

export const templates = {
  ArrayFieldItemTemplate: ArrayItem,
  FieldErrorTemplate: FieldErrors,
  ButtonTemplates: {
    AddButton: textButton("Add"),
    CopyButton: textButton("Copy"),
    MoveDownButton: textButton("Down"),
    MoveUpButton: textButton("Up"),
    RemoveButton: textButton("Remove"),
    ClearButton: textButton("Clear"),
  },
};
