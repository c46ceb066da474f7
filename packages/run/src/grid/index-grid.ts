import type { GridStep } from './grid-step.ts';
import { hasAxes } from './row-choices.ts';

/** The cells of one step by row. */
export interface GridColumn {
  /** Index in the plan. */
  readonly step: number;
  /** The row of each cell; -1 if it has no item of an axis of the rows. */
  readonly rowOf: Int32Array;
  /** The cells of row `r` are `cells[start[r]]` up to `cells[start[r + 1]]`, in their order. */
  readonly start: Int32Array;
  readonly cells: Int32Array;
}

/** Which cells are in which row: a row for each combination of items of some axes, a column for each step that has them. */
export interface GridIndex {
  readonly axes: readonly string[];
  /** The names of the rows: the keys, joined by commas. */
  readonly rows: readonly string[];
  readonly columns: readonly GridColumn[];
}

/** Arranges the cells that are known. Linear in their number; states are read later, for the rows that are shown. */
export function indexGrid(steps: readonly GridStep[], axes: readonly string[]): GridIndex {
  const shown = steps.filter((step) => hasAxes(step, axes));
  const numbers = new Map<string, number>();
  const rows: string[] = [];
  const rowOf = new Map<GridStep, Int32Array>();
  const isExact = ({ each }: GridStep) => each.join() === axes.join();
  // Steps with exactly these axes have a cell for each row, in the order of the items.
  for (const step of [...shown.filter(isExact), ...shown.filter((step) => !isExact(step))]) {
    const nameOf = isExact(step) ? step.nameOf : (cell: number) => joinKeys(step, cell, axes);
    const found = new Int32Array(step.cellCount);
    for (let cell = 0; cell < found.length; cell++) {
      const name = nameOf(cell);
      if (name === undefined) found[cell] = -1;
      else found[cell] = rows[cell] === name ? cell : addRow(name, { numbers, rows });
    }
    rowOf.set(step, found);
  }
  return { axes, rows, columns: shown.map((step) => createColumn(step.step, rowOf.get(step)!, rows.length)) };
}

function joinKeys(step: GridStep, cell: number, axes: readonly string[]): string | undefined {
  const keys = axes.map((axis) => step.keyOf(cell, axis));
  return keys.includes(undefined) ? undefined : keys.join();
}

function addRow(name: string, { numbers, rows }: { numbers: Map<string, number>; rows: string[] }): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, rows.length);
  rows.push(name);
  return rows.length - 1;
}

function createColumn(step: number, rowOf: Int32Array, rowCount: number): GridColumn {
  const start = new Int32Array(rowCount + 1);
  for (const row of rowOf) if (row >= 0) start[row + 1]! += 1;
  for (let row = 0; row < rowCount; row++) start[row + 1]! += start[row]!;
  const next = start.slice();
  const cells = new Int32Array(start[rowCount]!);
  for (const [cell, row] of rowOf.entries()) if (row >= 0) cells[next[row]!++] = cell;
  return { step, rowOf, start, cells };
}
