/** What was tried for a goal, shown beside it while it is missed. */
export const tried = {};
