import { useMemo } from 'preact/hooks';
import type { PlanSteps } from '../layout/plan-shape.ts';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import { type FoldedSteps, foldHistory, foldModel, foldSteps, groupsOf } from '../model/fold-steps.ts';
import type { RunModel } from '../model/run-model.ts';

/** The steps as they are shown, and what folds and unfolds their groups. */
export interface Folding {
  readonly view: FoldedSteps;
  /** The folded groups as text: views of one plan with equal keys have the same steps. */
  readonly key: string;
  /** The names of all groups. */
  readonly groups: readonly string[];
  readonly folded: ReadonlySet<string>;
  readonly fold: (groups: Iterable<string>) => void;
}

/** The folded groups are part of the address. */
export function useFolding(steps: PlanSteps, query: URLSearchParams): Folding {
  const key = query.get('fold') ?? '';
  const groups = useMemo(() => [...groupsOf(steps).keys()], [steps]);
  const folded = useMemo(() => new Set(key.split(',').filter((name) => groups.includes(name))), [groups, key]);
  const view = useMemo(() => foldSteps(steps, folded), [steps, folded]);
  const fold = (names: Iterable<string>) => replaceQuery({ fold: [...names].join() || undefined });
  return { view, key, groups, folded, fold };
}

/** What is known of the shown steps: the same as of those of the plan, if no group is folded. */
export function foldRun(run: LiveRun, model: RunModel, { view, folded }: Pick<Folding, 'view' | 'folded'>) {
  if (folded.size === 0) return { model, history: run.history };
  return { model: foldModel(model, view), history: run.history && foldHistory(run.history, view) };
}
