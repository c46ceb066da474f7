import { own } from '@sluice/core';
import type { GridStep } from '../grid/grid-step.ts';
import { type GridIndex, indexGrid } from '../grid/index-grid.ts';
import { countColumns, findFailedRows, type GridEntry, readGridRow } from '../grid/read-grid.ts';
import { rowChoices } from '../grid/row-choices.ts';
import { summarizeCounts } from '../grid/summarize-counts.ts';
import type { StepReport } from '../schemas/run-report.ts';
import { SHOWN_STATUSES } from '../schemas/statuses.ts';
import { describeCode } from './describe-status.ts';

/** The grid of a report, by the axes that most of its steps have. */
export interface ReportGrid {
  readonly index: GridIndex;
  /** The names of the columns. */
  readonly steps: readonly string[];
  /** The number of cells of each column by code. */
  readonly counts: readonly Uint32Array[];
  /** The rows with a failed cell, in their order. */
  readonly failed: readonly number[];
  read(row: number): readonly (GridEntry | undefined)[];
  /** The code that stands for all cells of a row. */
  codeOf(row: number): number;
}

/** Arranges the cells of a report; undefined if the pipeline has no step with `each`, or no item. */
export function createReportGrid(steps: readonly StepReport[]): ReportGrid | undefined {
  const shown = steps.flatMap(gridStepOf);
  const [axes] = rowChoices(shown);
  if (axes === undefined) return undefined;
  const index = indexGrid(shown, axes);
  if (index.rows.length === 0) return undefined;
  const codes = steps.map(({ cells, each }) => (each === undefined ? [] : cells.map(codeOfCell)));
  const codeOf = (step: number, cell: number) => codes[step]![cell]!;
  const read = (row: number) => readGridRow(index, row, codeOf);
  return {
    index,
    steps: index.columns.map(({ step }) => steps[step]!.step),
    counts: countColumns(index, codeOf),
    failed: findFailedRows(index, codeOf),
    read,
    codeOf(row) {
      const counts = new Uint32Array(SHOWN_STATUSES.length);
      for (const entry of read(row)) for (const [code, count] of entry?.counts.entries() ?? []) counts[code]! += count;
      return summarizeCounts(counts);
    },
  };
}

function gridStepOf({ each, cells }: StepReport, step: number): GridStep[] {
  if (each === undefined) return [];
  const axes = new Set(each);
  for (const cell of cells) for (const axis of Object.keys(cell.axes ?? {})) axes.add(axis);
  return [
    {
      ...{ step, each, axes: [...axes], cells: cells.map((_, cell) => cell) },
      nameOf: (cell) => cells[cell]!.cell,
      keyOf: (cell, axis) => own(cells[cell]!.axes, axis),
    },
  ];
}

function codeOfCell({ status, reused }: StepReport['cells'][number]): number {
  return SHOWN_STATUSES.findIndex((shown) => shown.status === status && shown.reused === (reused === true));
}

/** The first rows of a grid for readers: those with a failed cell, then the others, both in their order. */
export function failedFirst({ index, failed }: ReportGrid, most: number): readonly number[] {
  const rows = failed.slice(0, most);
  const isFailed = new Set(failed);
  for (let row = 0; row < index.rows.length && rows.length < most; row++) if (!isFailed.has(row)) rows.push(row);
  return rows;
}

/** An entry in words: the status of its cell, or of several cells how many have the status that stands for them. */
export function describeEntry(entry: GridEntry | undefined): string {
  if (entry === undefined) return '';
  const { code, counts, cells } = entry;
  if (cells.length === 1) return describeCode(code);
  return `${describeCode(code)} ${counts[code]}/${cells.length}`;
}
