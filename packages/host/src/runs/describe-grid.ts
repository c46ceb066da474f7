import type { Cell } from '@sluice/core';
import type { RunFollower } from '@sluice/home';
import {
  type FollowedModel,
  findFailedRows,
  type GridEntry,
  type GridIndex,
  type GridStep,
  gridSteps,
  indexGrid,
  readGridRow,
  rowChoices,
  SHOWN_STATUSES,
} from '@sluice/run';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { gridPage } from '../schemas/cell-replies.ts';
import { type Page, pageFrom } from './page-query.ts';

type GridPage = z.input<typeof gridPage>;

interface GridQuery {
  readonly axes?: string;
  readonly failed: boolean;
  readonly firstRow: number;
}

/** A page of the rows of a grid. Only its rows are described. Throws `ApiError`. */
export function describeGrid(run: RunFollower, query: GridQuery, page: Page): GridPage {
  const { model } = run;
  const { position, facts } = model;
  const choices = rowChoices(gridSteps(facts)).map((axes) => [...axes]);
  const index = findGrid(run, query.axes);
  const codeOf = codesOf(model);
  const failed = findFailedRows(index, codeOf);
  const rows = query.failed ? failed : Array.from(index.rows.keys());
  const { shown, next } = pageFrom(rows, page, query.firstRow);
  return {
    axes: [...index.axes],
    choices,
    columns: index.columns.map(({ step }) => ({
      step: facts.plan.steps[step]!.step.name,
      ...{ stepIndex: step, counts: model.counts(step) },
    })),
    rows: shown.map((row) => ({
      row: index.rows[row]!,
      entries: readGridRow(index, row, codeOf).map(describeEntry),
    })),
    ...{ total: rows.length, rowCount: index.rows.length, failedCount: failed.length, ...next, position },
  };
}

function describeEntry(entry: GridEntry | undefined): GridPage['rows'][number]['entries'][number] {
  if (entry === undefined) return null;
  const { status, reused } = SHOWN_STATUSES[entry.code]!;
  const cellCount = entry.cells.length;
  const counts: NonNullable<GridPage['rows'][number]['entries'][number]>['counts'] = {};
  SHOWN_STATUSES.forEach((shown, code) => {
    const count = entry.counts[code]!;
    if (count > 0) counts[shown.status] = (counts[shown.status] ?? 0) + count;
  });
  return {
    ...{ status, ...(reused && { reused }), cellIndex: entry.cells[0]!, cellCount },
    ...(cellCount > 1 && { counts }),
  };
}

/** By step, the cells of a row; undefined if no row is wanted. Throws `ApiError`. */
export function findRowCells(
  run: RunFollower,
  { row, axes }: { readonly row?: string; readonly axes?: string },
): ReadonlyMap<number, Int32Array> | undefined {
  if (row === undefined) {
    if (axes === undefined) return undefined;
    throw new ApiError(400, 'PARAMETER_INVALID', 'could not use the query parameter axes: there is no row');
  }
  const { rows, columns } = findGrid(run, axes);
  const at = rows.indexOf(row);
  if (at < 0) throw new ApiError(404, 'CELL_NOT_FOUND', `the grid of run ${run.runId} has no row ${row}`);
  return new Map(columns.map(({ step, start, cells }) => [step, cells.subarray(start[at]!, start[at + 1]!)]));
}

function codesOf({ states }: FollowedModel): (step: number, cell: number) => number {
  return (step, cell) => states[step]![cell]!;
}

interface KnownGrid {
  /** The cells of its steps, as they were. */
  readonly cells: readonly (readonly Cell[])[];
  readonly index: GridIndex;
}

/** An index is computed again only when cells have become known. */
const KNOWN = new WeakMap<FollowedModel, Map<string, KnownGrid>>();

function findGrid({ runId, model }: RunFollower, axes: string | undefined): GridIndex {
  const steps = gridSteps(model.facts);
  const choices = rowChoices(steps);
  const wanted = axes === undefined ? (choices[0] ?? []) : choices.find((choice) => choice.join() === axes);
  if (wanted === undefined) {
    const all = choices.map((choice) => choice.join()).join(' | ');
    const which = all === '' ? 'it has no axes' : `expected one of: ${all}`;
    throw new ApiError(
      400,
      'PARAMETER_INVALID',
      `could not use the axes ${axes} for the grid of run ${runId}: ${which}`,
    );
  }
  if (wanted.length === 0) return { axes: [], rows: [], columns: [] };
  const cells = steps.map(({ step }) => model.facts.cells[step] ?? []);
  const ofModel = KNOWN.get(model) ?? new Map<string, KnownGrid>();
  KNOWN.set(model, ofModel);
  const known = ofModel.get(wanted.join());
  if (known?.cells.every((before, place) => isSame(before, cells[place]!))) return known.index;
  const index = indexGrid(steps, wanted);
  const planned = ({ step }: GridStep) => model.facts.plan.steps[step]!.cells;
  const kept = cells.map((of, place) => (of === planned(steps[place]!) ? of : of.slice()));
  ofModel.set(wanted.join(), { cells: kept, index });
  return index;
}

function isSame(before: readonly Cell[], cells: readonly Cell[]): boolean {
  return before === cells || (before.length === cells.length && before.every((cell, place) => cell === cells[place]));
}
