/**
 * The second half of parsing: a JSON value → the run's input, read along the table of `input-shape.ts`. It
 * knows nothing of HTTP, nor whether the version or the answers can be served: that is admission's.
 */
import type { RunAgentInput } from "@ag-ui/core";
import { RequestError, RequestErrorCode } from "./errors.ts";
import { inputShape } from "./input-shape.ts";
import { formatPath, readShape } from "./read-shape.ts";
import { assumeState } from "./state.ts";

/** Something in an input that was accepted, but not as it was sent. */
export interface InputWarning {
  /** Where, as member names and indexes of what was sent; a name of a member may be shortened. */
  readonly path: ReadonlyArray<string | number>;
  /** What was found and what became of it. */
  readonly message: string;
  /** `INPUT_STRIPPED`: the protocol does not describe it, so it is gone. `INPUT_LEGACY`: read as clients before 1.0 meant it. */
  readonly code: "INPUT_STRIPPED" | "INPUT_LEGACY";
}

/**
 * Reads a parsed JSON body as a RunAgentInput. The result is a new object with known members only;
 * `state`, `forwardedProps`, `metadata`, tool parameters, payloads and activity content are the very
 * values given. `tools` and `context` are `[]` and `state` is `{}` where absent. An input that declares no
 * protocol version is read as clients before 1.0 meant it.
 *
 * @throws `RequestError` with `INVALID_INPUT` and the first five issues.
 */
export function readInput(value: unknown): { input: RunAgentInput; warnings: InputWarning[] } {
  const { value: read, issues, findings } = readShape(inputShape, value, declaresNoVersion(value));
  const [first] = issues;
  if (first !== undefined) {
    throw new RequestError(RequestErrorCode.INVALID_INPUT, `${formatPath(first.path)}: ${first.message}`, {
      issues: [...issues],
    });
  }
  const input = read as RunAgentInput;
  input.tools ??= [];
  input.context ??= [];
  if (input.state === undefined) input.state = assumeState();
  return {
    input,
    warnings: findings.map(({ kind, ...found }) => ({
      ...found,
      code: kind === "stripped" ? "INPUT_STRIPPED" : "INPUT_LEGACY",
    })),
  };
}

const declaresNoVersion = (value: unknown): boolean =>
  typeof value !== "object" ||
  value === null ||
  !Object.hasOwn(value, "protocolVersion") ||
  (value as { protocolVersion?: unknown }).protocolVersion === undefined;
