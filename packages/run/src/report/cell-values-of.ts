import type { RunFacts } from '../facts/run-facts.ts';
import type { CellValues } from '../schemas/cell.ts';

/** The values of a cell as fields of a report; no fields for a plain step. */
export function cellValuesOf({ cells }: Pick<RunFacts, 'cells'>, step: number, cell: number): CellValues {
  const { matrix = {}, item } = cells[step]?.[cell] ?? {};
  return { ...(Object.keys(matrix).length > 0 && { matrix }), ...(item !== undefined && { item }) };
}
