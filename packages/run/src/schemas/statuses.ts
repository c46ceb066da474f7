/**
 * The statuses of runs. `running`: a process executes it. `waiting`: a process will, as soon as its concurrency group has a
 * place. `suspended`: no process does, and it can be resumed.
 */
export const RUN_PHASES = ['waiting', 'running', 'suspended', 'succeeded', 'failed', 'canceled'] as const;

/** One of `RUN_PHASES`. */
export type RunPhase = (typeof RUN_PHASES)[number];

/**
 * What is shown of a cell: its status, and whether an earlier result is reused, from the first to the last that a cell can
 * have. The place of a row is its code, one byte for each of the many cells of a run; the letter stands for it in JSON.
 */
export const SHOWN_STATUSES = [
  { status: 'waiting', reused: false, letter: 'w' },
  { status: 'ready', reused: false, letter: 'q' },
  { status: 'awaitingApproval', reused: false, letter: 'a' },
  { status: 'submitting', reused: false, letter: 'b' },
  { status: 'pending', reused: false, letter: 'p' },
  { status: 'running', reused: false, letter: 'r' },
  { status: 'publishing', reused: false, letter: 'u' },
  { status: 'succeeded', reused: false, letter: 's' },
  { status: 'succeeded', reused: true, letter: 'e' },
  { status: 'failed', reused: false, letter: 'f' },
  { status: 'skipped', reused: false, letter: 'k' },
  { status: 'canceled', reused: false, letter: 'c' },
] as const;

/** The status of a step or a cell in reports, events and JSON. */
export type CellStatus = (typeof SHOWN_STATUSES)[number]['status'];

/** The statuses of steps and cells, from the first to the last that a cell can have. */
export const CELL_STATUSES: readonly CellStatus[] = [...new Set(SHOWN_STATUSES.map(({ status }) => status))];
