import { own } from '@sluice/core';
import type { RunPlacement } from '../records/placement.ts';
import { adoptedCluster } from './adopted-attempt.ts';
import { choiceOf } from './choice-of.ts';
import type { RunFacts } from './run-facts.ts';

/** Indexes of an attempt, whether or not its container exists. */
type AttemptPlace = { readonly step: number; readonly cell: number; readonly attempt: number };

/**
 * The cluster of an attempt: that of its intent, or on which the adoption found it. Otherwise the first of the cell's
 * placement, or after n infrastructure failures of the cell the n-th after it, cyclically.
 */
export function clusterOfAttempt(facts: RunFacts, at: AttemptPlace): string {
  const { step, cell, attempt } = at;
  const attempts = facts.known[step]?.[cell]?.attempts ?? [];
  const intended = attempts.find((known) => known.attempt === attempt)?.clusterID ?? adoptedCluster(facts, at);
  if (intended !== undefined) return intended;
  const { placement, clusterID: home } = facts.header!;
  const clusters = placement ? choiceOf(placement, at).clusters : [home];
  const lost = attempts.filter(({ outcome }) => outcome?.result === 'failed' && outcome.class === 'infrastructure');
  return clusters[lost.length % clusters.length]!;
}

/** The clusters on which the run's cells may run, its own first, each once. */
export function clustersOf({
  clusterID,
  placement,
}: {
  readonly clusterID: string;
  readonly placement?: RunPlacement | undefined;
}): readonly string[] {
  return [...new Set([clusterID, ...Object.keys(placement?.accounts ?? {})])];
}

/** The account that the run uses on a cluster. */
export function scopeOn(
  facts: RunFacts,
  clusterID: string,
): { readonly clusterID: string; readonly accountID: string } {
  const { placement, accountID } = facts.header!;
  return { clusterID, accountID: own(placement?.accounts, clusterID) ?? accountID };
}

/** The run's workspace volume on a cluster; `''` if the run needs none. */
export function workspaceOn(facts: RunFacts, clusterID: string): string {
  return own(facts.volumes, workspaceName(facts.header!.clusterID, clusterID))?.volumeID ?? '';
}

/** The cluster of one of the run's workspaces; undefined for any other volume. */
export function clusterOfWorkspace(facts: RunFacts, volumeID: string): string | undefined {
  return clustersOf(facts.header!).find((cluster) => workspaceOn(facts, cluster) === volumeID);
}

/** The key of a cluster's workspace in the run's volumes; no volume of a pipeline can have such a name. */
export function workspaceName(home: string, clusterID: string): string {
  return clusterID === home ? '' : `@${clusterID}`;
}
