/**
 * Checks a form by the validator the server uses, in the shape that rjsf asks for. It needs no
 * eval, which the page's policy forbids.
 */
import { Validator } from "@cfworker/json-schema";
import {
  type ErrorSchema,
  ErrorSchemaBuilder,
  type RJSFSchema,
  type RJSFValidationError,
  type ValidatorType,
} from "@rjsf/utils";
import type { Schema } from "./questions.ts";

const OUTER = new Set(["properties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if"]);

interface FormValidator extends Omit<ValidatorType, "validateFormData"> {
  validateFormData(value: unknown): { errors: RJSFValidationError[]; errorSchema: ErrorSchema };
}

/** A validator for the forms of one schema. */
export function validatorFor(schema: Schema): FormValidator {
  const isValid = (part: RJSFSchema, value: unknown, root: RJSFSchema): boolean => {
    try {
      // The parts of a schema may refer to its definitions.
      const { $defs, definitions } = root as Schema;
      return check(
        { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }), ...part },
        value,
      ).valid;
    } catch {
      return false;
    }
  };
  return {
    isValid,
    validateFormData(value) {
      const builder = new ErrorSchemaBuilder();
      const errors: RJSFValidationError[] = [];
      const { errors: found } = check(schema, value);
      // Where something inside failed, the outer keywords only say so again.
      const inner = found.filter(({ keyword }) => !OUTER.has(keyword));
      for (const { keyword, error, instanceLocation } of inner.length > 0 ? inner : found) {
        const path = pathOf(instanceLocation);
        const missing = /required property "(.*)"\.$/.exec(error)?.[1];
        const at = keyword === "required" && missing !== undefined ? [...path, missing] : path;
        const message = keyword === "required" ? "This is required." : error;
        builder.addErrors(message, at);
        errors.push({ name: keyword, message, property: at.join("."), stack: message });
      }
      return { errors, errorSchema: builder.ErrorSchema };
    },
    rawValidation: (part, value) => ({ errors: check(part as Schema, value).errors as never[] }),
  };
}

function check(schema: Schema | RJSFSchema, value: unknown) {
  // It writes marks into the schema it reads.
  return new Validator(structuredClone(schema) as object, "2020-12", false).validate(value);
}

/** `#/a/0/b~1c` as `["a", "0", "b/c"]`. */
function pathOf(location: string): string[] {
  const [, ...parts] = location.split("/");
  return parts.map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}
