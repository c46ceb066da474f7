import { isFannedOutStep, type Plan } from '@sluice/core';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { hasSucceeded } from './has-succeeded.ts';
import { publishedPath } from './layout.ts';
import { clusterOfWorkspace, workspaceOn } from './place-of.ts';
import type { RunFacts } from './run-facts.ts';

/** What is needed to locate outputs: the parts of a running or a replayed run. */
export interface OutputSource {
  readonly runId: string;
  readonly plan: Plan;
  readonly facts: RunFacts;
}

/** The run, step and cell whose container wrote a cell's outputs, and the workspace in which they were published. */
export interface CellOrigin {
  readonly runId: string;
  readonly step: string;
  /** Key of the cell in that run; `''` for a plain step. */
  readonly cell: string;
  readonly clusterID: string;
  readonly volumeID: string;
}

/** A directory of a volume. */
export interface OutputPlace {
  readonly clusterID: string;
  readonly volumeID: string;
  readonly path: string;
}

/**
 * Finds the origin of one cell's outputs: this run, or the run whose outputs the cell reuses. The cells of one step may
 * have origins in several runs and on several clusters, so one cell's origin says nothing about another's.
 */
export function findOrigin({ runId, plan, facts }: OutputSource, step: number, cell: number): CellOrigin {
  const known = facts.known[step]?.[cell];
  const home = facts.header!.clusterID;
  if (known?.cached) {
    const { cached } = known;
    const clusterID = clusterOfWorkspace(facts, cached.volumeID) ?? home;
    return { runId: cached.runId, step: cached.step, cell: cached.cell, clusterID, volumeID: cached.volumeID };
  }
  const clusterID = known?.attempts.find(({ attempt }) => attempt === known.winner)?.clusterID ?? home;
  return {
    runId,
    step: plan.steps[step]!.step.name,
    cell: facts.cells[step]?.[cell]?.key ?? '',
    clusterID,
    volumeID: workspaceOn(facts, clusterID),
  };
}

/** The directory of one cell's output. It exists only if `hasSucceeded`. */
export function locateOutput(
  run: OutputSource,
  { step, cell, output }: { readonly step: number; readonly cell: number; readonly output: string },
): OutputPlace {
  const { clusterID, volumeID, ...origin } = findOrigin(run, step, cell);
  return { clusterID, volumeID, path: publishedPath({ ...origin, output }) };
}

/** The output of each cell that has one, in the order of the cells. A plain step has one entry, with key `''`. */
export function locateCells(
  run: OutputSource & { readonly scheduler: Scheduler },
  { step, output }: { readonly step: number; readonly output: string },
): (OutputPlace & { readonly cell: string })[] {
  return (run.facts.cells[step] ?? []).flatMap(({ key }, cell) =>
    hasSucceeded(run, step, cell) ? [{ cell: key, ...locateOutput(run, { step, cell, output }) }] : [],
  );
}

/** Whether a step has one output directory for each cell. */
export function isFannedOut({ plan }: Pick<OutputSource, 'plan'>, step: number): boolean {
  return isFannedOutStep(plan.steps[step]!.step);
}
