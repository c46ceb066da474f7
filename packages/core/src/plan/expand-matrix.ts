import { type Doubles, findDoubles, hidesDoubles, mergeDoubles } from '../expressions/doubles.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import type { Cell } from '../model/plan.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { matrixKey, uniqueKeys } from './cell-key.ts';

/** Limit for the cells of one step. */
export const MAX_CELLS = 100_000;

const MAX_AXES = 100;
/** Limit for comparisons of cells with entries of `include` and `exclude`: some seconds. */
const MAX_COMPARISONS = 20_000_000;
/** Limit for the characters of all cells' values together, as JSON: the plan is stored as one text. */
const MAX_TEXT = 64 * 1024 * 1024;

/** A matrix with all expressions evaluated. */
export interface BoundMatrix {
  readonly axes: Readonly<Record<string, readonly Json[]>>;
  readonly include: readonly Readonly<Record<string, Json>>[];
  readonly exclude: readonly Readonly<Record<string, Json>>[];
  /** Of a cell's values, as far as expressions yielded them. */
  readonly doubles?: Doubles | undefined;
}

/**
 * The cells of a matrix, with the last axis varying fastest. `exclude` removes every cell that matches one of its
 * entries; then each entry of `include` adds its new axes to every cell whose original values it does not contradict,
 * or becomes a separate cell if there is none (the rules of GitHub Actions).
 */
export function expandMatrix(matrix: BoundMatrix): Result<readonly Cell[], string> {
  const axes = Object.entries(matrix.axes);
  const count = axes.reduce((product, [, values]) => product * values.length, 1) + matrix.include.length;
  if (count > MAX_CELLS) return fail(`the matrix has ${count} cells; the maximum is ${MAX_CELLS}`);
  const tooMuch = excessOf(matrix, count);
  if (tooMuch !== undefined) return fail(tooMuch);
  let product: Record<string, Json>[] = axes.length === 0 ? [] : [{}];
  for (const [axis, values] of axes) {
    const next: Record<string, Json>[] = [];
    for (const cell of product) for (const value of values) next.push({ ...cell, [axis]: value });
    product = next;
  }
  if (matrix.exclude.length > 0) {
    product = product.filter((cell) => !matrix.exclude.some((entry) => agrees(entry, cell)));
  }
  const cells = matrix.include.length === 0 ? product : withIncludes(product, matrix);
  const keys = uniqueKeys(cells.map(matrixKey), (index) => cells[index] ?? null);
  const doubles = mergeDoubles([matrix.doubles, findDoubles(cells)]);
  return ok(
    cells.map((matrix, index) => ({
      key: keys[index] ?? '',
      matrix,
      ...(hidesDoubles(matrix, doubles) && { doubles: { matrix: doubles! } }),
    })),
  );
}

function excessOf({ axes, include, exclude }: BoundMatrix, count: number): string | undefined {
  const lists = Object.values(axes);
  if (lists.length > MAX_AXES) return `the matrix has ${lists.length} axes; the maximum is ${MAX_AXES}`;
  const entries = include.length + exclude.length;
  if (count * entries > MAX_COMPARISONS) {
    return `the matrix has ${count} cells and ${entries} entries of \`include\` and \`exclude\`, which are too many to compare`;
  }
  const text = lists.reduce((sum, values) => sum + (JSON.stringify(values).length * count) / values.length, 0);
  return text <= MAX_TEXT ? undefined : `the values of the matrix are too long for its ${count} cells`;
}

function withIncludes(product: readonly Record<string, Json>[], matrix: BoundMatrix): readonly Record<string, Json>[] {
  const cells = product.map((cell) => ({ original: cell, full: { ...cell } }));
  const added: Record<string, Json>[] = [];
  for (const entry of matrix.include) {
    const original = Object.fromEntries(Object.entries(entry).filter(([axis]) => Object.hasOwn(matrix.axes, axis)));
    const fitting = cells.filter((cell) => agrees(original, cell.original));
    for (const cell of fitting) Object.assign(cell.full, entry);
    if (fitting.length === 0) added.push({ ...entry });
  }
  return [...cells.map((cell) => cell.full), ...added];
}

function agrees(entry: Readonly<Record<string, Json>>, cell: Readonly<Record<string, Json>>): boolean {
  return Object.keys(entry).every((axis) => Object.hasOwn(cell, axis) && sameJson(own(entry, axis), own(cell, axis)));
}

function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));
}
