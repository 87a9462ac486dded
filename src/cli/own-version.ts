import { createRequire } from "node:module";

const { version } = createRequire(import.meta.url)("holdline/package.json") as { version: string };

/** The version of this package. */
export const OWN_VERSION: string = version;
