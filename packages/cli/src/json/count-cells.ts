import type { Plan, PlannedStep } from '@sluice/core';
import { countLists } from './count-lists.ts';

/** The number of a step's cells. Undefined if only the run knows the list; one in the file has as many cells as items. */
export function countCells(plan: Plan, planned: PlannedStep): number | undefined {
  if (countLists(plan, planned) !== undefined) return undefined;
  const {
    cells,
    step: { foreach },
  } = planned;
  return cells?.length ?? (typeof foreach === 'object' ? foreach.length : undefined);
}
