import type { RunDetails } from '@sluice/host';
import { countsOf, type RunModel, stepCodes } from './run-model.ts';
import { isFinished, STATUSES } from './statuses.ts';

/** Which steps are shown. */
export interface StepFilter {
  readonly search: string;
  readonly isHiding: boolean;
  /** The steps whose cells the search has found. */
  readonly withCells: ReadonlySet<number>;
}

/** What a search finds of each step, apart from its state. */
export function searchTexts(steps: RunDetails['plan']['steps']): readonly string[] {
  return steps.map(({ step: name, image = '', kind, instanceType = '' }) =>
    `${name} ${image} ${kind} ${instanceType}`.toLowerCase(),
  );
}

/**
 * For each step 1 if it is shown: if every word of the search is in its text or in a state of one of its cells, or the
 * search has found cells of it; and, when finished steps are hidden, it has not finished.
 */
export function filterSteps(
  texts: readonly string[],
  model: RunModel,
  { search, isHiding, withCells }: StepFilter,
): Uint8Array {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0 && !isHiding) return new Uint8Array(texts.length).fill(1);
  const codes = stepCodes(model);
  return Uint8Array.from(texts, (text, step) => {
    if (isHiding && isFinished(codes[step]!)) return 0;
    if (withCells.has(step)) return 1;
    const counts = countsOf(model, step);
    return words.every((word) => text.includes(word) || hasState(counts, word)) ? 1 : 0;
  });
}

function hasState(counts: Uint32Array, word: string): boolean {
  return STATUSES.some(({ label }, code) => counts[code]! > 0 && label.includes(word));
}
