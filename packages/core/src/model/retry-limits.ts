/** The most retries of a cell by each budget. The scheduler counts the attempts of a cell in 16 bits. */
export const MAX_RETRIES = 10_000;
/** The most levels of `retry.escalate`, of which the scheduler counts 127. */
export const MAX_ESCALATIONS = 100;
