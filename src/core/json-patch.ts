/**
 * RFC 6902 on values that are never changed in place: what a patch does not touch is shared with the value
 * before it. Stricter than the library the protocol's own client applies patches with: whatever applies here
 * applies there, to the same result.
 */
import type { JsonPatchOperation } from "@ag-ui/core";

type Parent = unknown[] | Record<string, unknown>;

/** The value after the operations. Their own values are taken over as they are. @throws Error for the first that does not apply. */
export function patched(value: unknown, operations: readonly JsonPatchOperation[]): unknown {
  let now = value;
  for (const operation of operations) now = applied(now, operation);
  return now;
}

function applied(value: unknown, operation: JsonPatchOperation): unknown {
  const path = steps(operation.path);
  switch (operation.op) {
    case "add":
      return put(value, path, operation.value);
    case "replace":
      find(value, path);
      return put(value, path, operation.value, true);
    case "remove":
      find(value, path);
      return drop(value, path);
    case "copy":
      return put(value, path, find(value, steps(operation.from)));
    case "move": {
      const from = steps(operation.from);
      if (operation.path.startsWith(`${operation.from}/`)) throw new Error("A value cannot become part of itself.");
      // The client looks at the place before it takes the value away, too.
      put(value, path, undefined);
      return put(drop(value, from), path, find(value, from));
    }
    case "test":
      if (!isEqual(find(value, path), operation.value)) throw new Error(`The value at "${operation.path}" is another.`);
      return value;
  }
}

function steps(pointer: string): string[] {
  const tokens = pointer.split("/").slice(1);
  return tokens.map((token) => token.replace(/~1/g, "/").replace(/~0/g, "~"));
}

const missing = (step: string): never => {
  throw new Error(`There is no ${JSON.stringify(step)}.`);
};

/** Arrays have their elements, objects what is their own; what a client takes for an attack is in neither. */
function has(parent: unknown, step: string, beside = 0): parent is Parent {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(step) && Number(step) < parent.length + beside;
  if (typeof parent !== "object" || parent === null || step === "__proto__" || step === "prototype") return false;
  return beside > 0 || Object.hasOwn(parent, step);
}

function find(value: unknown, path: readonly string[]): unknown {
  let now = value;
  for (const step of path) now = has(now, step) ? (now as Record<string, unknown>)[step] : missing(step);
  return now;
}

/** The value with another in the place a path leads to; `change` is given a copy of what holds that place. */
function changed(
  value: unknown,
  path: readonly string[],
  change: (parent: Parent, step: string) => void,
  depth = 0,
): unknown {
  const step = path[depth] as string;
  const last = depth === path.length - 1;
  if (!last && !has(value, step)) return missing(step);
  const parent = copied(value, step);
  if (last) change(parent, step);
  else {
    const record = parent as Record<string, unknown>;
    record[step] = changed(record[step], path, change, depth + 1);
  }
  return parent;
}

const copied = (value: unknown, step: string): Parent => {
  if (Array.isArray(value)) return [...value];
  return typeof value === "object" && value !== null ? { ...value } : missing(step);
};

function put(value: unknown, path: readonly string[], next: unknown, replacing = false): unknown {
  if (path.length === 0) return next;
  return changed(value, path, (parent, step) => {
    const at = Array.isArray(parent) && step === "-" ? String(parent.length) : step;
    if (!has(parent, at, 1)) missing(step);
    if (Array.isArray(parent)) parent.splice(Number(at), replacing ? 1 : 0, next);
    else parent[at] = next;
  });
}

function drop(value: unknown, path: readonly string[]): unknown {
  if (path.length === 0) return null;
  return changed(value, path, (parent, step) => {
    if (Array.isArray(parent)) parent.splice(Number(step), 1);
    else delete parent[step];
  });
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(other, name) &&
      isEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}
