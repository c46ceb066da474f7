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
  /** The cells, by the indexes of step and cell, that stand for an earlier success whose temporary outputs were removed. */
  readonly restored: ReadonlySet<string>;
  /** It had `--reuse`, so a value that was computed again counts as a change even if it is equal. */
  readonly isReuse: boolean;
}

/** Steps that were reused although the run has executed a step before them. */
export function findLostOrder(run: EndedRun): string[] {
  const { report, plan } = run;
  return report.steps.flatMap(({ step: name, cells }, step) => {
    if (!cells.some(({ reused }) => reused)) return [];
    const worked = [...findBefore(run, step)].filter((on) => hasWorked(run, on));
    return worked.map((on) => `${name} is reused behind ${plan.steps[on]!.step.name}, which was executed`);
  });
}

/**
 * Whether a step had a container of its own. A service always has one, so it does not count, unless it mounts a volume with
 * unknown content.
 */
export function hasWorked({ report, plan, restored }: EndedRun, step: number): boolean {
  const { step: spec } = plan.steps[step]!;
  if (spec.service !== undefined && findSharedRead(spec, plan.pipeline) === undefined) return false;
  return report.steps[step]!.cells.some(
    ({ reused, attempt }, cell) => !reused && attempt > 0 && !restored.has(`${step}/${cell}`),
  );
}

/** Every step before a step, on any path. */
function findBefore({ report, plan, isReuse }: Omit<EndedRun, 'restored'>, step: number): ReadonlySet<number> {
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
    // What is removed cannot be compared, and what is restored has another content.
    if (step.outputs.o === undefined || step.outputs.o.temporary) return [];
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
    if (run.plan.steps[on]!.step.outputs.o?.temporary) continue;
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

/** The cells of a run that were computed again only for their temporary outputs. */
export async function findRestoredCells(rig: Rig, report: RunReport): Promise<ReadonlySet<string>> {
  const restored = await findRestores(rig, report);
  return new Set(restored.flatMap(({ name, isDone }) => (isDone ? [name] : [])));
}

/** Whether a cell of a run should have been computed again only for its temporary outputs, and was not. */
export async function lacksRestored(rig: Rig, report: RunReport): Promise<boolean> {
  return (await findRestores(rig, report)).some(({ isDone }) => !isDone);
}

async function findRestores(
  rig: Rig,
  { runId }: RunReport,
): Promise<readonly { readonly name: string; readonly isDone: boolean }[]> {
  const replayed = await replayFromHome(rig.disk, '/home', runId);
  if (!replayed.ok) throw new Error(replayed.error.message);
  return replayed.value.facts.known.flatMap((cells, step) =>
    cells.flatMap(({ missed, winner }, cell) =>
      missed?.restores ? [{ name: `${step}/${cell}`, isDone: winner !== undefined }] : [],
    ),
  );
}

/**
 * Containers that did not find what they were to read, and temporary outputs that the run has written and left, although it
 * has succeeded.
 */
export async function findWrongRemovals(
  rig: Rig,
  report: RunReport,
  readsOf: (container: string) => Reads | undefined,
): Promise<string[]> {
  const { runId } = report;
  const replayed = await replayFromHome(rig.disk, '/home', runId);
  if (!replayed.ok) throw new Error(replayed.error.message);
  const run = { ...replayed.value, plan: replayed.value.facts.plan };
  return run.plan.steps.flatMap(({ index, step }) => {
    const left = [...rig.simulated.volumes.values()].flatMap(({ files }) =>
      [...files.keys()].filter(
        (file) => file.startsWith(`runs/${runId}/out/${step.name}/o/`) && file.endsWith('/data'),
      ),
    );
    const isLeft = step.outputs.o?.temporary && report.status === 'succeeded' && left.length > 0;
    const wanted = listSources(run, index);
    const unread = report.steps[index]!.cells.flatMap(({ cell, reused, attempt }) => {
      const reads = reused ? undefined : readsOf([runId, step.name, cell, attempt].join('/'));
      if (reads === undefined) return [];
      const absent = wanted.filter(({ at, writer }) => !reads.get(at)?.includes(`/${writer}/`));
      return absent.map(({ at }) => `${step.name}/${cell} has read ${reads.get(at)} at ${at}`);
    });
    return [...(isLeft ? [`${left} is left, which is temporary`] : []), ...unread];
  });
}

/** Where a step finds the output of each cell before it, and the step and cell that wrote it. */
function listSources(run: Run, step: number): { readonly at: string; readonly writer: string }[] {
  return Object.values(run.plan.steps[step]!.step.inputs).flatMap(({ from, path }) => {
    if (!('step' in from)) return [];
    const on = stepIndex(run.plan, from.step)!;
    return (run.facts.cells[on] ?? []).flatMap(({ key }, cell) => {
      if (!hasSucceeded(run, on, cell)) return [];
      return [{ at: `${isFannedOut(run, on) ? `${path}/${key}` : path}/data`, writer: `${from.step}/${key}` }];
    });
  });
}
