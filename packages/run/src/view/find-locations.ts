import { hasSucceeded } from '../facts/has-succeeded.ts';
import { isRemoved } from '../facts/is-removed.ts';
import { attemptOutputPath, attemptPath } from '../facts/layout.ts';
import { locateOutput } from '../facts/locate-output.ts';
import { clusterOfAttempt, scopeOn, workspaceOn } from '../facts/place-of.ts';
import { stepIndex } from '../facts/step-context.ts';
import type { DataLocation } from '../schemas/output.ts';
import type { ViewedRun } from './viewed-run.ts';

/**
 * Where an output of a cell is: published, or in the directory of its last attempt, which may have failed or still run.
 * Undefined if no container could have written it, or if it was removed as temporary.
 */
export function findOutputLocation(
  { runId, model }: ViewedRun,
  of: { readonly step: number; readonly cell: number; readonly output: string },
): DataLocation | undefined {
  const { facts } = model;
  const { step, cell, output } = of;
  if (isRemoved(facts, of)) return undefined;
  if (hasSucceeded(model, step, cell)) {
    return toPlace(model, locateOutput({ runId, plan: facts.plan, facts }, of));
  }
  const last = facts.known[step]?.[cell]?.attempts.at(-1);
  if (last?.id === undefined) return undefined;
  const { attempt } = last;
  const name = { runId, step: facts.plan.steps[step]!.step.name, cell: facts.cells[step]?.[cell]?.key ?? '', attempt };
  const clusterID = clusterOfAttempt(facts, { step, cell, attempt });
  const path = attemptOutputPath(attemptPath(name), output);
  return toPlace(model, { clusterID, volumeID: workspaceOn(facts, clusterID), path });
}

/** Where the input of a step comes from: the output of each cell of a step, or one path in an output or a volume. */
export function findInputLocations(
  run: ViewedRun,
  { step, input }: { readonly step: number; readonly input: string },
): { readonly cell: string; readonly place: DataLocation }[] {
  const { facts } = run.model;
  const found = Object.entries(facts.plan.steps[step]!.step.inputs).find(([name]) => name === input)?.[1];
  if (found === undefined) return [];
  const { from } = found;
  if ('volume' in from) {
    const volume = Object.entries(facts.volumes).find(([name]) => name === from.volume)?.[1];
    if (volume === undefined) return [];
    const path = [volume.path, from.path].filter((part) => part !== '').join('/');
    return [
      { cell: '', place: toPlace(run.model, { clusterID: facts.header.clusterID, volumeID: volume.volumeID, path }) },
    ];
  }
  const source = stepIndex(facts.plan, from.step);
  if (source === undefined) return [];
  return (facts.cells[source] ?? []).flatMap(({ key }, cell) => {
    if (!hasSucceeded(run.model, source, cell)) return [];
    const place = findOutputLocation(run, { step: source, cell, output: from.output });
    if (place === undefined) return [];
    const path = from.path === undefined ? place.path : `${place.path}/${from.path}`;
    return [{ cell: key, place: { ...place, path } }];
  });
}

function toPlace(
  { facts }: ViewedRun['model'],
  place: { readonly clusterID: string; readonly volumeID: string; readonly path: string },
): DataLocation {
  const { clusterID, accountID } = scopeOn(facts, place.clusterID);
  return { clusterId: clusterID, accountId: accountID, volumeId: place.volumeID, path: place.path };
}
