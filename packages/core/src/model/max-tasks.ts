/** The most nodes of a step, and the most tasks on each. */
export const MAX_TASKS = 1000;
