import { useMemo } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { replaceQuery } from '../live/route.ts';
import { MAX_CELLS } from '../live/use-cells.ts';
import type { AlignedStep } from '../model/align-steps.ts';
import { type PairedCells, type PairedRow, pairRows } from '../model/paired-rows.ts';
import type { Folding } from './use-folding.ts';

/** A run with the groups that are folded in it. */
export interface FoldedRun {
  readonly run: LiveRun;
  readonly folding: Folding;
}

/** The rows of two runs, and what shows and hides cells and groups. */
export interface PairedRows {
  readonly rows: readonly PairedRow[];
  /** The names of the steps that are shown with their cells. */
  readonly unfolded: ReadonlySet<string>;
  /** Of the unfolded steps, those with more cells than are shown. */
  readonly cut: readonly string[];
  /** Shows or hides the cells of a step. */
  readonly toggle: (step: string) => void;
  readonly groups: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
  /** Of each group that is not folded, the first shown step, with the name of the group. */
  readonly firstOf: ReadonlyMap<string, string>;
  /** Folds exactly these. */
  readonly fold: (groups: Iterable<string>) => void;
  /** Folds or unfolds one. */
  readonly foldGroup: (group: string) => void;
}

/** The unfolded steps and the folded groups are part of the address. */
export function usePairedRows(runs: readonly [FoldedRun, FoldedRun], query: URLSearchParams): PairedRows {
  const [a, b] = runs;
  const key = query.get('unfold') ?? '';
  const unfolded = useMemo(() => new Set(key.split(',').filter((name) => name !== '')), [key]);
  const rows = useMemo(
    () =>
      pairRows([a.folding.view.steps, b.folding.view.steps], (step) =>
        unfolded.has(step.name) ? findCells(runs, step) : undefined,
      ),
    [a.folding.view, b.folding.view, a.run.version, b.run.version, unfolded],
  );
  const folded = new Set([...a.folding.folded, ...b.folding.folded]);
  const { fold } = a.folding;
  const toggle = (step: string) => replaceQuery({ unfold: [...withOrWithout(unfolded, step)].join() });
  const foldGroup = (group: string) => fold(withOrWithout(folded, group));
  const firstOf = useMemo(() => findFirst(rows, runs), [rows, a.folding.view, b.folding.view]);
  const cut = [...unfolded].filter((name) => runs.some((one) => countCells(one, name) > MAX_CELLS));
  const groups = new Set([...a.folding.groups, ...b.folding.groups]);
  return { ...{ rows, unfolded, cut, toggle }, ...{ groups, folded, firstOf, fold, foldGroup } };
}

function withOrWithout(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

function findFirst(rows: readonly PairedRow[], runs: readonly FoldedRun[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { step, places } of rows) {
    const group = runs
      .map(({ folding }, run) => {
        const name = folding.view.steps[places[run]?.step ?? -1]?.group;
        return name !== undefined && folding.groups.includes(name) ? name : undefined;
      })
      .find((name) => name !== undefined);
    if (group !== undefined && !first.has(group)) first.set(group, step);
  }
  return new Map([...first].map(([group, step]) => [step, group]));
}

/** Undefined for a step without cells and for a group, and while names are loaded. */
function findCells(runs: readonly [FoldedRun, FoldedRun], { name }: AlignedStep): PairedCells | undefined {
  if (runs.every((one) => countCells(one, name) <= 1)) return undefined;
  const [a, b] = runs.map(({ run }) => {
    const step = run.details!.plan.steps.findIndex((one) => one.step === name);
    const codes = run.model!.cells[step]?.subarray(0, MAX_CELLS) ?? new Uint8Array();
    return { codes, names: run.names.namesOf(step, codes.length) };
  });
  if (a?.names === undefined || b?.names === undefined) return undefined;
  return { names: [a.names, b.names], codes: [a.codes, b.codes] };
}

/** 0 for a step that the run does not have. */
function countCells({ run }: FoldedRun, name: string): number {
  const step = run.details!.plan.steps.findIndex((one) => one.step === name);
  return run.model!.cells[step]?.length ?? 0;
}
