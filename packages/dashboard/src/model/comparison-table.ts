import type { CellEntry, RunDetails } from '@sluice/host';
import { compareRuns } from './compare-runs.ts';

/** A value in a table; undefined where there is none. */
export type TableValue = string | number | undefined;

/** A run or a cell with its values. */
export interface TableRow {
  /** The ID of the run, or the index of the cell. */
  readonly key: string;
  readonly label: string;
  readonly status: string;
  readonly values: readonly TableValue[];
}

/** Runs or cells as rows. */
export interface ComparisonTable {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  /** The columns that are results. */
  readonly results: readonly string[];
}

/** The cells of a step: the keys of their items, the values of the matrix, the results, the durations and the attempts. */
export function tableOfCells(cells: readonly CellEntry[]): ComparisonTable {
  const matrices = cells.map(({ axes = {}, matrix = {} }) => new Map(Object.entries({ ...axes, ...matrix })));
  const outcomes = cells.map(({ results = {} }) => new Map(Object.entries(results)));
  const axes = namesOf(matrices);
  const results = namesOf(outcomes);
  const hasItems = cells.some(({ item }) => item !== undefined);
  const resultColumns = results.map((name) => (axes.includes(name) ? `result ${name}` : name));
  const columns = [...axes, ...(hasItems ? ['item'] : []), ...resultColumns, ...['duration (s)', 'attempts']];
  const rows = cells.map((cell, index) => ({
    ...{ key: String(cell.cellIndex), label: cell.cell === '' ? cell.step : cell.cell, status: cell.status },
    values: [
      ...axes.map((name) => toValue(matrices[index]!.get(name))),
      ...(hasItems ? [toValue(cell.item)] : []),
      ...results.map((name) => toValue(outcomes[index]!.get(name))),
      ...[secondsOf(cell), cell.attempt],
    ],
  }));
  return { columns, rows, results: resultColumns };
}

/** What differs between runs, and the numbers of all, as columns. */
export function tableOfRuns(runs: readonly RunDetails[]): ComparisonTable {
  const compared = compareRuns(runs).filter(({ name }) => name !== 'status');
  const rows = runs.map((run, index) => ({
    ...{ key: run.runId, label: run.runId, status: run.status },
    values: compared.map(({ values }) => numberOf(values[index]!)),
  }));
  const columns = compared.map(({ name }) => name);
  return { columns, rows, results: columns.filter((name) => name.startsWith('result ')) };
}

/** The rows in the order of a column; rows without a value come last. Numbers come before texts. */
export function sortRows(table: ComparisonTable, column: number, isDescending: boolean): TableRow[] {
  const compare = (a: TableRow, b: TableRow) => {
    const [one, other] = [a.values[column], b.values[column]];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    const order = typeof one === 'number' && typeof other === 'number' ? one - other : compareTexts(one, other);
    return isDescending ? -order : order;
  };
  return [...table.rows].sort(compare);
}

/** The columns with a number in at least one row, by index. */
export function numericColumns({ columns, rows }: ComparisonTable): number[] {
  return columns.flatMap((_, index) => (rows.some(({ values }) => typeof values[index] === 'number') ? [index] : []));
}

/** The points of two columns, by x. Texts on the x axis are numbered in their order. */
export function pointsOf({ rows }: ComparisonTable, x: number | undefined, y: number) {
  const texts = [
    ...new Set(
      rows.flatMap((row) => (x === undefined ? [row.label] : typeof row.values[x] === 'string' ? [row.values[x]] : [])),
    ),
  ];
  const points = rows.flatMap((row) => {
    const [at, value] = [x === undefined ? row.label : row.values[x], row.values[y]];
    if (at === undefined || typeof value !== 'number') return [];
    return [{ x: typeof at === 'number' ? at : texts.indexOf(at), y: value, label: row.label }];
  });
  points.sort((a, b) => a.x - b.x);
  return { points, texts: points.length > 0 && texts.length > 0 ? texts : undefined };
}

function namesOf(values: readonly ReadonlyMap<string, unknown>[]): string[] {
  return [...new Set(values.flatMap((one) => [...one.keys()]))];
}

function toValue(value: unknown): TableValue {
  if (value === undefined || typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
}

function numberOf(text: string): TableValue {
  if (text === '') return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

/** How long a cell took; undefined if it has not ended. */
export function secondsOf({ beganAt, endedAt }: CellEntry): number | undefined {
  if (beganAt === undefined || endedAt === undefined) return undefined;
  return (Date.parse(endedAt) - Date.parse(beganAt)) / 1_000;
}

function compareTexts(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}
