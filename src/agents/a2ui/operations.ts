/**
 * What stands in a block as A2UI 0.9 operations, or why it does not. A block counts as a whole: one
 * operation that a renderer could not take leaves all of them out.
 */
type Fields = Record<string, unknown>;

/** One message of A2UI 0.9, as the renderer takes it. */
export type Operation = { readonly version: string } & Fields;

/** Thrown for a block that is not shown. The message never quotes it: it goes to a log. */
export class BlockError extends Error {}

const VERSION = "v0.9";
const KINDS = ["createSurface", "updateComponents", "updateDataModel", "deleteSurface"] as const;
type Kind = (typeof KINDS)[number];

/** Models put what they were told to write as JSON between these. */
const FENCE = "```";

/** The operations of a block, one or a list. @throws BlockError */
export function readOperations(block: string): Operation[] {
  const operations = listed(parsed(block));
  if (operations.length === 0) throw new BlockError("it holds no operation");
  return operations.map(readOperation);
}

function parsed(block: string): unknown {
  let json = block.trim();
  // By no regular expression: a block may be long, and mostly blank.
  if (json.startsWith(FENCE) && json.endsWith(FENCE))
    json = json.slice(FENCE.length, -FENCE.length).replace(/^[a-z]+/, "");
  try {
    return JSON.parse(json.trim());
  } catch {
    throw new BlockError("it is not JSON");
  }
}

function listed(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isFields(value)) throw new BlockError("it is neither an operation nor a list of them");
  return Array.isArray(value.a2ui_operations) ? value.a2ui_operations : [value];
}

function readOperation(operation: unknown): Operation {
  if (!isFields(operation)) throw new BlockError("an operation of it is no object");
  const { version = VERSION } = operation;
  if (version !== VERSION) throw new BlockError(`an operation of it is not of version ${VERSION}`);
  const [kind, ...others] = KINDS.filter((name) => Object.hasOwn(operation, name));
  if (kind === undefined || others.length > 0)
    throw new BlockError(`an operation of it is not one of ${KINDS.join(", ")}`);
  const payload = operation[kind];
  if (!isFields(payload) || !isName(payload.surfaceId)) throw new BlockError(`${kind} without a surfaceId`);
  if (kind === "createSurface" && !isName(payload.catalogId)) throw new BlockError(`${kind} without a catalogId`);
  if (kind === "updateComponents" && !areComponents(payload.components))
    throw new BlockError(`${kind} without components, each with an id`);
  // What else stands beside the operation is no part of it.
  return { version: VERSION, [kind]: payload };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isName = (value: unknown): value is string => typeof value === "string" && value !== "";
const areComponents = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isFields(one) && isName(one.id));

function kindOf(operation: Operation): Kind {
  return KINDS.find((name) => Object.hasOwn(operation, name)) as Kind;
}

/**
 * Operations per surface, so that the whole list can be taken from its beginning by a renderer that has seen
 * nothing, and again by one that has: neither a surface that is there already nor one that is gone may come up in it.
 */
export class Operations {
  readonly #surfaces = new Map<string, Operation[]>();

  add(operation: Operation): void {
    const kind = kindOf(operation);
    const { surfaceId } = operation[kind] as { surfaceId: string };
    const before = this.#surfaces.get(surfaceId);
    // A surface that is created again, or deleted, has nothing of what it was.
    if (before === undefined || kind === "createSurface" || kind === "deleteSurface")
      this.#surfaces.set(surfaceId, [operation]);
    else before.push(operation);
  }

  get list(): Operation[] {
    return [...this.#surfaces.values()].flat();
  }
}
