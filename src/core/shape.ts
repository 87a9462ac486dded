/**
 * How values of the protocol are made up, as data: the words in which the tables of inputs
 * (`input-shape.ts`) and events (`event-shape.ts`) are written, and by which `read-shape.ts` reads.
 */

/** How one value is read. */
export type Shape =
  | { readonly kind: "text" }
  /** One of a fixed set of words; another one is malformed, not unknown. */
  | { readonly kind: "word"; readonly words: readonly string[] }
  | { readonly kind: "flag" }
  /** A whole number that JSON readers agree on; what a clock gives is rounded to one. */
  | { readonly kind: "whole" }
  /** A JSON pointer, the empty one included. */
  | { readonly kind: "pointer" }
  /** An object that is the application's: taken over as it is, never looked into. */
  | { readonly kind: "open" }
  /** Any JSON value, taken over as it is. `onNull`: what a null stands for where the rule for optional members does not hold. */
  | { readonly kind: "json"; readonly onNull: "state" | "kept" | undefined }
  | ListShape
  | { readonly kind: "textOrList"; readonly list: ListShape }
  | ClosedShape
  | UnionShape;

export interface ListShape {
  readonly kind: "list";
  readonly of: Shape;
}

/** An object whose members are all known; any other is stripped. */
export interface ClosedShape {
  readonly kind: "closed";
  readonly members: ReadonlyMap<string, Member>;
  /** The bits of all required members. */
  readonly required: number;
  /** Members beyond those known stay where they are (RFC 6902: an operation's further members are ignored). */
  readonly extensible: boolean;
}

/** A closed object that says in one member which one it is. A value no member knows makes the whole list element unknown. */
export interface UnionShape {
  readonly kind: "union";
  readonly tag: string;
  /** What one is called in a warning. */
  readonly noun: string;
  readonly options: ReadonlyMap<string, ClosedShape>;
  /** What a tag nobody knows makes of the value. `binary`: dropped, but for the part of that name which there was before 1.0. */
  readonly unknown: "dropped" | "binary" | "malformed";
}

export interface Member {
  readonly shape: Shape;
  /** The member's own bit where it is required, 0 where it is optional. */
  readonly bit: number;
}

/** A member of a table before it has its bit. */
export interface Declared<Required extends boolean> {
  readonly shape: Shape;
  readonly required: Required;
}

/** A table holds to a type of the protocol: each member is there, and required where it is there. */
export type Declaration<T> = {
  readonly [K in keyof T]-?: Declared<Partial<Pick<T, K>> extends Pick<T, K> ? false : true>;
};

export const required = (shape: Shape): Declared<true> => ({ shape, required: true });
export const optional = (shape: Shape): Declared<false> => ({ shape, required: false });
export const list = (of: Shape): ListShape => ({ kind: "list", of });
export const word = (...words: string[]): Shape => ({ kind: "word", words });

export function closed<T>(declaration: Declaration<T>, extensible = false): ClosedShape {
  const members = new Map<string, Member>();
  let bits = 0;
  for (const [name, declared] of Object.entries<Declared<boolean>>(declaration)) {
    const bit = declared.required ? 1 << members.size : 0;
    members.set(name, { shape: declared.shape, bit });
    bits |= bit;
  }
  return { kind: "closed", members, required: bits, extensible };
}

export function union(
  tag: string,
  noun: string,
  options: Readonly<Record<string, ClosedShape>>,
  unknown: UnionShape["unknown"] = "dropped",
): UnionShape {
  return { kind: "union", tag, noun, options: new Map(Object.entries(options)), unknown };
}

export const text: Shape = { kind: "text" };
export const open: Shape = { kind: "open" };
export const json: Shape = { kind: "json", onNull: undefined };
