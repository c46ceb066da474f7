import { cellPath, isFannedOutStep, type Plan } from '@sluice/core';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { hasSucceeded } from './has-succeeded.ts';
import { publishedPath } from './layout.ts';
import { cellsInOrder } from './listed-cells.ts';
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
  /** Path of its outputs below the directory of all cells. */
  readonly path: string;
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
    const { volumeID, path = cached.cell } = cached;
    return { runId: cached.runId, step: cached.step, cell: cached.cell, path, clusterID, volumeID };
  }
  const clusterID = known?.attempts.find(({ attempt }) => attempt === known.winner)?.clusterID ?? home;
  return {
    runId,
    step: plan.steps[step]!.step.name,
    cell: facts.cells[step]?.[cell]?.key ?? '',
    path: cellPath(plan, step, facts.cells[step]?.[cell]),
    clusterID,
    volumeID: workspaceOn(facts, clusterID),
  };
}

/** The place of a cell's outputs for a run that reuses them: the volume, and the path where it is not the key of the cell. */
export function placeOf(
  run: OutputSource,
  step: number,
  cell: number,
): { readonly volumeID: string; readonly path?: string } {
  const { volumeID, path, cell: key } = findOrigin(run, step, cell);
  return { volumeID, ...(path !== key && { path }) };
}

/** The directory of one cell's output. It exists only if `hasSucceeded`. */
export function locateOutput(
  run: OutputSource,
  { step, cell, output }: { readonly step: number; readonly cell: number; readonly output: string },
): OutputPlace {
  const { clusterID, volumeID, runId, step: name, path } = findOrigin(run, step, cell);
  return { clusterID, volumeID, path: publishedPath({ runId, step: name, output, cell: path }) };
}

/** The output of each of these cells (default: all) that has one, in their order. A plain step has one entry, with key `''`. */
export function locateCells(
  run: OutputSource & { readonly scheduler: Scheduler },
  { step, output, cells }: { readonly step: number; readonly output: string; readonly cells?: readonly number[] },
): (OutputPlace & { readonly cell: string })[] {
  const all = run.facts.cells[step] ?? [];
  return (cells ?? cellsInOrder(run.facts, step)).flatMap((cell) =>
    hasSucceeded(run, step, cell) ? [{ cell: all[cell]!.key, ...locateOutput(run, { step, cell, output }) }] : [],
  );
}

/** Whether a step has one output directory for each cell. */
export function isFannedOut({ plan }: Pick<OutputSource, 'plan'>, step: number): boolean {
  return isFannedOutStep(plan.steps[step]!.step);
}
