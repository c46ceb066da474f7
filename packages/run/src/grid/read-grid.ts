import { SHOWN_STATUSES } from '../schemas/statuses.ts';
import type { GridIndex } from './index-grid.ts';
import { summarizeCounts } from './summarize-counts.ts';

/** The code of a cell: an index into `SHOWN_STATUSES`. */
type CodeOf = (step: number, cell: number) => number;

/** The cells of one step in one row. */
export interface GridEntry {
  /** In the order of the step; at least one. */
  readonly cells: Int32Array;
  /** The code that stands for them. */
  readonly code: number;
  /** Their number by code. */
  readonly counts: Uint32Array;
}

const FAILED = SHOWN_STATUSES.findIndex(({ status }) => status === 'failed');

/** The entries of one row, one for each column; undefined for a step without a cell in the row. */
export function readGridRow({ columns }: GridIndex, row: number, codeOf: CodeOf): readonly (GridEntry | undefined)[] {
  return columns.map(({ step, start, cells }) => {
    const own = cells.subarray(start[row]!, start[row + 1]!);
    if (own.length === 0) return undefined;
    const counts = new Uint32Array(SHOWN_STATUSES.length);
    for (const cell of own) counts[codeOf(step, cell)]! += 1;
    return { cells: own, code: summarizeCounts(counts), counts };
  });
}

/** The number of cells of each column by code. */
export function countColumns({ columns }: GridIndex, codeOf: CodeOf): readonly Uint32Array[] {
  return columns.map(({ step, rowOf }) => {
    const counts = new Uint32Array(SHOWN_STATUSES.length);
    for (let cell = 0; cell < rowOf.length; cell++) counts[codeOf(step, cell)]! += 1;
    return counts;
  });
}

/** The rows that have a failed cell, in their order. */
export function findFailedRows({ rows, columns }: GridIndex, codeOf: CodeOf): readonly number[] {
  const hasFailed = new Uint8Array(rows.length);
  for (const { step, rowOf } of columns)
    for (let cell = 0; cell < rowOf.length; cell++)
      if (codeOf(step, cell) === FAILED && rowOf[cell]! >= 0) hasFailed[rowOf[cell]!] = 1;
  const failed: number[] = [];
  for (let row = hasFailed.indexOf(1); row >= 0; row = hasFailed.indexOf(1, row + 1)) failed.push(row);
  return failed;
}
