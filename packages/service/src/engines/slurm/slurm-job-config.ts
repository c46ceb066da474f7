import { z } from 'zod';
import { allocationConfigSchema } from '../allocation/allocation-config.ts';
import { ALLOCATION_RUNTIMES, type AllocationsOfCluster } from '../allocation/suits-allocation.ts';
import { type SlurmConfig, slurmConfigSchema } from './slurm-config.ts';

const count = z.int().min(1);

/** What a user can set of the engine `slurm-job`. */
export const slurmJobOptionsSchema = z.strictObject({
  /** The program that runs images on the nodes; `none` runs commands directly on the node's file system. */
  runtime: z.enum(ALLOCATION_RUNTIMES, `must be ${ALLOCATION_RUNTIMES.join(' or ')}`).default('none'),
});

/** The options of the engine `slurm-job`: the job in which the service runs. The service finds out by itself what a user cannot set. */
export const slurmJobConfigSchema = z.strictObject({
  ...slurmJobOptionsSchema.shape,
  id: z.string().regex(/^\d+$/),
  nodes: z.array(
    z.strictObject({ name: z.string().regex(/^[\w.-]+$/), cores: count, memoryMB: count, gpus: z.int().min(0) }),
  ),
  /** When it ends, in milliseconds since the epoch, and its time limit; absent: it has none. */
  endsAt: z.number().exactOptional(),
  limitMs: z.number().exactOptional(),
});
/** The job, with what it has of each of its nodes. */
export type SlurmJobConfig = z.infer<typeof slurmJobConfigSchema>;

/** An allocation that has nothing to do ends: a further one is started within a second. */
const IDLE = '1m';

/** The allocations of a job: one for each node, all as soon as containers wait. */
export function allocationsOfJob({
  nodes,
  runtime,
  limitMs = Infinity,
}: SlurmJobConfig): SlurmConfig & AllocationsOfCluster {
  const seconds = Math.ceil(limitMs / 1000);
  const timeLimit = `${Math.min(30 * 86_400, Math.max(60, seconds))}s`;
  const max = Math.max(1, nodes.length);
  const allocations = { timeLimit, max, backlog: max, idleTimeout: IDLE, minUtilization: 0 };
  return {
    ...slurmConfigSchema.parse({ runtime, withoutImage: 'node' }),
    isOneJob: true,
    allocations: allocationConfigSchema.parse(allocations),
  };
}
