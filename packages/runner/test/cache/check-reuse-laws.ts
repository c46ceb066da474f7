import { findSharedRead, type Plan } from '@sluice/core';
import { replayFromHome } from '@sluice/home';
import { hasSucceeded, isFannedOut, locateOutput, type ReplayedRun, type RunReport, stepIndex } from '@sluice/run';
import type { Rig } from '../simulation/rig.ts';

/** The content that a program has read, by path. */
export type Reads = ReadonlyMap<string, string>;

/** A run that has ended, with the data to check it. */
export interface EndedRun {
  readonly report: RunReport;
  readonly plan: Plan;
  /** It had `--reuse`, so a value that was computed again counts as a change even if it is equal. */
  readonly isReuse: boolean;
}

/** Steps that were reused although the run has executed a step before them. */
export function findLostOrder({ report, plan, isReuse }: EndedRun): string[] {
  return report.steps.flatMap(({ step: name, cells }, step) => {
    if (!cells.some(({ reused }) => reused)) return [];
    const worked = [...findBefore({ report, plan, isReuse }, step)].filter((on) => hasWorked({ report, plan }, on));
    return worked.map((on) => `${name} is reused behind ${plan.steps[on]!.step.name}, which was executed`);
  });
}

/**
 * Whether a step had a container of its own. A service always has one, so it does not count, unless it mounts a volume with
 * unknown content.
 */
export function hasWorked({ report, plan }: Pick<EndedRun, 'report' | 'plan'>, step: number): boolean {
  const { step: spec } = plan.steps[step]!;
  if (spec.service !== undefined && findSharedRead(spec, plan.pipeline) === undefined) return false;
  return report.steps[step]!.cells.some(({ reused, attempt }) => !reused && attempt > 0);
}

/** Every step before a step, on any path. */
function findBefore({ report, plan, isReuse }: EndedRun, step: number): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [step];
  for (const at of open) {
    const { cells } = report.steps[at]!;
    const isTaken = cells.length > 0 && cells.every(({ reused }) => reused === true);
    for (const { on } of plan.steps[at]!.dependencies) {
      // With the cache, a value that a reused step has read is identified by its content.
      if (found.has(on) || (!isReuse && isTaken && isValue(plan, at, on))) continue;
      found.add(on);
      open.push(on);
    }
  }
  return found;
}

/** Whether a step reads only the results of another one. */
function isValue(plan: Plan, step: number, on: number): boolean {
  const { step: spec, dependencies } = plan.steps[step]!;
  const { name } = plan.steps[on]!.step;
  const edge = dependencies.find((one) => one.on === on)!;
  const texts = JSON.stringify([spec.command, spec.foreach, spec.when]);
  const named = [...texts.matchAll(new RegExp(`steps\\.${name}\\.(\\w+)`, 'g'))].map((match) => match[1]);
  const isNeeded = edge.data || spec.needs.some((need) => need.step === name);
  return !isNeeded && named.length > 0 && named.every((aspect) => aspect === 'results');
}

/**
 * Cells whose outputs were created from other inputs than the outputs that this run has of the steps before. The content of
 * each output is unique, so only the right attempt matches.
 */
export async function findMixedContents(
  rig: Rig,
  { runId }: RunReport,
  readsOf: (content: string) => Reads | undefined,
): Promise<string[]> {
  const replayed = await replayFromHome(rig.disk, '/home', runId);
  if (!replayed.ok) throw new Error(replayed.error.message);
  const run = { ...replayed.value, plan: replayed.value.facts.plan };
  const { plan } = run;
  return plan.steps.flatMap(({ index, step }) => {
    if (step.outputs.o === undefined) return [];
    const present = [...findPresent(rig, run, index)];
    const seen = new Set<string | undefined>();
    return (run.facts.cells[index] ?? []).flatMap(({ key }, cell) => {
      if (!hasSucceeded(run, index, cell)) return [];
      const content = readContent(rig, run, { step: index, cell });
      if (seen.has(content)) return [`${step.name}/${key} has the content of another cell`];
      seen.add(content);
      const reads = content === undefined ? undefined : readsOf(content);
      const mixed = present.filter(([at, text]) => reads?.get(at) !== text);
      return mixed.map(([at, text]) => `${step.name}/${key} was made of ${reads?.get(at)} at ${at}, which is ${text}`);
    });
  });
}

type Run = ReplayedRun & { readonly plan: Plan };

/** The content that the run has at each path that a step mounts. */
function findPresent(rig: Rig, run: Run, step: number): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const { from, path } of Object.values(run.plan.steps[step]!.step.inputs)) {
    if (!('step' in from)) continue;
    const on = stepIndex(run.plan, from.step)!;
    for (const [cell, { key }] of (run.facts.cells[on] ?? []).entries()) {
      if (!hasSucceeded(run, on, cell)) continue;
      const at = isFannedOut(run, on) ? `${path}/${key}` : path;
      found.set(`${at}/data`, readContent(rig, run, { step: on, cell }));
    }
  }
  return found;
}

function readContent(rig: Rig, run: Run, of: { readonly step: number; readonly cell: number }): string | undefined {
  const { volumeID, path } = locateOutput(run, { ...of, output: 'o' });
  const bytes = rig.simulated.volumes.get(volumeID)?.files.get(`${path}/data`);
  return bytes && Buffer.from(bytes).toString();
}
