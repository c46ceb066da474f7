import type { GridStep } from './grid-step.ts';
import { hasAxes } from './row-choices.ts';

/** The cells of one step by row. */
export interface GridColumn {
  /** Index in the plan. */
  readonly step: number;
  /** The row of each cell; -1 if it has no item of an axis of the rows, or stood for an empty list. */
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
  const isExact = ({ each }: GridStep) => each.join() === axes.join();
  const found: RowNames = { numbers: new Map(), rows: [] };
  const rowOf = new Map<GridStep, Int32Array>();
  // Steps with exactly these axes have a cell for each row, in the order of the items, and name it.
  for (const step of shown.filter(isExact)) rowOf.set(step, placeCells(step, found, step.nameOf));
  const [named] = shown.filter(isExact);
  const isNamed = new Map<string, string>();
  for (const step of shown) {
    if (isExact(step)) continue;
    // Equal keys can be in several lists, so what the rows imply tells them apart.
    const idOf = (of: GridStep, cell: number) => (named?.axes ?? axes).map((axis) => of.keyOf(cell, axis)).join();
    if (isNamed.size === 0 && named !== undefined)
      for (const cell of named.cells) isNamed.set(idOf(named, cell), named.nameOf(cell));
    const nameOf = (cell: number) => {
      const keys = axes.map((axis) => step.keyOf(cell, axis));
      return keys.includes(undefined) ? undefined : (isNamed.get(idOf(step, cell)) ?? keys.join());
    };
    rowOf.set(step, placeCells(step, found, nameOf));
  }
  return {
    axes,
    rows: found.rows,
    columns: shown.map((step) => createColumn(step, rowOf.get(step)!, found.rows.length)),
  };
}

interface RowNames {
  readonly numbers: Map<string, number>;
  readonly rows: string[];
}

/** The row of each cell, which is added if there is none; -1 for a cell without a name. */
function placeCells(
  step: GridStep,
  { numbers, rows }: RowNames,
  nameOf: (cell: number) => string | undefined,
): Int32Array {
  const found = new Int32Array(step.cells.reduce((most, cell) => Math.max(most, cell + 1), 0)).fill(-1);
  for (const [place, cell] of step.cells.entries()) {
    const name = nameOf(cell);
    if (name === undefined) continue;
    // Steps with the same axes mostly have the same cells.
    found[cell] = rows[place] === name ? place : addRow(name, { numbers, rows });
  }
  return found;
}

function addRow(name: string, { numbers, rows }: RowNames): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, rows.length);
  rows.push(name);
  return rows.length - 1;
}

function createColumn({ step, cells: ordered }: GridStep, rowOf: Int32Array, rowCount: number): GridColumn {
  const start = new Int32Array(rowCount + 1);
  for (const row of rowOf) if (row >= 0) start[row + 1]! += 1;
  for (let row = 0; row < rowCount; row++) start[row + 1]! += start[row]!;
  const next = start.slice();
  const cells = new Int32Array(start[rowCount]!);
  for (const cell of ordered) {
    const row = rowOf[cell]!;
    if (row >= 0) cells[next[row]!++] = cell;
  }
  return { step, rowOf, start, cells };
}
