import { parseDuration } from '@sluice/core';
import type { Launch } from '../engine.ts';
import type { SlurmConfig } from '../slurm/slurm-config.ts';
import { tasksOf } from '../tasks-of.ts';
import type { AllocationConfig } from './allocation-config.ts';

/** The part of an allocation's time limit that a container may need: at both ends, there is less time for it. */
export const USABLE_PART = 0.8;

/** The part of a cluster's configuration that concerns allocations. */
export interface AllocationsOfCluster extends Pick<SlurmConfig, 'runtime'> {
  readonly allocations: AllocationConfig;
}

/**
 * Whether a container may run in an allocation. What only a job of its own can have does not: an image, several tasks,
 * Slurm's options of the step, or more time than an allocation has.
 */
export function suitsAllocation(
  { image, command, job }: Pick<Launch, 'image' | 'command' | 'job'>,
  { runtime, allocations }: AllocationsOfCluster,
): boolean {
  if (runtime !== 'none' || tasksOf({ job }).count > 1) return false;
  if (image !== undefined || command.length === 0 || job?.slurm !== undefined) return false;
  const needMs = job?.time?.ms ?? job?.duration;
  if (needMs !== undefined && needMs > USABLE_PART * parseDuration(allocations.timeLimit)) return false;
  const { shorterThan } = allocations.when;
  const expectedMs = job?.duration ?? job?.time?.ms;
  return shorterThan === undefined || expectedMs === undefined || expectedMs <= parseDuration(shorterThan);
}
