import { durationSchema } from '@sluice/core';
import { z } from 'zod';

/** `allocations` of a cluster with `engine: slurm`: jobs whose nodes run many containers. */
export const allocationConfigSchema = z.strictObject({
  /** The nodes of each, which begin together. A container runs on one of them. */
  nodes: z.int().min(1).max(1000).default(1),
  /** Slurm's time limit of each. */
  timeLimit: durationSchema({ min: '1m', max: '30d' }).default('1h'),
  /** The most at a time, of each account. */
  max: z.int().min(1).max(1000).default(4),
  /** The most of them that wait in Slurm's queue at a time, of each account. */
  backlog: z.int().min(1).max(1000).default(1),
  /** One that has nothing to do for so long ends. */
  idleTimeout: durationSchema({ min: '1s', max: '1d' }).default('5m'),
  /** Another one is submitted when what waits would use at least this part of its cores. The first is submitted at once. */
  minUtilization: z.number().min(0).max(1).default(0.5),
  /** The containers that run in allocations. Others are jobs of their own. */
  when: z
    .strictObject({
      /** The expected duration, or else the time limit, of a container. One with neither runs in an allocation, too. */
      shorterThan: durationSchema({ min: '1s', max: '30d' }).optional(),
    })
    .default({}),
});
/** The checked configuration, with all defaults filled in. */
export type AllocationConfig = z.infer<typeof allocationConfigSchema>;
