import type { CellEntry } from '@sluice/host';
import { numericColumns, tableOfCells } from './comparison-table.ts';

/** A cell in a heat map. */
export interface HeatTile {
  readonly cell: CellEntry;
  /** Its number; undefined if it has none, or if statuses are shown. */
  readonly value: number | undefined;
}

/** The cells of a step by their axes: one axis across, and the combinations of all others down. */
export interface HeatMap {
  readonly axes: readonly string[];
  readonly across: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly tiles: readonly (HeatTile | undefined)[] }[];
  /** The least and the greatest number; undefined if there are none. */
  readonly range: readonly [number, number] | undefined;
}

/** What a heat map can be colored by, apart from the status: first the results. */
export function heatValues(cells: readonly CellEntry[]): readonly string[] {
  const table = tableOfCells(cells);
  const numeric = numericColumns(table).map((index) => table.columns[index]!);
  const axes = new Set(axesOf(cells));
  return numeric.filter((name) => !axes.has(name));
}

/** The map of cells with axes; undefined if they have none, or only one cell. `value`: a name of `heatValues`. */
export function heatMapOf(
  cells: readonly CellEntry[],
  { across, value }: { readonly across?: string | undefined; readonly value?: string | undefined },
): HeatMap | undefined {
  const axes = axesOf(cells);
  if (axes.length === 0 || cells.length < 2) return undefined;
  const known = axes.includes(across ?? '') ? across! : widest(axes, cells);
  const others = axes.filter((axis) => axis !== known);
  const columns = new Map<string, number>();
  const rows = new Map<string, (HeatTile | undefined)[]>();
  const table = tableOfCells(cells);
  const index = table.columns.indexOf(value ?? '');
  cells.forEach((cell, place) => {
    const values = valuesOf(cell);
    const column = textOf(values.get(known));
    if (!columns.has(column)) columns.set(column, columns.size);
    const name = others.map((axis) => textOf(values.get(axis))).join(', ');
    const row = rows.get(name) ?? [];
    rows.set(name, row);
    const number = table.rows[place]!.values[index];
    row[columns.get(column)!] = { cell, value: typeof number === 'number' ? number : undefined };
  });
  const numbers = [...rows.values()].flatMap((row) => row.flatMap((tile) => tile?.value ?? []));
  return {
    ...{ axes, across: known, columns: [...columns.keys()] },
    rows: [...rows].map(([name, tiles]) => ({ name, tiles: Array.from(columns, (_, place) => tiles[place]) })),
    range: numbers.length === 0 ? undefined : [Math.min(...numbers), Math.max(...numbers)],
  };
}

function axesOf(cells: readonly CellEntry[]): readonly string[] {
  return [...new Set(cells.flatMap((cell) => [...valuesOf(cell).keys()]))];
}

/** The axis with the most values, of several the first. */
function widest(axes: readonly string[], cells: readonly CellEntry[]): string {
  const sizes = axes.map((axis) => new Set(cells.map((cell) => textOf(valuesOf(cell).get(axis)))).size);
  return axes[sizes.indexOf(Math.max(...sizes))]!;
}

function valuesOf({ axes = {}, matrix = {} }: CellEntry): ReadonlyMap<string, unknown> {
  return new Map(Object.entries({ ...axes, ...matrix }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
