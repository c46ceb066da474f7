import type { Json } from '@sluice/core';
import { hasSucceeded } from '../facts/has-succeeded.ts';
import { attemptOutputPath, attemptPath } from '../facts/layout.ts';
import { locateOutput } from '../facts/locate-output.ts';
import { clusterOfAttempt, scopeOn, workspaceOn } from '../facts/place-of.ts';
import type { AttemptFacts } from '../facts/run-facts.ts';
import { stepIndex } from '../facts/step-context.ts';
import { cellStatus, type StatusReport } from '../report/cell-status.ts';
import { explainCell } from '../report/explain-cell.ts';
import { type ExposedPort, exposedPorts } from '../report/exposed-ports.ts';
import { itemOf } from '../report/item-of.ts';
import type { ViewedRun } from './viewed-run.ts';

/** A cell of a followed run. Times are in milliseconds since the Unix epoch. */
export interface CellView extends StatusReport {
  readonly step: string;
  /** `''` for a plain step. */
  readonly cell: string;
  readonly item?: Json;
  /** The values of the matrix, by axis; empty for other steps. */
  readonly matrix: Readonly<Record<string, Json>>;
  /** The number of attempts so far. */
  readonly attempt: number;
  /** Why it waits, was skipped or failed. */
  readonly message?: string;
  readonly reusedFrom?: string;
  /** The exposed ports of a cell that runs, by name. */
  readonly ports?: Readonly<Record<string, ExposedPort>>;
  readonly results: Readonly<Record<string, Json>>;
  /** Oldest first; only those for which a container was requested. */
  readonly containers: readonly ContainerView[];
}

/** The container of an attempt. */
export interface ContainerView {
  readonly attempt: number;
  readonly containerId: string;
  readonly clusterId: string;
  readonly accountId: string;
  readonly submittedAt?: number;
  readonly runningAt?: number;
  readonly endedAt?: number;
  /** The archived log, relative to the run's directory. */
  readonly logFile?: string;
}

/** A directory of a volume. */
export interface DataPlace {
  readonly clusterId: string;
  readonly accountId: string;
  readonly volumeId: string;
  readonly path: string;
}

/** A cell that exists; `step` and `cell` are indexes. */
export function viewCell({ model }: ViewedRun, step: number, cell: number): CellView {
  const { facts, scheduler } = model;
  const known = facts.known[step]?.[cell];
  const message = explainCell(model, step, cell);
  const containers = known?.attempts.flatMap((attempt) => viewContainer(model, attempt)) ?? [];
  return {
    step: facts.plan.steps[step]!.step.name,
    cell: facts.cells[step]?.[cell]?.key ?? '',
    ...itemOf(facts, step, cell),
    matrix: facts.cells[step]?.[cell]?.matrix ?? {},
    ...cellStatus(model, step, cell),
    attempt: containers.length === 0 ? 0 : scheduler.attempt(step, cell),
    ...(message !== undefined && { message }),
    ...(known?.cached && { reusedFrom: known.cached.runId }),
    ...exposedPorts(model, step, cell),
    results: known?.results ?? {},
    containers,
  };
}

function viewContainer({ facts }: ViewedRun['model'], attempt: AttemptFacts): ContainerView[] {
  const { id, clusterID, submittedAt, runningAt, endedAt, logFile } = attempt;
  if (id === undefined || clusterID === undefined) return [];
  return [
    {
      ...{ attempt: attempt.attempt, containerId: id, clusterId: clusterID },
      accountId: scopeOn(facts, clusterID).accountID,
      ...(submittedAt !== undefined && { submittedAt }),
      ...(runningAt !== undefined && { runningAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(logFile !== undefined && { logFile }),
    },
  ];
}

/**
 * Where an output of a cell is: published, or in the directory of its last attempt, which may have failed or still run.
 * Undefined if no container could have written it.
 */
export function findOutputPlace(
  { runId, model }: ViewedRun,
  of: { readonly step: number; readonly cell: number; readonly output: string },
): DataPlace | undefined {
  const { facts } = model;
  const { step, cell, output } = of;
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
export function findInputPlaces(
  run: ViewedRun,
  { step, input }: { readonly step: number; readonly input: string },
): { readonly cell: string; readonly place: DataPlace }[] {
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
    const place = findOutputPlace(run, { step: source, cell, output: from.output });
    if (place === undefined) return [];
    const path = from.path === undefined ? place.path : `${place.path}/${from.path}`;
    return [{ cell: key, place: { ...place, path } }];
  });
}

function toPlace(
  { facts }: ViewedRun['model'],
  place: { readonly clusterID: string; readonly volumeID: string; readonly path: string },
): DataPlace {
  const { clusterID, accountID } = scopeOn(facts, place.clusterID);
  return { clusterId: clusterID, accountId: accountID, volumeId: place.volumeID, path: place.path };
}
