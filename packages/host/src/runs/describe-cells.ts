import type { RunFollower } from '@sluice/home';
import { renderTimes, SHOWN_STATUSES, viewCell } from '@sluice/run';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { cellEntry, cellList, cellMatches, cellNames } from '../schemas/cell-replies.ts';
import { findRowCells } from './describe-grid.ts';
import { type Page, pageAfter, pageFrom } from './page-query.ts';

/** Which cells. */
export interface CellQuery {
  readonly step?: string | undefined;
  readonly status?: string | undefined;
  readonly search?: string | undefined;
  /** Of the grid with these axes. */
  readonly row?: string;
  readonly axes?: string;
  /** With the results. */
  readonly values?: boolean;
}

/** Indexes of a cell. */
export interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/** The matching cells in the order of the plan. Only those of the page are described. */
export function describeCells(run: RunFollower, query: CellQuery, page: Page): z.input<typeof cellList> {
  const matching = findCells(run, query);
  const { shown, next } = pageAfter(matching, page, { type: lastCell, keyOf: (place) => place, isAfter });
  return {
    cells: shown.map((place) => describeEntry(run, place, query)),
    total: matching.length,
    ...next,
    position: run.model.position,
  };
}

/** The names of some cells of a step. Throws `ApiError`. */
export function describeCellNames(
  run: RunFollower,
  { step, firstCellIndex }: { readonly step: string; readonly firstCellIndex: number },
  page: Page,
): z.input<typeof cellNames> {
  const cells = run.model.facts.cells[findStep(run, step)] ?? [];
  const { shown, next } = pageFrom(cells, page, firstCellIndex);
  return { names: shown.map(({ key }) => key), total: cells.length, ...next };
}

/** The status of cells changes between two pages, so the next one begins after the last cell of the previous one. */
const lastCell = z.strictObject({ step: z.int().min(0), cell: z.int().min(0) });

function isAfter(place: CellPlace, last: CellPlace): boolean {
  return place.step > last.step || (place.step === last.step && place.cell > last.cell);
}

/**
 * The cells of matrices and of `foreach` with every word of a text in `STEP/CELL`, and at least one of them not only in the
 * name of the step, whose cells would all match. A page has whole steps, at least one.
 */
export function searchCells(
  { model }: RunFollower,
  { search, perStep }: { readonly search: string; readonly perStep: number },
  page: Page,
): z.input<typeof cellMatches> {
  const words = wordsOf(search);
  const { plan, cells } = model.facts;
  const found = plan.steps.flatMap(({ index, step: { name } }) => {
    const lower = name.toLowerCase();
    const matching: number[] = [];
    cells[index]?.forEach(({ key }, cell) => {
      if (key !== '' && matchesCell(words, lower, key.toLowerCase())) matching.push(cell);
    });
    if (matching.length === 0) return [];
    const shown = matching.slice(0, Math.min(perStep, page.size));
    const named = shown.map((cell) => ({ cell: cells[index]![cell]!.key, cellIndex: cell }));
    return [{ step: name, stepIndex: index, total: matching.length, cells: named }];
  });
  const total = found.reduce((sum, step) => sum + step.total, 0);
  const start = page.start(z.int().min(0)) ?? 0;
  const rest = found.filter(({ stepIndex }) => stepIndex >= start);
  let shown = 0;
  const next = rest.find((step) => {
    shown += step.cells.length;
    return shown > page.size;
  })?.stepIndex;
  if (next === undefined) return { steps: rest, total };
  return { steps: rest.filter(({ stepIndex }) => stepIndex < next), total, nextPageToken: page.tokenOf(next) };
}

function matchesCell(words: readonly string[], step: string, cell: string): boolean {
  const text = `${step}/${cell}`;
  return (
    words.every((word) => text.includes(word)) && words.some((word) => cell.includes(word) || !step.includes(word))
  );
}

function wordsOf(search: string): string[] {
  return search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

function findCells(run: RunFollower, { step: name, status, search, ...inGrid }: CellQuery): CellPlace[] {
  const { states, facts } = run.model;
  const { plan, cells } = facts;
  const ofRow = findRowCells(run, inGrid);
  const wanted = SHOWN_STATUSES.map((shown) => status === undefined || shown.status === status);
  const words = wordsOf(search ?? '');
  return plan.steps.flatMap(({ index: step, step: { name: stepName } }) => {
    if (name !== undefined && name !== stepName && name !== String(step)) return [];
    const found: CellPlace[] = [];
    const add = (cell: number) => {
      if (!wanted[states[step]![cell]!]) return;
      const text = words.length === 0 ? '' : `${stepName}/${cells[step]?.[cell]?.key ?? ''}`.toLowerCase();
      if (words.every((word) => text.includes(word))) found.push({ step, cell });
    };
    if (ofRow === undefined) for (let cell = 0; cell < states[step]!.length; cell++) add(cell);
    else ofRow.get(step)?.forEach(add);
    return found;
  });
}

function describeEntry(run: RunFollower, place: CellPlace, { values = false }: CellQuery): z.input<typeof cellEntry> {
  const { results, ...cell } = describePlacedCell(run, place);
  return values ? { ...cell, results } : cell;
}

/** A cell, and where it is in the plan. */
export function describePlacedCell({ model }: RunFollower, { step, cell }: CellPlace) {
  return {
    step: model.facts.plan.steps[step]!.step.name,
    ...renderTimes(viewCell(model, step, cell)),
    ...{ stepIndex: step, cellIndex: cell },
  };
}

/** The index of a step by its name or its index. Throws `ApiError`. */
export function findStep({ model, runId }: RunFollower, name: string): number {
  const found = model.facts.plan.steps.findIndex(({ index, step }) => step.name === name || String(index) === name);
  if (found < 0) throw new ApiError(404, 'STEP_NOT_FOUND', `run ${runId} has no step ${name}`);
  return found;
}

/** A cell as a request names it: `step` is a name or an index. Without name and index, the first cell. */
export interface CellAddress {
  readonly step: string;
  readonly cell?: string;
  readonly cellIndex?: number;
}

/** The cell that a request names. Throws `ApiError`. */
export function findCell(run: RunFollower, at: CellAddress): CellPlace {
  if (at.cell !== undefined && at.cellIndex !== undefined) {
    throw new ApiError(400, 'PARAMETER_INVALID', 'could not use the query parameter cellIndex: there is also cell');
  }
  const step = findStep(run, at.step);
  if (at.cell === undefined) {
    const cell = at.cellIndex ?? 0;
    if (cell < run.model.states[step]!.length) return { step, cell };
    throw unknownCell(run, at.step, `with index ${cell}`);
  }
  const cell = (run.model.facts.cells[step] ?? []).findIndex(({ key }) => key === at.cell);
  if (cell < 0) throw unknownCell(run, at.step, at.cell);
  return { step, cell };
}

function unknownCell({ runId }: RunFollower, step: string, cell: string): ApiError {
  return new ApiError(404, 'CELL_NOT_FOUND', `step ${step} of run ${runId} has no cell ${cell}`);
}
