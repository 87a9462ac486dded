/**
 * Whether one event is exactly what the protocol describes. The protocol's validators accept
 * members they do not know; a client strips them with a warning, so here they are an error. What
 * is known is read off the validators themselves: a copied list would agree with them for a day.
 */
import { EventSchema } from "@ag-ui/core/schemas";
import type { WireEvent } from "./frames.ts";

/** What is wrong with the event, `undefined` when nothing is. */
export function problemOfShape(event: WireEvent): string | undefined {
  const schema = schemaByType.get(event.type);
  if (schema === undefined) return `the protocol has no event ${JSON.stringify(event.type)}`;
  const hole = pathOfHole(event, "");
  if (hole !== undefined) return `${hole} is not JSON`;
  const parsed = EventSchema.safeParse(event);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return `${["", ...(issue?.path ?? [])].map(String).join("/") || "the event"}: ${issue?.message ?? "invalid"}`;
  }
  const unknown = pathOfUnknown(event, schema, "");
  if (unknown !== undefined) return `the protocol does not describe ${unknown}`;
  // The validators take a null state for an absent one; the protocol's own schema forbids it.
  if (event.input?.state === null) return "/input/state is null";
  return undefined;
}

/** The part of a zod schema that is looked at. By `def.type` rather than by class: another copy of zod may have made it. */
interface Schema {
  readonly def: {
    readonly type: string;
    readonly shape?: Readonly<Record<string, Schema>>;
    readonly element?: Schema;
    readonly innerType?: Schema;
    readonly in?: Schema;
    readonly options?: readonly Schema[];
    readonly discriminator?: string;
    readonly values?: readonly unknown[];
  };
  meta?(): { readonly specOpen?: boolean } | undefined;
}

const schemaByType = new Map<unknown, Schema>(
  (EventSchema.options as unknown as Schema[]).map((option) => [literalOf(option, "type"), option]),
);

function literalOf(schema: Schema, member: string): unknown {
  return schema.def.shape?.[member]?.def.values?.[0];
}

/** Where a member stands that no schema describes. What a schema leaves open (metadata, state, a patch's operations) is not looked into. */
function pathOfUnknown(value: unknown, schema: Schema, path: string): string | undefined {
  const { def } = schema;
  if (def.type === "object") return pathOfUnknownMember(value, schema, path);
  if (def.type === "array") return pathOfUnknownElement(value, def.element, path);
  if (def.type === "union") {
    const option = def.options?.find((candidate) => describes(candidate, value, def.discriminator));
    return option && pathOfUnknown(value, option, path);
  }
  // A pipe is read at its input side, which is the wire's.
  const inner = def.innerType ?? def.in;
  return inner && pathOfUnknown(value, inner, path);
}

function pathOfUnknownMember(value: unknown, schema: Schema, path: string): string | undefined {
  if (!isObject(value)) return undefined;
  const shape = schema.def.shape ?? {};
  const open = schema.meta?.()?.specOpen === true;
  for (const [member, child] of Object.entries(value)) {
    // Own members only: `toString` is not described because every object has one.
    const described = Object.hasOwn(shape, member) ? shape[member] : undefined;
    if (described === undefined && !open) return `${path}/${member}`;
    const found = described && pathOfUnknown(child, described, `${path}/${member}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function pathOfUnknownElement(value: unknown, element: Schema | undefined, path: string): string | undefined {
  if (!Array.isArray(value) || element === undefined) return undefined;
  for (const [index, child] of value.entries()) {
    const found = pathOfUnknown(child, element, `${path}/${index}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describes(schema: Schema, value: unknown, discriminator: string | undefined): boolean {
  if (discriminator !== undefined) return isObject(value) && literalOf(schema, discriminator) === value[discriminator];
  return schema.def.type === "array" ? Array.isArray(value) : schema.def.type === "object" && isObject(value);
}

/** Where a value stands that JSON cannot carry. Parsed frames have none; events that a test made itself may. */
function pathOfHole(value: unknown, path: string): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : path;
  if (typeof value !== "object") return path;
  for (const [member, child] of Object.entries(value)) {
    const found = pathOfHole(child, `${path}/${member}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
