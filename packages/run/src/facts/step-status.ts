import type { StepReason, StepStatus } from '@sluice/core';
import type { CellState } from '../scheduler/model/cell-state.ts';

/** The state of a step in the vocabulary of expressions and of `needs`. */
export function stepStatus(state: CellState): StepStatus {
  return STATUSES.get(state) ?? 'running';
}

/**
 * Why a step has the status `failed`; empty for any other status. `isOutOfMemory` says whether all of its cells that
 * failed by themselves ran out of memory.
 */
export function stepReason(state: CellState, isOutOfMemory: () => boolean): StepReason {
  return state === 'failed' && isOutOfMemory() ? 'oom' : (REASONS.get(state) ?? '');
}

const STATUSES: ReadonlyMap<CellState, StepStatus> = new Map([
  ['succeeded', 'succeeded'],
  ['cached', 'succeeded'],
  ['failed', 'failed'],
  ['errored', 'failed'],
  ['timedOut', 'failed'],
  ['canceled', 'canceled'],
  ['skipped', 'skipped'],
]);

const REASONS: ReadonlyMap<CellState, StepReason> = new Map([
  ['failed', 'failed'],
  ['errored', 'infrastructure'],
  ['timedOut', 'timeout'],
]);
