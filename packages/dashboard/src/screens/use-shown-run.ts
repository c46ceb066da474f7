import type { RunDetails } from '@sluice/host';
import { useMemo } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import type { CellSearch } from '../live/use-cell-search.ts';
import { findCriticalMarks } from '../model/critical-marks.ts';
import type { RunModel } from '../model/run-model.ts';
import { type Folding, foldRun, useFolding } from './use-folding.ts';
import { useShownSteps } from './use-shown-steps.ts';

interface ShownOptions {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly query: URLSearchParams;
  readonly search: CellSearch;
  readonly expanded: ReadonlyMap<number, number>;
  readonly toggle: (step: number) => void;
}

/** A run whose groups may be folded: all indexes are those of the shown steps. */
export interface ShownRun extends ReturnType<typeof foldRun> {
  readonly folding: Folding;
  readonly steps: Folding['view']['steps'];
  readonly expanded: ReadonlyMap<number, number>;
  readonly shown: Uint8Array;
  readonly critical: ReadonlySet<number>;
  /** Shows or hides the cells of a step, or unfolds a group. */
  readonly toggle: (step: number) => void;
  /** Folds the group that a step belongs to, or unfolds it. */
  readonly foldGroupOf: (step: number) => void;
}

/** What graph and timeline show of a run. */
export function useShownRun({ run, details, model, query, search, ...cells }: ShownOptions): ShownRun {
  const plan = details.plan.steps;
  const folding = useFolding(plan, query);
  const { view, folded, fold } = folding;
  const shownOfPlan = useShownSteps(plan, model, { query, search });
  const shown = useMemo(
    () =>
      folded.size === 0
        ? shownOfPlan
        : Uint8Array.from(view.members, (all) => (all.some((step) => shownOfPlan[step] === 1) ? 1 : 0)),
    [view, folded, shownOfPlan],
  );
  const expanded = useMemo(() => {
    const entries = [...cells.expanded].map(([step, count]) => [view.shownAs[step]!, count] as const);
    return new Map(entries.filter(([step]) => view.members[step]!.length === 1));
  }, [view, cells.expanded]);
  const critical = useMemo(() => findCriticalMarks(details, view).steps, [details, view]);
  const foldGroupOf = (step: number) => {
    const name = plan[view.members[step]![0]!]!.group;
    if (name === undefined || !folding.groups.includes(name)) return;
    fold(folded.has(name) ? [...folded].filter((one) => one !== name) : [...folded, name]);
  };
  const toggle = (step: number) => {
    const members = view.members[step]!;
    if (members.length > 1) foldGroupOf(step);
    else cells.toggle(members[0]!);
  };
  return {
    folding,
    steps: view.steps,
    ...foldRun(run, model, folding),
    expanded,
    shown,
    critical,
    toggle,
    foldGroupOf,
  };
}
