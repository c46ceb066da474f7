import type { RunDetails } from '@sluice/host';
import { type AlignedName, alignNames } from './align-names.ts';
import { orderSteps } from './order-steps.ts';

type PlanSteps = RunDetails['plan']['steps'];

/** The steps of one name in two runs, by their indexes in the plan of each run. */
export type AlignedStep = AlignedName;

/**
 * The steps of two plans by name: those of the first plan in its order, and those that only the second has after the step
 * that they follow there.
 */
export function alignSteps(first: PlanSteps, second: PlanSteps): AlignedStep[] {
  const [orderA, orderB] = [orderSteps(first), orderSteps(second)];
  return alignNames(
    orderA.map((place) => first[place]!.step),
    orderB.map((place) => second[place]!.step),
  ).map(({ name, places: [a, b] }) => ({
    name,
    places: [a === undefined ? undefined : orderA[a], b === undefined ? undefined : orderB[b]],
  }));
}

/** The number of rows with different states, by the states of all steps of both runs. */
export function countDifferent(rows: readonly AlignedStep[], first: Uint8Array, second: Uint8Array): number {
  const codeOf = (codes: Uint8Array, place: number | undefined) => (place === undefined ? undefined : codes[place]);
  return rows.filter(({ places: [a, b] }) => codeOf(first, a) !== codeOf(second, b)).length;
}
