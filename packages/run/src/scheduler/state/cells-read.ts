import { matchedCells } from '@sluice/core';
import type { MatchEdge } from './match-table.ts';
import type { RunState } from './run-state.ts';

/** All cells of a step, in the order of their numbers. */
export function allCells({ cellCount }: Pick<RunState, 'cellCount'>, step: number): readonly number[] {
  return Array.from({ length: cellCount[step]! }, (_, cell) => cell);
}

/** The cells of a step that a cell means. */
export function cellsRead({ batches }: Pick<RunState, 'batches'>, edge: MatchEdge, cell: number): readonly number[] {
  const { match, reader, source, bound } = edge;
  return matchedCells(match, cell, { reader: batches[reader], source: batches[source], bound });
}
