import { parseDuration } from '@sluice/core';
import type { Launch } from '../engine.ts';
import { checkRuntime, type RuntimeRules, runtimeOf } from '../slurm/check-runtime.ts';
import { tasksOf } from '../tasks-of.ts';
import type { AllocationConfig } from './allocation-config.ts';

/** The part of an allocation's time limit that a container may need: at both ends, there is less time for it. */
export const USABLE_PART = 0.8;

/**
 * The runtimes whose containers can share a job. Podman's leave the processes of the job. Apptainer has not been tried: nothing
 * installs it from a package of Debian.
 */
export const ALLOCATION_RUNTIMES = ['none', 'charliecloud'] as const;

/** The part of a cluster's configuration that concerns allocations. */
export interface AllocationsOfCluster extends RuntimeRules {
  readonly allocations: AllocationConfig;
  /** Whether all containers share one job: its options cannot be chosen any more. Default: those with options get jobs. */
  readonly isOneJob?: boolean;
}

/**
 * Whether a container may run in an allocation. What only a job of its own can have does not: several tasks, Slurm's options of
 * the step, an image that only a job can run, or more time than an allocation has.
 */
export function suitsAllocation(
  launch: Pick<Launch, 'image' | 'command' | 'job' | 'mounts'>,
  { allocations, isOneJob = false, ...rules }: AllocationsOfCluster,
): boolean {
  const { job } = launch;
  if (!(ALLOCATION_RUNTIMES as readonly string[]).includes(runtimeOf(launch, rules))) return false;
  if (tasksOf({ job }).count > 1 || !canRun(launch, rules)) return false;
  if (job?.slurm !== undefined && !isOneJob) return false;
  const needMs = job?.time?.ms ?? job?.duration;
  if (needMs !== undefined && needMs > USABLE_PART * parseDuration(allocations.timeLimit)) return false;
  const { shorterThan } = allocations.when;
  const expectedMs = job?.duration ?? job?.time?.ms;
  return shorterThan === undefined || expectedMs === undefined || expectedMs <= parseDuration(shorterThan);
}

/** Whether a job would not reject it, which says why. */
function canRun(...launch: Parameters<typeof checkRuntime>): boolean {
  try {
    checkRuntime(...launch);
    return true;
  } catch {
    return false;
  }
}
