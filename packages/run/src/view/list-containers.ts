import { scopeOn } from '../facts/place-of.ts';
import type { AttemptFacts, RunFacts } from '../facts/run-facts.ts';
import type { ViewedRun } from './viewed-run.ts';

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

/** The containers of a cell, oldest first; `step` and `cell` are indexes. */
export function listContainers({ model: { facts } }: ViewedRun, step: number, cell: number): ContainerView[] {
  return facts.known[step]?.[cell]?.attempts.flatMap((attempt) => viewContainer(facts, attempt)) ?? [];
}

function viewContainer(facts: RunFacts, attempt: AttemptFacts): ContainerView[] {
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
