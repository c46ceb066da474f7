import { renderDuration } from '@sluice/core';
import type { CellEntry } from '@sluice/host';
import { secondsOf } from './comparison-table.ts';
import { codeOf, STATUSES } from './statuses.ts';

/** In what a cell can differ between two runs, the worst first. */
export const DIFFERENCE_KINDS = ['failure', 'status', 'result', 'duration', 'only one run'] as const;

/** In what a cell differs between two runs. */
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** A cell that differs between two runs. */
export interface CellDifference {
  /** `STEP/CELL`, or the name of a step without cells. */
  readonly name: string;
  /** The cell in each run; undefined where a run has none of that name. */
  readonly cells: readonly [CellEntry | undefined, CellEntry | undefined];
  /** The worst kind. */
  readonly kind: DifferenceKind;
  /** All differences in words. */
  readonly words: readonly string[];
}

/** The cells of a run, or the first of them. */
export interface LoadedCells {
  readonly cells: readonly CellEntry[];
  readonly total: number;
}

/** Shorter differences are chance. */
const MIN_SECONDS = 1;
/** Of the longer duration. */
const MIN_PART = 0.1;

/**
 * The cells of one name that differ in status, results or duration, and those that only one run has: the worst kind first,
 * and of one kind the largest difference of the durations. If not all cells of a run are known, a missing one is no difference.
 */
export function compareCells(first: LoadedCells, second: LoadedCells): CellDifference[] {
  const others = new Map(second.cells.map((cell) => [nameOf(cell), cell]));
  const known = new Set(first.cells.map(nameOf));
  const differences = [
    ...first.cells.map((cell) => differenceOf(nameOf(cell), [cell, others.get(nameOf(cell))])),
    ...second.cells
      .filter((cell) => !known.has(nameOf(cell)))
      .map((cell) => differenceOf(nameOf(cell), [undefined, cell])),
  ].filter((difference) => difference !== undefined);
  const [isFirstWhole, isSecondWhole] = [first, second].map(({ cells, total }) => cells.length >= total);
  return differences
    .filter(({ cells: [a, b] }) => (a !== undefined || isFirstWhole) && (b !== undefined || isSecondWhole))
    .map((difference) => ({
      difference,
      rank: DIFFERENCE_KINDS.indexOf(difference.kind),
      size: gapOf(difference.cells),
    }))
    .sort((a, b) => a.rank - b.rank || b.size - a.size)
    .map(({ difference }) => difference);
}

function nameOf({ step, cell }: CellEntry): string {
  return cell === '' ? step : `${step}/${cell}`;
}

function differenceOf(name: string, cells: CellDifference['cells']): CellDifference | undefined {
  const found = findDifferences(cells);
  const worst = found[0];
  if (worst === undefined) return undefined;
  return { name, cells, kind: worst.kind, words: found.map(({ words }) => words) };
}

/** The worst first. */
function findDifferences(cells: CellDifference['cells']): { readonly kind: DifferenceKind; readonly words: string }[] {
  const [a, b] = cells;
  const hasFailed = cells.filter((cell) => cell?.status === 'failed').length === 1;
  if (a === undefined || b === undefined) {
    const words = `only in ${a === undefined ? 'B' : 'A'}`;
    return [{ kind: hasFailed ? 'failure' : 'only one run', words }];
  }
  if (a.status !== b.status) {
    const words = `${labelOf(a)} in A, ${labelOf(b)} in B`;
    return [{ kind: hasFailed ? 'failure' : 'status', words }, ...durationDifference(a, b)];
  }
  return [...resultDifferences(a, b), ...durationDifference(a, b)];
}

function resultDifferences({ results: a = {} }: CellEntry, { results: b = {} }: CellEntry) {
  const [inA, inB] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return [...new Set([...inA.keys(), ...inB.keys()])].flatMap((name) => {
    const [one, other] = [textOf(inA.get(name)), textOf(inB.get(name))];
    return one === other ? [] : [{ kind: 'result', words: `${name}: ${one} in A, ${other} in B` } as const];
  });
}

function durationDifference(a: CellEntry, b: CellEntry) {
  const size = gapOf([a, b]);
  if (size === 0) return [];
  const slower = secondsOf(a)! > secondsOf(b)! ? 'A' : 'B';
  return [{ kind: 'duration', words: `${renderDuration(size * 1_000)} longer in ${slower}` } as const];
}

/** The difference of the durations in seconds; 0 if it is chance, or one is unknown, or that of the run that a result is reused from. */
function gapOf([a, b]: CellDifference['cells']): number {
  if (a === undefined || b === undefined || a.reused || b.reused) return 0;
  const [one, other] = [secondsOf(a), secondsOf(b)];
  if (one === undefined || other === undefined) return 0;
  const size = Math.abs(one - other);
  return size < MIN_SECONDS || size < MIN_PART * Math.max(one, other) ? 0 : size;
}

function labelOf({ status, reused }: CellEntry): string {
  return STATUSES[codeOf(status, reused)]!.label;
}

/** Values are compared as text: the order of the keys of an object counts. */
function textOf(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
