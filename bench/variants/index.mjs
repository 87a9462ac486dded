import { limits } from "./limits.mjs";
import { ours } from "./ours.mjs";
import { peers } from "./peers.mjs";

/** Every server there is, by name. Each resolves to the port it listens on. */
export const variants = { ...limits, ...peers, ...ours };
