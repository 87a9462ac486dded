/** A2UI surfaces for tests: as an agent writes them into its text, and as a client is sent them. */
import type { WireEvent } from "../../src/testing/index.ts";

const BASIC_CATALOG = "https://a2ui.org/specification/v0_9/basic_catalog.json";

type Operation = Record<string, unknown>;

export const create = (surfaceId: string): Operation => ({
  version: "v0.9",
  createSurface: { surfaceId, catalogId: BASIC_CATALOG },
});

export const label = (surfaceId: string, text: string): Operation => ({
  version: "v0.9",
  updateComponents: { surfaceId, components: [{ id: "root", component: "Text", text }] },
});

/** What an agent writes. */
export const block = (...operations: Operation[]): string => `<a2ui-json>${JSON.stringify(operations)}</a2ui-json>`;

const isSurface = ({ type, activityType }: WireEvent): boolean =>
  type === "ACTIVITY_SNAPSHOT" && activityType === "a2ui-surface";

/** The surfaces of a run, as often as they were sent. */
export const surfacesOf = ({ events }: { readonly events: readonly WireEvent[] }): WireEvent[] =>
  events.filter(isSurface);

/** The operations of each. */
export const operationsOf = (run: { readonly events: readonly WireEvent[] }): Operation[][] =>
  surfacesOf(run).map(({ content }) => content.a2ui_operations);

/** What is left without them. */
export const besideSurfaces = ({ events }: { readonly events: readonly WireEvent[] }): WireEvent[] =>
  events.filter((event) => !isSurface(event));
