import type { PlacementChoice, RunPlacement } from '../records/placement.ts';

/** The clusters on which one cell may run. */
export function choiceOf(
  { choices, ofStep }: RunPlacement,
  { step, cell }: { readonly step: number; readonly cell: number },
): PlacementChoice {
  const index = ofStep[step]!;
  return choices[typeof index === 'number' ? index : index[cell]!]!;
}

/** The different choices for the cells of a step, in the order of their first cells. */
export function choicesOf({ choices, ofStep }: RunPlacement, step: number): readonly PlacementChoice[] {
  return [...new Set([ofStep[step]!].flat())].map((index) => choices[index]!);
}
