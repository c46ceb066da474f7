import type { PlannedStep } from '@sluice/core';

/** The number of a step's cells. Undefined if only the run knows the list; one in the file has as many cells as items. */
export function countCells({ cells, step: { foreach } }: PlannedStep): number | undefined {
  return cells?.length ?? (typeof foreach === 'object' ? foreach.length : undefined);
}
