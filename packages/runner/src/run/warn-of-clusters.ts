import { FEATURES, type InstanceType } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { choicesOf, clustersOf, type RunPlacement } from '@sluice/run';
import { announcesFeature } from '../placement/announces-feature.ts';
import type { RunSession } from '../session/run-session.ts';
import { warn } from '../session/warn.ts';

/** Warns of each cluster of the run that does not do what its steps need or request. */
export function warnOfClusters(session: RunSession, instanceTypes: readonly InstanceType[]): void {
  const header = session.facts.header!;
  for (const clusterID of clustersOf(header)) {
    if (!announcesFeature(FEATURES.unlimitedMemory, { instanceTypes, clusterID })) continue;
    warn(
      session,
      `cluster ${clusterID} does not limit memory: a step that uses more than its instance type has does not fail, and can take memory from others; see 'sluice doctor' on the service's machine`,
    );
  }
  const source = { plan: session.plan, home: header.clusterID, placement: header.placement, instanceTypes };
  for (const message of findIgnoredOptions(source)) warn(session, message);
}

/** What the options of containers depend on. */
interface OptionSource {
  readonly plan: Plan;
  /** The cluster of steps without a placement. */
  readonly home: string;
  readonly placement: RunPlacement | undefined;
  readonly instanceTypes: readonly InstanceType[];
}

/** One message for each cluster that ignores `docker` of steps that it can run. */
export function findIgnoredOptions({ plan, home, placement, instanceTypes }: OptionSource): readonly string[] {
  const ignored = new Map<string, string[]>();
  for (const { index, step } of plan.steps) {
    if (step.docker === undefined) continue;
    const chosen = placement === undefined ? [] : choicesOf(placement, index).flatMap(({ clusters }) => clusters);
    for (const clusterID of new Set(chosen.length === 0 ? [home] : chosen)) {
      if (announcesFeature(FEATURES.dockerOptions, { instanceTypes, clusterID })) continue;
      ignored.set(clusterID, [...(ignored.get(clusterID) ?? []), step.name]);
    }
  }
  return [...ignored].map(([clusterID, [first, ...more]]) => {
    const rest = more.length === 0 ? '' : ` and ${more.length} more`;
    return `cluster ${clusterID} does not run containers with Docker or Podman, and ignores 'docker' of step ${first}${rest}`;
  });
}
