/**
 * A model's error as operators may be told it: a provider's repeats the conversation as it was sent, and what could not
 * be read is what the model said.
 */
import { APICallError, JSONParseError, RetryError, TypeValidationError } from "ai";

/** Takes out of an error of the AI SDK, and of what it was caused by, what people and the model have said. */
export function discreet(error: unknown): unknown {
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))
    return new Error(`What the model's provider sent could not be read (${error.name}).`);
  if (RetryError.isInstance(error)) for (const each of error.errors) discreet(each);
  if (APICallError.isInstance(error)) Object.assign(error, { requestBodyValues: undefined });
  if (error instanceof Error && error.cause !== undefined) {
    const cause = discreet(error.cause);
    if (cause !== error.cause) error.cause = cause;
  }
  return error;
}
