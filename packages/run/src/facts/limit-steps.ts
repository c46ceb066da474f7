import { own } from '@sluice/core';
import type { RunPlacement, SiteLimits } from '../records/placement.ts';
import type { SchedulerOptions } from '../scheduler/model/scheduler-options.ts';

/** The site's limits for the scheduler. A step counts against the first cluster of its placement. */
export function limitSteps(limits: SiteLimits, placement: RunPlacement): NonNullable<SchedulerOptions['limits']> {
  const ofChoice = placement.choices.map(({ clusters: [cluster = ''], instanceType }) => {
    const found: { readonly key: string; readonly size: number }[] = [];
    const ofCluster = own(limits.clusters, cluster);
    if (ofCluster !== undefined) found.push({ key: `cluster ${cluster}`, size: ofCluster });
    const ofType = instanceType === undefined ? undefined : own(limits.instanceTypes, instanceType);
    if (ofType !== undefined) found.push({ key: `instance type ${instanceType}`, size: ofType });
    return found;
  });
  return (step) => ofChoice[placement.ofStep[step]!]!;
}
