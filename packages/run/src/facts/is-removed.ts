import { own } from '@sluice/core';
import type { RunFacts } from './run-facts.ts';

/**
 * Whether an output of a cell is temporary, and the run has removed it or was content without it: a reused success counts as
 * present without its temporary outputs.
 */
export function isRemoved(
  { plan, known }: Pick<RunFacts, 'plan' | 'known'>,
  { step, cell, output }: { readonly step: number; readonly cell: number; readonly output: string },
): boolean {
  if (own(plan.steps[step]!.step.outputs, output)?.temporary !== true) return false;
  const cellFacts = known[step]?.[cell];
  return cellFacts?.cached !== undefined || cellFacts?.removed?.includes(output) === true;
}
