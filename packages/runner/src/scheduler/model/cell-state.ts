/**
 * The states of a cell. Users see these words (pipeline.md); `checking` and `backingOff` are shown as `ready`.
 *
 *   waiting → [awaitingApproval] → [checking] → ready → submitting → pending → running → [publishing] → succeeded
 *                                               ↑ backingOff ↓
 *
 * A plain step has one cell; a step's own state is derived from its cells'.
 */
export const CELL_STATES = [
  /** A dependency is not over, or the step's decision is open. */
  'waiting',
  /** May start; in the ready queue, or held by a limit. */
  'ready',
  /** A cache look-up is under way. */
  'checking',
  /** Create is under way or in doubt. */
  'submitting',
  /** The service has it; not running yet. */
  'pending',
  'running',
  /** Ended well; outputs are being published. */
  'publishing',
  /** Waits for a time: back-off of a retry, or a postponed submission. In no queue but the timer's. */
  'backingOff',
  /** Waits for a person. */
  'awaitingApproval',
  'succeeded',
  /** Its own fault. */
  'failed',
  /** Infrastructure. */
  'errored',
  'timedOut',
  'canceled',
  'skipped',
  'cached',
] as const;

export type CellState = (typeof CELL_STATES)[number];

/** The states that a cell never leaves. */
export const TERMINAL_CELL_STATES: ReadonlySet<CellState> = new Set<CellState>([
  'succeeded',
  'failed',
  'errored',
  'timedOut',
  'canceled',
  'skipped',
  'cached',
]);
