import type { RunDetails } from '@sluice/host';
import { orderSteps } from './order-steps.ts';

type PlanSteps = RunDetails['plan']['steps'];

/** The steps of one name in two runs. */
export interface AlignedStep {
  readonly name: string;
  /** The index of the step in the plan of each run; undefined where a run has no step of that name. */
  readonly places: readonly [number | undefined, number | undefined];
}

/**
 * The steps of two plans by name: those of the first plan in its order, and those that only the second has after the step
 * that they follow there.
 */
export function alignSteps(first: PlanSteps, second: PlanSteps): AlignedStep[] {
  const known = new Set(first.map(({ step }) => step));
  const places = new Map(second.map(({ step }, place) => [step, place]));
  const added = new Map<string | undefined, AlignedStep[]>();
  let previous: string | undefined;
  for (const place of orderSteps(second)) {
    const name = second[place]!.step;
    if (known.has(name)) {
      previous = name;
      continue;
    }
    const followers = added.get(previous);
    const step: AlignedStep = { name, places: [undefined, place] };
    if (followers) followers.push(step);
    else added.set(previous, [step]);
  }
  const followersOf = (name: string | undefined) => added.get(name) ?? [];
  return [
    ...followersOf(undefined),
    ...orderSteps(first).flatMap((place): AlignedStep[] => {
      const name = first[place]!.step;
      return [{ name, places: [place, places.get(name)] }, ...followersOf(name)];
    }),
  ];
}

/** The number of rows with different states, by the states of all steps of both runs. */
export function countDifferent(rows: readonly AlignedStep[], first: Uint8Array, second: Uint8Array): number {
  const codeOf = (codes: Uint8Array, place: number | undefined) => (place === undefined ? undefined : codes[place]);
  return rows.filter(({ places: [a, b] }) => codeOf(first, a) !== codeOf(second, b)).length;
}
