import type { CellState } from './cell-state.ts';
import { CELL_STATES } from './cell-state.ts';
import { CODE } from './state-code.ts';

/** What moves a cell: the types of events, and the scheduler's own reasons. */
export const CAUSES = [
  /** Every dependency is resolved and the step has been decided. */
  'released',
  /** A dependency ended otherwise than asked for, or `when` is false. */
  'skipped',
  'evaluationFailed',
  'approved',
  'cacheHit',
  'cacheMissed',
  /** Taken from the ready queue. */
  'picked',
  'submitted',
  'postponed',
  'running',
  'serviceReady',
  'ended',
  'published',
  /** A time has come. */
  'due',
  /** The run stops, or nobody needs the cell any more. */
  'stopped',
] as const;

export type Cause = (typeof CAUSES)[number];

/** After a failure: again, or the end. */
const FAILURES = ['ready', 'backingOff', 'failed', 'errored', 'timedOut'] as const;
const ENDS = ['publishing', 'succeeded', 'canceled', ...FAILURES] as const;
/** A cell that is stopped between two attempts keeps the failure of the first. */
const NEVER_STARTED = ['skipped', 'canceled'] as const;
const NOT_AGAIN = [...NEVER_STARTED, 'failed', 'errored', 'timedOut'] as const;

/**
 * Every legal move: from a state, by a cause, to one of these states. The same state means a late report that changes
 * nothing. What is not here is illegal; terminal states have no moves at all.
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

/** The causes' numbers. */
export const CAUSE = Object.fromEntries(CAUSES.map((cause, i) => [cause, i])) as Readonly<Record<Cause, number>>;

export function isLegal(from: number, cause: number, to: number): boolean {
  return ((ALLOWED[from * CAUSES.length + cause]! >> to) & 1) === 1;
}

/** Whether the cause can move a cell out of this state, or report late on it. */
export function isPossible(from: number, cause: number): boolean {
  return ALLOWED[from * CAUSES.length + cause] !== 0;
}
