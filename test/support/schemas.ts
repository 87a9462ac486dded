/** A Standard Schema made by hand, for what no validator library does on command: wait, throw, count. */
import type { StandardSchemaV1 } from "../../src/index.ts";

export function schemaOf<T>(
  validate: (value: unknown) => StandardSchemaV1.Result<T> | Promise<StandardSchemaV1.Result<T>>,
  jsonSchema: Record<string, unknown> = { type: "string" },
): StandardSchemaV1<T, T> {
  return { "~standard": { version: 1, vendor: "by hand", validate, jsonSchema: { input: () => jsonSchema } } };
}
