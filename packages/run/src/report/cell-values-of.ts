import { type Cell, describeAxes, type Plan } from '@sluice/core';
import type { RunFacts } from '../facts/run-facts.ts';
import type { CellValues } from '../schemas/cell.ts';

/** The values of a cell as fields of a report; no fields for a plain step. */
export function cellValuesOf(
  { plan, cells }: Pick<RunFacts, 'plan' | 'cells'>,
  step: number,
  cell: number,
): CellValues {
  const found = cells[step]?.[cell];
  return found === undefined ? {} : describeValues(plan, found);
}

/** The values of a cell of a plan. */
export function describeValues(plan: Plan, cell: Cell): CellValues {
  const { matrix, item } = cell;
  const axes = describeAxes(plan, cell);
  return {
    ...(axes && { axes }),
    ...(Object.keys(matrix).length > 0 && { matrix }),
    ...(item !== undefined && { item }),
  };
}
