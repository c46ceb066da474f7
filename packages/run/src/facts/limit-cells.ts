import { own } from '@sluice/core';
import type { PlacementChoice, RunPlacement, SiteLimits } from '../records/placement.ts';
import type { SchedulerOptions } from '../scheduler/model/scheduler-options.ts';
import { choiceOf } from './choice-of.ts';

/** The site's limits for the scheduler. A cell counts against the first cluster of its placement. */
export function limitCells(limits: SiteLimits, placement: RunPlacement): NonNullable<SchedulerOptions['limits']> {
  const limitsOf = ({ clusters: [cluster = ''], instanceType }: PlacementChoice) => {
    const found: { readonly key: string; readonly size: number }[] = [];
    const ofCluster = own(limits.clusters, cluster);
    if (ofCluster !== undefined) found.push({ key: `cluster ${cluster}`, size: ofCluster });
    const ofType = instanceType === undefined ? undefined : own(limits.instanceTypes, instanceType);
    if (ofType !== undefined) found.push({ key: `instance type ${instanceType}`, size: ofType });
    return found;
  };
  const ofChoice = new Map(placement.choices.map((choice) => [choice, limitsOf(choice)]));
  return (step, cell) => ofChoice.get(choiceOf(placement, { step, cell }))!;
}
