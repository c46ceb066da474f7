import { own } from '@sluice/core';
import type { AttemptName } from '../records/attempt-name.ts';
import type { RunFacts } from './run-facts.ts';

/** Key of a cell in `RunFacts.adopted`. */
export function adoptedKey(name: Pick<AttemptName, 'step' | 'cell'>): string {
  return `${name.step}/${name.cell}`;
}

/**
 * Whether the adoption found a later attempt of the same cell. Then this attempt has ended, even if the service no longer
 * knows it, since attempt n + 1 begins only after the end of attempt n.
 */
export function hasAdoptedSuccessor(facts: RunFacts, name: AttemptName): boolean {
  const found = own(facts.adopted, adoptedKey(name)) ?? {};
  return Object.keys(found).some((attempt) => Number(attempt) > name.attempt);
}

/** The cluster on which the adoption found an attempt's container. */
export function adoptedCluster(facts: RunFacts, at: { step: number; cell: number; attempt: number }) {
  if (facts.adopted === undefined) return undefined;
  const name = { step: facts.plan.steps[at.step]!.step.name, cell: facts.cells[at.step]?.[at.cell]?.key ?? '' };
  return own(facts.adopted, adoptedKey(name))?.[at.attempt];
}
