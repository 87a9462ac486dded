/** Carries the name that a console keeps for its browser. The page sends it, `browserOf` reads it. */
export const BROWSER_HEADER = "x-holdline-browser";
