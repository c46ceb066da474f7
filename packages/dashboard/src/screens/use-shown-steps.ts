import { useMemo, useRef } from 'preact/hooks';
import type { PlanSteps } from '../layout/plan-shape.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { filterSteps, searchTexts } from '../model/filter-steps.ts';
import type { RunModel } from '../model/run-model.ts';

/**
 * For each step 1, or 0 if the search or the filter of a screen leaves it out. The same list until something in it changes,
 * so that what depends on it is not computed again for each event.
 */
export function useShownSteps(
  steps: PlanSteps,
  model: RunModel,
  { query, search: { value } }: { readonly query: URLSearchParams; readonly search: CellSearch },
): Uint8Array {
  const texts = useMemo(() => searchTexts(steps), [steps]);
  const [search, isHiding] = [query.get('q') ?? '', query.get('hide') === 'finished'];
  const withCells = useMemo(() => new Set(value?.steps.map(({ stepIndex }) => stepIndex)), [value]);
  const last = useRef<Uint8Array>(new Uint8Array());
  return useMemo(() => {
    const shown = filterSteps(texts, model, { search, isHiding, withCells });
    const isSame = shown.length === last.current.length && shown.every((value, step) => value === last.current[step]);
    if (!isSame) last.current = shown;
    return last.current;
  }, [texts, model, model.version, search, isHiding, withCells]);
}
