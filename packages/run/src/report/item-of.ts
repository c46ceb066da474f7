import type { Json } from '@sluice/core';
import type { RunFacts } from '../facts/run-facts.ts';

/** The `foreach` item of a cell as a field of a report; no field for any other cell. */
export function itemOf({ cells }: Pick<RunFacts, 'cells'>, step: number, cell: number): { readonly item?: Json } {
  const item = cells[step]?.[cell]?.item;
  return item === undefined ? {} : { item };
}
