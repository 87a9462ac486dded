/**
 * `validate: true`: every event against the protocol's own schemas, which load only when asked for.
 */
import { EventRefusedError } from "./errors.ts";
import type { EventCheck } from "./output.ts";

let check: EventCheck | undefined;

/** Loads them once for all handlers. */
export async function loadSchemas(): Promise<EventCheck> {
  if (check !== undefined) return check;
  const { EventSchema } = await import("@ag-ui/core/schemas");
  check = (event) => {
    const { success, error } = EventSchema.safeParse(event);
    if (success) return;
    const [issue] = error.issues;
    throw new EventRefusedError(
      `${event.type}: ${issue?.path.join(".") || "the event"}: ${issue?.message ?? "does not match the protocol"}.`,
    );
  };
  return check;
}
