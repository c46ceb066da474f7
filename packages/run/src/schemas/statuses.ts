/**
 * The statuses of runs. `running`: a process executes it. `waiting`: a process will, as soon as its concurrency group has a
 * place. `suspended`: no process does, and it can be resumed.
 */
export const RUN_PHASES = ['waiting', 'running', 'suspended', 'succeeded', 'failed', 'canceled'] as const;

/** One of `RUN_PHASES`. */
export type RunPhase = (typeof RUN_PHASES)[number];

/** The statuses of steps and cells in reports, events and JSON, from the first to the last that a cell can have. */
export const CELL_STATUSES = [
  'waiting',
  'ready',
  'awaitingApproval',
  'submitting',
  'pending',
  'running',
  'publishing',
  'succeeded',
  'failed',
  'skipped',
  'canceled',
] as const;

/** One of `CELL_STATUSES`. */
export type CellStatus = (typeof CELL_STATUSES)[number];
