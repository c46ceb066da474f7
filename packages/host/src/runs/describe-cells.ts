import type { RunFollower } from '@sluice/home';
import { renderTimes, SHOWN_STATUSES, viewCell } from '@sluice/run';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { cellEntry, cellList, cellMatches, cellNames } from '../schemas/cell-replies.ts';

/** Which cells, and which page of them. */
export interface CellQuery {
  readonly step?: string | undefined;
  readonly status?: string | undefined;
  readonly search?: string | undefined;
  /** With the results. */
  readonly values?: boolean;
  readonly pageSize: number;
  readonly pageToken?: string | undefined;
}

/** Indexes of a cell. */
export interface CellPlace {
  readonly step: number;
  readonly cell: number;
}

/** The matching cells in the order of the plan. Only those of the page are described. */
export function describeCells(run: RunFollower, query: CellQuery): z.input<typeof cellList> {
  const matching = findCells(run, query);
  const start = query.pageToken === undefined ? 0 : readPageToken(query.pageToken);
  const end = start + query.pageSize;
  return {
    cells: matching.slice(start, end).map((place) => describeEntry(run, place, query)),
    total: matching.length,
    ...(end < matching.length && { nextPageToken: String(end) }),
    position: run.model.position,
  };
}

/** The names of some cells of a step. Throws `ApiError`. */
export function describeCellNames(
  run: RunFollower,
  { step, from, count }: { readonly step: string; readonly from: number; readonly count: number },
): z.input<typeof cellNames> {
  const cells = run.model.facts.cells[findStep(run, step)] ?? [];
  return { names: cells.slice(from, from + count).map(({ key }) => key), total: cells.length };
}

/**
 * The cells of matrices and of `foreach` with every word of a text in `STEP/CELL`, and at least one of them not only in the
 * name of the step, whose cells would all match.
 */
export function searchCells(
  { model }: RunFollower,
  { search, perStep, limit }: { readonly search: string; readonly perStep: number; readonly limit: number },
): z.input<typeof cellMatches> {
  const words = wordsOf(search);
  const { plan, cells } = model.facts;
  let [left, total] = [limit, 0];
  const steps = plan.steps.flatMap(({ index, step: { name } }) => {
    const lower = name.toLowerCase();
    const found: number[] = [];
    cells[index]?.forEach(({ key }, cell) => {
      if (key !== '' && matchesCell(words, lower, key.toLowerCase())) found.push(cell);
    });
    if (found.length === 0) return [];
    const shown = found.slice(0, Math.min(perStep, left));
    left -= shown.length;
    total += found.length;
    const named = shown.map((cell) => ({ cell: cells[index]![cell]!.key, cellIndex: cell }));
    return [{ step: name, stepIndex: index, total: found.length, cells: named }];
  });
  return { steps, total };
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

/** The offset that a page begins at. */
export function readPageToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw new ApiError(400, 'PARAMETER_INVALID', 'could not use the query parameter pageToken: it is not from a reply');
}

function findCells({ model }: RunFollower, { step: name, status, search }: CellQuery): CellPlace[] {
  const { plan, cells } = model.facts;
  const wanted = SHOWN_STATUSES.map((shown) => status === undefined || shown.status === status);
  const words = wordsOf(search ?? '');
  return plan.steps.flatMap(({ index: step, step: { name: stepName } }) => {
    if (name !== undefined && name !== stepName && name !== String(step)) return [];
    const found: CellPlace[] = [];
    model.states[step]!.forEach((code, cell) => {
      if (!wanted[code]) return;
      const text = words.length === 0 ? '' : `${stepName}/${cells[step]?.[cell]?.key ?? ''}`.toLowerCase();
      if (words.every((word) => text.includes(word))) found.push({ step, cell });
    });
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

function findStep({ model, runId }: RunFollower, name: string): number {
  const found = model.facts.plan.steps.findIndex(({ index, step }) => step.name === name || String(index) === name);
  if (found < 0) throw new ApiError(404, 'STEP_NOT_FOUND', `run ${runId} has no step ${name}`);
  return found;
}

/** The cell that a request names; `step` is a name or an index, `cell` an index. Throws `ApiError`. */
export function findCell(run: RunFollower, at: { readonly step: string; readonly cell: number }): CellPlace {
  const step = findStep(run, at.step);
  if (at.cell >= run.model.states[step]!.length) {
    throw new ApiError(404, 'CELL_NOT_FOUND', `step ${at.step} of run ${run.runId} has no cell with index ${at.cell}`);
  }
  return { step, cell: at.cell };
}
