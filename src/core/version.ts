/** The protocol's versions: two numbers, of which the first says whether both sides understand each other (AG-UI versioning). */
import { PROTOCOL_VERSION } from "@ag-ui/core";

/** @returns major and minor; `undefined` for what is no version. */
function read(version: string): readonly [number, number] | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(version) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

const [OUR_MAJOR, OUR_MINOR] = read(PROTOCOL_VERSION) as readonly [number, number];

/** How a declared version stands to ours: one that cannot be read, or is newer by its minor number only, can be served. */
export function standing(version: string): "ours" | "servable" | "foreign" {
  const [major = OUR_MAJOR, minor] = read(version) ?? [];
  if (major !== OUR_MAJOR) return "foreign";
  return minor === OUR_MINOR ? "ours" : "servable";
}
