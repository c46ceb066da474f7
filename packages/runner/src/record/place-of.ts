import type { Scope } from '@sluice/client';
import { own } from '@sluice/core';
import { adoptedCluster } from './adopted-attempt.ts';
import type { RunFacts } from './run-facts.ts';

/** A container of a run, or one that is to be. */
type AttemptPlace = { readonly step: number; readonly cell: number; readonly attempt: number };

/**
 * The cluster of an attempt: the one that its intent names or an adoption found it on, else the step's best, or after infrastructure failures of the
 * cell the one that comes next.
 */
export function clusterOfAttempt(facts: RunFacts, at: AttemptPlace): string {
  const { step, cell, attempt } = at;
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const intended = attempts.find((known) => known.attempt === attempt)?.clusterID ?? adoptedCluster(facts, at);
  if (intended !== undefined) return intended;
  const { placement, clusterID: home } = facts.header!;
  const clusters = placement?.choices[placement.ofStep[step]!]?.clusters ?? [home];
  const lost = attempts.filter(({ outcome }) => outcome?.result === 'failed' && outcome.class === 'infrastructure');
  return clusters[lost.length % clusters.length]!;
}

/** The account that the run uses on a cluster. */
export function scopeOn(facts: RunFacts, clusterID: string): Scope {
  const { placement, accountID } = facts.header!;
  return { clusterID, accountID: own(placement?.accounts, clusterID) ?? accountID };
}

/** The run's workspace volume on a cluster; `''` for a run that needs none. */
export function workspaceOn(facts: RunFacts, clusterID: string): string {
  return own(facts.volumes, workspaceName(facts.header!.clusterID, clusterID))?.volumeID ?? '';
}

/** The cluster of one of the run's workspaces; undefined: the volume is none of them. */
export function clusterOfWorkspace(facts: RunFacts, volumeID: string): string | undefined {
  const { placement, clusterID: home } = facts.header!;
  return [home, ...Object.keys(placement?.accounts ?? {})].find((cluster) => workspaceOn(facts, cluster) === volumeID);
}

/** What the run's volumes call the workspace on a cluster; no volume of a pipeline can have such a name. */
export function workspaceName(home: string, clusterID: string): string {
  return clusterID === home ? '' : `@${clusterID}`;
}
