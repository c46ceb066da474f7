import type { CellState } from './cell-state.ts';

const WORST_FIRST: readonly CellState[] = [
  'failed',
  'errored',
  'timedOut',
  'canceled',
  'skipped',
  'succeeded',
  'cached',
];

/** The end of several cells together: the worst of their ends. Without cells, or with unfinished ones only: skipped. */
export function worstState(has: (state: CellState) => boolean): CellState {
  return WORST_FIRST.find(has) ?? 'skipped';
}
