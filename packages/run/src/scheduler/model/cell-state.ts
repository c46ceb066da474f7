/**
 * The states of a cell. Users see these words (pipeline.md); `checking` and `backingOff` are shown as `ready`.
 *
 *   waiting → [awaitingApproval] → [checking] → ready → submitting → pending → running → [publishing] → succeeded
 *                                               ↑ backingOff ↓
 *
 * A plain step has one cell; a step's own state is derived from its cells'.
 */
export const CELL_STATES = [
  /** A dependency has not ended, or the step has not been decided. */
  'waiting',
  /** May start; in the ready queue, or held by a limit. */
  'ready',
  /** A cache lookup is in progress. */
  'checking',
  /** The create request is in flight or its result is unknown. */
  'submitting',
  /** The service has accepted it; it is not running yet. */
  'pending',
  'running',
  /** Succeeded; its outputs are being published. */
  'publishing',
  /** Waits for a time: the backoff of a retry, or a postponed submission. In no queue except the timers. */
  'backingOff',
  /** Waits for a person. */
  'awaitingApproval',
  'succeeded',
  /** A failure of the step itself. */
  'failed',
  /** An infrastructure failure. */
  'errored',
  'timedOut',
  'canceled',
  'skipped',
  'cached',
] as const;

/** One of `CELL_STATES`. */
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

/** The states of cells that have failed in the end. */
export const FAILED_STATES: ReadonlySet<CellState> = new Set(['failed', 'errored', 'timedOut']);
