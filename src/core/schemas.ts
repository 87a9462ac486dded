/**
 * `validate: true`: every event against the protocol's own schemas, which load only when asked for.
 */
import { EventRefusedError } from "./errors.ts";
import type { EventCheck } from "./output.ts";

export async function loadSchemas(): Promise<EventCheck> {
  const { EventSchema } = await import("@ag-ui/core/schemas");
  return (event) => {
    const { success, error } = EventSchema.safeParse(event);
    if (success) return;
    const [issue] = error.issues;
    throw new EventRefusedError(
      `${event.type}: ${issue?.path.join(".") || "the event"}: ${issue?.message ?? "does not match the protocol"}.`,
    );
  };
}
