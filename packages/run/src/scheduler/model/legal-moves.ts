import type { CellState } from './cell-state.ts';
import { CELL_STATES } from './cell-state.ts';
import { CODE } from './state-code.ts';

/** What moves a cell: the types of events, and the scheduler's own reasons. */
export const CAUSES = [
  /** Every dependency is resolved and the step has been decided. */
  'released',
  /** A dependency did not satisfy the condition, or `when` is false. */
  'skipped',
  'evaluationFailed',
  'approved',
  'cacheHit',
  'cacheMissed',
  /** Picked from the ready queue. */
  'picked',
  'submitted',
  'postponed',
  'running',
  'serviceReady',
  'ended',
  'published',
  /** A timer has fired. */
  'due',
  /** The run stops, or the cell is no longer needed. */
  'stopped',
] as const;

/** One of `CAUSES`. */
export type Cause = (typeof CAUSES)[number];

/** After a failure: a retry, or the end. */
const FAILURES = ['ready', 'backingOff', 'failed', 'errored', 'timedOut'] as const;
const ENDS = ['publishing', 'succeeded', 'canceled', ...FAILURES] as const;
/** A cell that is stopped between two attempts keeps the failure of the first. */
const NEVER_STARTED = ['skipped', 'canceled'] as const;
const NOT_AGAIN = [...NEVER_STARTED, 'failed', 'errored', 'timedOut'] as const;

/**
 * Every legal move: from a state, by a cause, to one of these states. Staying in the same state means a late report
 * that changes nothing. All other moves are illegal; terminal states have no moves at all.
 */
export const MOVES: Readonly<Partial<Record<CellState, Readonly<Partial<Record<Cause, readonly CellState[]>>>>>> = {
  waiting: {
    released: ['ready', 'checking', 'awaitingApproval', 'succeeded'],
    skipped: ['skipped'],
    evaluationFailed: ['failed'],
    stopped: NEVER_STARTED,
  },
  awaitingApproval: {
    approved: ['ready', 'checking', 'succeeded', 'failed'],
    due: ['timedOut'],
    stopped: NEVER_STARTED,
  },
  checking: { cacheHit: ['cached'], cacheMissed: ['ready'], stopped: NEVER_STARTED },
  ready: { picked: ['submitting'], due: ['timedOut'], stopped: NOT_AGAIN },
  submitting: {
    submitted: ['pending'],
    postponed: ['backingOff', 'succeeded', 'canceled', 'timedOut'],
    running: ['running'],
    serviceReady: ['running'],
    ended: ENDS,
  },
  pending: { submitted: ['pending'], running: ['running'], serviceReady: ['running'], ended: ENDS },
  running: { submitted: ['running'], running: ['running'], serviceReady: ['running'], ended: ENDS },
  publishing: {
    submitted: ['publishing'],
    running: ['publishing'],
    serviceReady: ['publishing'],
    ended: FAILURES,
    published: ['succeeded'],
  },
  backingOff: { due: ['ready', 'timedOut'], stopped: NOT_AGAIN },
};

/** `MOVES` as bits: the states that may follow, at `state * CAUSES.length + cause`. */
const ALLOWED = new Uint16Array(CELL_STATES.length * CAUSES.length);
for (const [state, row] of Object.entries(MOVES)) {
  for (const [cause, targets] of Object.entries(row)) {
    const at = CODE[state as CellState] * CAUSES.length + CAUSES.indexOf(cause as Cause);
    for (const target of targets) ALLOWED[at]! |= 1 << CODE[target];
  }
}

/** Each cause as an index into `CAUSES`. */
export const CAUSE = Object.fromEntries(CAUSES.map((cause, i) => [cause, i])) as Readonly<Record<Cause, number>>;

/** Whether `MOVES` permits this move. States and the cause are given as indexes. */
export function isLegal(from: number, cause: number, to: number): boolean {
  return ((ALLOWED[from * CAUSES.length + cause]! >> to) & 1) === 1;
}

/** Whether the cause can move a cell out of this state, or be a late report in it. */
export function isPossible(from: number, cause: number): boolean {
  return ALLOWED[from * CAUSES.length + cause] !== 0;
}
