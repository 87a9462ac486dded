import type { PageConfig } from "../document.ts";

/** What the mount says, out of the document. The endpoint is made absolute: a path is this page's own origin's. */
export function readConfig(): PageConfig {
  const config = JSON.parse(document.getElementById("config")?.textContent ?? "{}") as PageConfig;
  return { ...config, endpoint: new URL(config.endpoint, location.href).href };
}
