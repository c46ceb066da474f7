import { STEP } from './plan-index.ts';
import type { RunState } from './run-state.ts';

/**
 * A gate is what is released together: all cells of a step, or one cell of a step with `each`. It has a phase, the
 * dependencies that it waits for, and the cause of its end.
 */
export function gateOf(run: Pick<RunState, 'gateBase' | 'index'>, step: number, cell: number): number {
  return run.gateBase[step]! + ((run.index.flags[step]! & STEP.each) === 0 ? 0 : cell);
}

/** The number of gates of a step. */
export function gateCount(run: Pick<RunState, 'index' | 'cellCount'>, step: number): number {
  return (run.index.flags[step]! & STEP.each) === 0 ? 1 : run.cellCount[step]!;
}

/** The cells behind the gate of a cell: from the first up to, and without, the last. */
export function cellsBehind(
  run: Pick<RunState, 'index' | 'cellCount'>,
  step: number,
  cell: number,
): { readonly first: number; readonly end: number } {
  if ((run.index.flags[step]! & STEP.each) !== 0) return { first: cell, end: cell + 1 };
  return { first: 0, end: run.cellCount[step]! };
}

/** Whether every cell of a step has ended. */
export function hasEnded(run: Pick<RunState, 'openCells'>, step: number): boolean {
  return run.openCells[step] === 0;
}

/** In commands and events, the cell of a gate is given only for a step with `each`. */
export function gateCell(run: Pick<RunState, 'index'>, step: number, cell: number): { cell?: number } {
  return (run.index.flags[step]! & STEP.each) === 0 ? {} : { cell };
}

/** The number of a step's cells, without those that stood for empty lists. */
export function countedCells({ cellCount, emptied }: Pick<RunState, 'cellCount' | 'emptied'>, step: number): number {
  return cellCount[step]! - emptied[step]!;
}
