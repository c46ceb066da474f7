import { FEATURES, type InstanceType } from '@sluice/client';
import { clustersOf } from '@sluice/run';
import { announcesFeature } from '../placement/announces-feature.ts';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';

/** Warns of each cluster of the run that does not hold containers to the memory of their instance type. */
export function warnOfUnlimitedMemory(session: RunSession, instanceTypes: readonly InstanceType[]): void {
  for (const clusterID of clustersOf(session.facts.header!)) {
    if (!announcesFeature(FEATURES.unlimitedMemory, { instanceTypes, clusterID })) continue;
    warn(
      session,
      `cluster ${clusterID} does not limit memory: a step that uses more than its instance type has does not fail, and can take memory from others; see 'sluice doctor' on the service's machine`,
    );
  }
}
