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
  { status: 'waiting', reused: false, letter: 'w', hasEnded: false },
  { status: 'ready', reused: false, letter: 'q', hasEnded: false },
  { status: 'awaitingApproval', reused: false, letter: 'a', hasEnded: false },
  { status: 'submitting', reused: false, letter: 'b', hasEnded: false },
  { status: 'pending', reused: false, letter: 'p', hasEnded: false },
  { status: 'running', reused: false, letter: 'r', hasEnded: false },
  { status: 'publishing', reused: false, letter: 'u', hasEnded: false },
  { status: 'succeeded', reused: false, letter: 's', hasEnded: true },
  { status: 'succeeded', reused: true, letter: 'e', hasEnded: true },
  { status: 'failed', reused: false, letter: 'f', hasEnded: true },
  { status: 'skipped', reused: false, letter: 'k', hasEnded: true },
  { status: 'canceled', reused: false, letter: 'c', hasEnded: true },
] as const;

/** The status of a step or a cell in reports, events and JSON. */
export type CellStatus = (typeof SHOWN_STATUSES)[number]['status'];

/** The statuses of steps and cells, from the first to the last that a cell can have. */
export const CELL_STATUSES: readonly CellStatus[] = [...new Set(SHOWN_STATUSES.map(({ status }) => status))];

/** The statuses of cells that no longer change. */
export const ENDED_STATUSES: ReadonlySet<CellStatus> = new Set(
  SHOWN_STATUSES.filter(({ hasEnded }) => hasEnded).map(({ status }) => status),
);
