import type { Plan } from '@sluice/core';
import { listPublished } from '../data/list-published.ts';
import { findOutside } from '../trees/target-fault.ts';

/** A plan, and where its outputs may be published. */
export interface PublishRule {
  readonly plan: Plan;
  readonly baseDir: string;
  /** As in `StartRunOptions`. */
  readonly publishBelow?: string | undefined;
}

/** Why an output is published where the run may not; undefined if there is none. */
export async function findOutsideOutput({ plan, baseDir, publishBelow }: PublishRule): Promise<string | undefined> {
  if (publishBelow === undefined) return undefined;
  for (const [name, to] of Object.entries(listPublished(plan, baseDir))) {
    const fault = await findOutside(to, publishBelow);
    if (fault !== undefined) return `could not use ${to} for output ${name}: ${fault}`;
  }
  return undefined;
}
